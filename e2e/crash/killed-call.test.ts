/** A host that is killed while an A2A peer works for it: the next process goes on with the task, and sends nothing twice. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { otherPeer, task } from '../../packages/host/src/server/a2a-client/other-peer.kit.ts';

const key = 'a-key-of-enough-characters';
const program = join(import.meta.dirname, '../../packages/host/bin/cairn.mjs');

/** Starts the host of a configuration, and returns its process and its address. */
async function started(config: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [program, 'start', '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    const read = (piece: Buffer): void => {
      said.push(String(piece));
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said.join(''))?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`The host ended: ${said.join('')}`)));
  });
  return { child, url };
}

test('a host that is killed in the middle of a call goes on with the task of the peer', async () => {
  const peer = await otherPeer({
    script: ({ method }, answer) => {
      // It works until the first process is gone.
      if (method === 'SendStreamingMessage') return answer.stream().send({ task: task('WORKING') });
      if (method === 'ListTasks') return answer.result({ tasks: [task('WORKING')] });
      if (method === 'GetTask') return answer.result(task('COMPLETED', 'Still here.'));
      const stream = answer.stream();
      stream.send({ task: task('COMPLETED', 'Still here.') });
      return stream.end();
    },
  });
  onTestFinished(() => peer.close());
  const folder = mkdtempSync(join(tmpdir(), 'cairn-killed-call-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'workflows'));
  const inputs = { message: { type: 'static', value: 'Go.' } };
  const node = { id: 'ask', typeId: 'core.a2a.invoke', name: 'Ask', position: { x: 0, y: 0 }, config: {}, inputs };
  const workflow = { id: 'ask', name: 'Ask', version: '1', nodes: [node], edges: [], triggers: [], variables: [] };
  writeFileSync(join(folder, 'workflows/ask.json'), JSON.stringify({ ...workflow, metadata: {}, settings: {} }));
  const config = join(folder, 'cairn.json');
  const a2a = { peers: [{ name: 'other', url: peer.url }] };
  const keys = [{ key, tenant: 't', principal: 'una' }];
  writeFileSync(config, JSON.stringify({ port: 0, data: './data', workflows: ['./workflows'], keys, a2a }));

  const first = await started(config);
  const { runId } = await createClient({ url: first.url, key }).runs.create({ workflowId: 'ask' });
  await peer.got('SendStreamingMessage');
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const second = await started(config);
  const client = createClient({ url: second.url, key });
  expect(await client.runs.wait(runId)).toMatchObject({ status: 'completed' });
  const sent = peer.received.filter(({ method }) => method.startsWith('Send'));
  expect(sent).toHaveLength(1);
});
