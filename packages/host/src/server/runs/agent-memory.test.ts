import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, RunId } from '@cairn/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { createHostOver, type Host } from '../create-host.ts';

const recall = { call: { tool: 'openwop:recall', input: { text: 'tea' } } };
const remember = { call: { tool: 'openwop:remember', input: { content: 'Ada likes tea', tags: ['taste'] } } };

/** Recalls, remembers and recalls side by side, recalls again. */
const rehearsal = { turns: [[recall], [remember, recall], [recall], [{ say: 'Done.' }]] };

const agent = (id: string, memory: object | undefined) =>
  defineAgent({
    id,
    persona: 'Scribe',
    instructions: 'Remember what you are told.',
    tools: ['openwop:remember', 'openwop:recall'],
    ...(memory === undefined ? {} : { memory: memory as never }),
    rehearsal: JSON.parse(JSON.stringify(rehearsal)),
  });

const agents = [
  agent('host:elder', { longTerm: true }),
  agent('host:clerk', { scratchpad: true }),
  agent('host:none', undefined),
];

const flow = (agentId: string) =>
  defineWorkflow({ id: agentId.slice(5), version: '1', nodes: { act: { type: 'cairn.agent', agent: agentId } } });

let folder: string;
let store: Store;
let host: Host;

async function opened(): Promise<void> {
  store = await openSqliteStore({ folder, onFault: () => undefined });
  const workflows = agents.map(({ agentId }) => flow(agentId));
  host = await createHostOver(store, {
    agents,
    workflows,
    http: false,
    report: () => undefined,
    config: { data: folder },
  });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cairn-memory-'));
  await opened();
});

afterEach(async () => {
  await host.close();
  await rm(folder, { recursive: true, force: true });
});

async function ran(agentId: string): Promise<readonly Row[]> {
  const options = { inputs: { message: 'Remember.' }, options: {} };
  const { runId } = await host.engine.start({ tenant: 'local', workflowId: agentId.slice(5), ...options });
  await ended(runId);
  return store.log.read({ runId, after: -1, limit: 1_000 });
}

async function ended(runId: RunId): Promise<void> {
  const done = Promise.withResolvers<void>();
  const look = async () => {
    if ((await store.log.head(runId))?.record.endedAt !== null) done.resolve();
  };
  const stop = store.log.follow(() => void look());
  await look();
  await done.promise;
  stop();
}

const payloads = (rows: readonly Row[], type: string): readonly JsonObject[] =>
  rows.filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);

/** How many notes each recall of a run gave. */
const recalled = (rows: readonly Row[]): readonly number[] =>
  payloads(rows, 'agent.toolReturned')
    .filter(({ toolId }) => toolId === 'openwop:recall')
    .map(({ outcome }) => ((outcome as JsonObject).entries as readonly unknown[]).length);

test('an agent knows in its next turn what it wrote, and in its next run, also after a restart', async () => {
  const first = await ran('host:elder');
  expect(recalled(first)).toEqual([0, 0, 1]);
  expect(payloads(first, 'memory.written')).toMatchObject([
    { memoryRef: 'host:elder', agentId: 'host:elder', tags: ['taste'] },
  ]);
  expect(JSON.stringify(payloads(first, 'memory.written'))).not.toContain('tea');
  expect(payloads(first, 'node.started')[0]?.agent).toMatchObject({ agentId: 'host:elder', memoryRef: 'host:elder' });
  await host.close();
  await opened();
  expect(recalled(await ran('host:elder'))).toEqual([1, 1, 2]);
});

test('a scratchpad is empty again in the next run, and its agent names no memory that lasts', async () => {
  for (let time = 0; time < 2; time += 1) {
    const rows = await ran('host:clerk');
    expect(recalled(rows)).toEqual([0, 0, 1]);
    expect(payloads(rows, 'node.started')[0]?.agent).not.toHaveProperty('memoryRef');
  }
});

test('an agent whose manifest gives it no memory is told so, and goes on', async () => {
  const rows = await ran('host:none');
  const errors = payloads(rows, 'agent.toolReturned').map(({ error }) => (error as JsonObject | undefined)?.code);
  expect(errors).toEqual(Array.from({ length: 4 }, () => 'validation_error'));
  expect(rows.at(-1)?.type).toBe('run.completed');
});
