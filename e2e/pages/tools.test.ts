/** The program on the page of tools does what the page says: it asks, pays once, and the agent tells the receipt. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@cairn/client';
import { expect, onTestFinished, test } from 'vitest';
import { quickStart } from '../../packages/host/test/kit/quick-start.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/tools.md'), 'utf8');
const program = /^```ts refund\.ts\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '';

/** A shop that answers every refund with a receipt. */
async function shop() {
  const refunds: { body: string; key: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { 'idempotency-key': key, authorization } = request.headers;
    refunds.push({ body: Buffer.concat(chunks).toString(), key: String(key), authorization });
    response.end('{"receipt":"r-1"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { refunds, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` };
}

async function started(env: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-tools-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'refund.ts'), program.replace('port: 4702', 'port: 0'));
  const args = ['--conditions=@cairn/source', 'refund.ts'];
  const host = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...env, ...quickStart },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => host.once('close', resolve));
  onTestFinished(async () => {
    host.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return new Promise((resolve, reject) => {
    createInterface(host.stdout).once('line', (line) => resolve(line.replace('cairn ready ', '')));
    host.once('close', (code) => reject(new Error(`The program ended with ${code}.`)));
  });
}

test('the refund asks a person above 100 euros, then pays exactly once', async () => {
  const { refunds, url: shopUrl } = await shop();
  const url = await started({ SHOP_URL: shopUrl, SHOP_TOKEN: 'a-token-of-the-shop' });
  const client = createClient({ url, key: 'a-key-for-this-page' });
  const { runId } = await client.runs.create({ agentId: 'host:desk', inputs: { order: '4711' } });
  const asked = await client.runs.wait(runId);
  expect(asked.interrupt?.kind).toBe('clarification');
  expect(JSON.stringify(asked.interrupt?.payload)).toContain('Refund 180 € for 4711?');
  expect(refunds).toEqual([]);
  await client.runs.answer(runId, asked.interrupt?.interruptId ?? '', { answers: { answer: true } });
  const run = await client.runs.wait(runId);
  expect([run.status, JSON.stringify(run.outputs ?? run.variables)]).toEqual([
    'completed',
    expect.stringContaining('Your receipt is r-1.'),
  ]);
  expect(refunds).toEqual([
    { body: '{"order":"4711","euros":180}', key: expect.any(String), authorization: 'Bearer a-token-of-the-shop' },
  ]);
});
