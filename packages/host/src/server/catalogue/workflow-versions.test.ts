/** Versions of workflows: derived from the content, edited in development, and never changed under a run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { createHost, type HostOptions } from '../create-host.ts';

const key = 'a-key-for-these-tests';

async function served(options: HostOptions, data?: string): Promise<Client & { stop(): Promise<void> }> {
  const folder = data ?? (await emptyFolder());
  const config = { port: 0, data: folder, keys: [{ key, tenant: 't' }] };
  const host = await createHost({ report: () => undefined, ...options, config });
  onTestFinished(() => host.close());
  return { ...createClient({ url: host.url ?? '', key }), stop: () => host.close() };
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-versions-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Asks for approval, then says `word`. */
const saying = (word: string, version?: string) =>
  defineWorkflow({
    id: 'say',
    ...(version === undefined ? {} : { version }),
    variables: { said: { type: 'string', defaultValue: '' } },
    nodes: {
      gate: { type: 'core.approvalGate' },
      say: { type: 'core.setVariable', config: { name: 'said', value: word } },
    },
  });

const start = async (client: Client) => (await client.runs.create({ workflowId: 'say' })).runId;

async function finished(client: Client, runId: string) {
  await client.runs.answer(runId, 'gate', { action: 'accept' });
  const { status, variables } = await client.runs.get(runId);
  return { status, said: variables?.said };
}

test('a definition without a version gets one from its content', async () => {
  const client = await served({});
  const { version } = await client.workflows.register(saying('one'));
  expect(version).toMatch(/^sha256-[0-9a-f]{12}$/);
  expect(await client.workflows.register(saying('one'))).toMatchObject({ version });
  const edited = await client.workflows.register(saying('two'));
  expect(edited.version).not.toBe(version);
  expect(await client.workflows.get('say')).toEqual({ ...saying('two'), version: edited.version });
  expect(await client.workflows.get('say', { version })).toEqual({ ...saying('one'), version });
});

test('the version does not depend on the order of keys', async () => {
  const client = await served({});
  const { version } = await client.workflows.register(saying('one'));
  const { id, ...rest } = saying('one');
  expect(await client.workflows.register({ ...rest, id })).toMatchObject({ version });
});

test('an edit without a version that is undone is what new runs use again', async () => {
  const client = await served({});
  for (const word of ['one', 'two', 'one']) await client.workflows.register(saying(word));
  expect(await finished(client, await start(client))).toEqual({ status: 'completed', said: 'one' });
  expect((await client.workflows.list()).workflows).toHaveLength(1);
});

test('an unchanged definition without a version keeps its registration across restarts', async () => {
  const data = await emptyFolder();
  const first = await served({ workflows: [saying('one')] }, data);
  const before = await first.workflows.list();
  await first.stop();
  const second = await served({ workflows: [saying('one')] }, data);
  expect(await second.workflows.list()).toEqual(before);
});

test('a run keeps the definition it started with, and a new run gets the edited one', async () => {
  const client = await served({ dev: true });
  await client.workflows.register(saying('one', '1'));
  const before = await start(client);
  expect(await client.workflows.register(saying('two', '1'))).toMatchObject({ version: '1' });
  const after = await start(client);
  expect(await finished(client, after)).toEqual({ status: 'completed', said: 'two' });
  expect(await finished(client, before)).toEqual({ status: 'completed', said: 'one' });
});

test('a run goes on with its definition after a restart with an edited one', async () => {
  const data = await emptyFolder();
  const first = await served({ dev: true, workflows: [saying('one', '1')] }, data);
  const before = await start(first);
  await first.stop();
  const second = await served({ dev: true, workflows: [saying('two', '1')] }, data);
  expect(await finished(second, before)).toEqual({ status: 'completed', said: 'one' });
  expect(await finished(second, await start(second))).toEqual({ status: 'completed', said: 'two' });
});

test('in development, the definition registered last is what new runs use, whatever its version', async () => {
  const client = await served({ dev: true });
  for (const version of ['1', '2', '1']) await client.workflows.register(saying(version, version));
  expect(await finished(client, await start(client))).toEqual({ status: 'completed', said: '1' });
});

test('outside development, an edited definition needs another version', async () => {
  const client = await served({});
  await client.workflows.register(saying('one', '1'));
  await expect(client.workflows.register(saying('two', '1'))).rejects.toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining('without one'),
  });
});
