/** A question two runs below the one that was started: in the inbox with its path, still there after a kill, answered from the command line. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import type { InboxEntry, RunEventDoc, RunSnapshot } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { demoPacks } from '../../packages/host/src/cli/demo-packs.ts';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import type { CrewSettings } from '../agents/host-main.ts';
import { HostProcess } from '../crash/host-process.ts';

const key = 'newsroom-test-key-0001';

async function newsroom() {
  const home = await mkdtemp(join(tmpdir(), 'cairn-newsroom-'));
  const settings: CrewSettings = {
    folder: join(home, 'data'),
    journal: join(home, 'journal.ndjson'),
    key,
    tenant: 'press',
    pack: join(demoPacks, 'newsroom'),
    modelUrl: null,
  };
  const host = new HostProcess(settings, join(import.meta.dirname, '../agents/host-main.ts'));
  onTestFinished(async () => {
    await host.kill();
    await rm(home, { recursive: true, force: true });
  });
  expect(await host.start()).toMatchObject({ kind: 'ready' });
  const cairn = async (...args: string[]) => typed(args, { env: { CAIRN_URL: await host.address(), CAIRN_KEY: key } });
  const client = createClient({ url: 'http://host', key, fetch: host.fetch });
  return { host, cairn, client };
}

type Newsroom = Awaited<ReturnType<typeof newsroom>>;

/** The only question there is, once it is asked. */
async function question({ client }: Newsroom): Promise<InboxEntry> {
  const stop = new AbortController();
  try {
    for await (const change of client.inbox.watch({ signal: stop.signal })) {
      if (change.type === 'added') return change.entry;
      if (change.type === 'snapshot' && change.entries[0] !== undefined) return change.entries[0];
    }
  } finally {
    stop.abort();
  }
  throw new Error('The inbox ended.');
}

test('a question two runs down survives a kill, is answered from the inbox, and the tree finishes', async () => {
  const stage = await newsroom();
  const { host, cairn, client } = stage;
  const root = (await cairn('run', 'newsroom', '--detach', '--input', 'story=The new bridge')).out;
  const asked = await question(stage);
  const agent = (name: string) => ({ agentId: `community.cairn.newsroom.${name}` });
  expect(asked).toMatchObject({
    runId: `${root}.2.0`,
    kind: 'clarification',
    title: 'A witness told us about "The new bridge". How may they be quoted?',
    ...agent('reporter'),
    path: [
      { runId: root, workflowId: 'newsroom', nodeId: 'desks', ...agent('editor') },
      { runId: `${root}.2`, workflowId: 'newsroom-reporting', nodeId: 'send' },
      { runId: `${root}.2.0`, workflowId: 'newsroom-interview', nodeId: 'work', ...agent('reporter') },
    ],
  });

  await host.kill();
  expect(await host.start()).toMatchObject({ kind: 'ready' });
  expect((await client.inbox.list()).entries).toEqual([asked]);
  const listed = (await cairn('inbox')).out;
  expect(listed).toMatch(/1 +reporter +newsroom > newsroom-reporting > newsroom-interview .*How may they be quoted\?/);

  const refused = await cairn('answer', '1', 'on the front page');
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('answer') });
  const answered = await cairn('answer', root, 'without a name');
  expect([answered.code, answered.out]).toEqual([0, expect.stringContaining(`the run ${root}.2.0 is`)]);

  const events = (await cairn('tail', root, '--json')).out.split('\n').map((line) => JSON.parse(line) as RunEventDoc);
  const end = events.at(-1) as RunEventDoc;
  expect(end.type).toBe('run.completed');
  expect(fields(fields(end.payload).outputs).content).toContain(
    '**Who was there.** The witness may be quoted without a name.',
  );
  expect((await client.inbox.list()).entries).toEqual([]);
  const { runs } = JSON.parse((await cairn('runs', 'parent:any', '--json')).out) as {
    readonly runs: readonly RunSnapshot[];
  };
  expect(runs.map(({ runId, status }) => [runId, status]).sort()).toEqual(
    ['', '.0', '.1', '.2', '.2.0'].map((suffix) => [`${root}${suffix}`, 'completed']),
  );
  const told = (await client.events.all(`${root}.2.0`)) as readonly RunEventDoc[];
  expect(told.filter(({ type }) => type === 'interrupt.requested')).toHaveLength(1);
}, 60_000);
