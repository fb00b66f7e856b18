/** What a replay says when the present host decides another event than the record has, and how it goes on. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Client, createClient } from '@cairn/client';
import { eventPayloads, type JsonObject, type RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { present } from '../../../test/kit/present.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { shown } from './replay-crew.kit.ts';

const key = 'a-key-of-enough-characters';
const home = mkdtempSync(join(tmpdir(), 'cairn-divergence-'));
const recorded = join(home, 'recorded');
let host: Host;
let client: Client;
let calls = 0;

const agent = (name: string, ...turn: readonly JsonObject[]) =>
  defineAgent({
    id: `host:${name}`,
    persona: name,
    instructions: 'Do it.',
    tools: ['acme:look'],
    rehearsal: { turns: [[...turn], [{ say: 'Seen.' }]] },
  });

const agents = [
  agent('looker', { call: { tool: 'acme:look', input: { n: 1 } } }),
  agent('refuser', { say: 'I will not.' }, { finish: 'content_filter' }),
  agent('talker', { say: 'Of course.' }),
];

/** One agent, then a text made of what it said. */
const workflow = (name: string) =>
  defineWorkflow({
    id: name,
    version: '1',
    nodes: {
      work: {
        type: 'cairn.agent',
        agent: { agentId: `host:${name}` },
        inputs: { message: { type: 'static', value: 'Go.' } },
      },
      told: {
        type: 'core.identity',
        inputs: { text: { type: 'expression', expression: '"It said: " + outputs.work.content' } },
      },
    },
    edges: [{ from: 'work', to: 'told' }],
  });

async function open(folder: string, toolSchema: z.ZodType): Promise<void> {
  const look = defineTool({
    id: 'acme:look',
    description: 'Looks.',
    input: toolSchema,
    safety: 'read',
    run: () => {
      calls += 1;
      return { seen: calls };
    },
  });
  host = await createHostOver(await openSqliteStore({ folder }), {
    config: { port: 0, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }] },
    // The program of the upgraded host has no workflows, so that the stored definitions count.
    ...{ agents, tools: [look], workflows: folder === recorded ? ['looker', 'refuser', 'talker'].map(workflow) : [] },
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
}

async function events(runId: string): Promise<readonly RunEventDoc[]> {
  const rows: RunEventDoc[] = [];
  for await (const row of client.follow(runId)) rows.push(row);
  return rows;
}

const sources: Record<string, readonly RunEventDoc[]> = {};

async function ran(name: string): Promise<void> {
  const { runId } = await client.runs.create({ workflowId: name });
  sources[name] = await events(runId);
}

const sourceOf = (name: string) => {
  const rows = present(sources[name]);
  const runId = present(rows[0]).runId;
  const seqOf = (type: string, nodeId = 'work') =>
    present(rows.find((row) => row.type === type && row.nodeId === nodeId)).sequence;
  return { rows, runId, seqOf };
};

const anyNumber = z.object({ n: z.number() });

beforeAll(async () => {
  await open(recorded, anyNumber);
  for (const name of ['looker', 'refuser', 'talker']) await ran(name);
  await host.close();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Opens a copy of the data folder after an upgrade: with another database, or with another tool. */
async function upgraded(change: (db: DatabaseSync) => void, toolSchema: z.ZodType = anyNumber): Promise<void> {
  const folder = mkdtempSync(join(home, 'upgraded-'));
  cpSync(recorded, folder, { recursive: true });
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  change(db);
  db.close();
  await open(folder, toolSchema);
  onTestFinished(() => host.close());
}

const replaced = (table: 'definitions' | 'events', column: string, from: string, to: string) => (db: DatabaseSync) => {
  const { changes } = db
    .prepare(`UPDATE ${table} SET ${column} = replace(${column}, ?, ?) WHERE instr(${column}, ?) > 0`)
    .run(from, to, from);
  expect(Number(changes)).toBeGreaterThan(0);
};

/** Two replays; they must be the same. */
async function replayed(name: string): Promise<readonly RunEventDoc[]> {
  const { runId } = sourceOf(name);
  const [one, two] = [
    await client.runs.fork(runId, { mode: 'replay' }),
    await client.runs.fork(runId, { mode: 'replay' }),
  ];
  const own = await events(one.runId);
  expect(shown(await events(two.runId))).toEqual(shown(own));
  return own;
}

const newsIn = (rows: readonly RunEventDoc[]) => rows.filter(({ type }) => type.startsWith('replay.'));

test('a changed workflow: the first other event is named once, and the run goes on with the recorded results', async () => {
  await upgraded(replaced('definitions', 'body', 'It said: ', 'It says: '));
  const { runId, seqOf, rows } = sourceOf('talker');
  const own = await replayed('talker');
  const at = seqOf('node.started', 'told');
  expect(newsIn(own).map(({ type, payload }) => ({ type, payload }))).toEqual([
    {
      type: 'replay.diverged',
      payload: {
        sourceRunId: runId,
        atSequence: at,
        originalEventId: present(rows[at]).eventId,
        divergenceKind: 'output',
        divergencePoint: 'node.started',
      },
    },
  ]);
  expect(shown(own.slice(0, at))).toEqual(shown(rows.slice(0, at)));
  expect(own.at(-1)).toMatchObject({ type: 'run.completed', payload: { outputs: { text: 'It says: Of course.' } } });
});

test('a changed agent: its call is not allowed any more, so it is refused, and the tool is not called', async () => {
  const before = calls;
  await upgraded(replaced('definitions', 'body', '"acme:look"', '"acme:gone"'));
  const own = await replayed('looker');
  const { seqOf } = sourceOf('looker');
  expect(newsIn(own)).toMatchObject([
    {
      type: 'replay.diverged',
      // The agent is shown one tool less.
      payload: {
        atSequence: seqOf('agent.invocation.started'),
        divergenceKind: 'output',
        divergencePoint: 'agent.invocation.started',
      },
    },
  ]);
  expect(own.find(({ type }) => type === 'agent.toolReturned')?.payload).toMatchObject({ status: 'forbidden' });
  expect(own.at(-1)).toMatchObject({ type: 'run.completed', payload: { outputs: { text: 'It said: Seen.' } } });
  const said = own.filter(({ type }) => type === 'output.chunk').map(({ payload }) => (payload as JsonObject).chunk);
  expect(said.join('')).toBe('Seen.');
  expect(calls).toBe(before);
});

test('a changed tool: what was asked of it then is refused now', async () => {
  await upgraded(() => undefined, z.object({ n: z.string() }));
  const own = await replayed('looker');
  expect(newsIn(own)).toMatchObject([{ type: 'replay.diverged', payload: { divergencePoint: 'agent.toolCalled' } }]);
  expect(own.find(({ type }) => type === 'agent.toolReturned')?.payload).toMatchObject({
    error: { code: 'tool_invalid_arguments' },
  });
});

test('an unchanged refusal is repeated as it is', async () => {
  await upgraded(() => undefined);
  expect(shown(await replayed('refuser'))).toEqual(shown(sourceOf('refuser').rows));
});

test.each([
  { name: 'refuser', from: '"finish":"content_filter"', to: '"finish":"stop"', original: 'refusal', replay: 'valid' },
  { name: 'talker', from: '"finish":"stop"', to: '"finish":"content_filter"', original: 'valid', replay: 'refusal' },
])('an answer that is $original in the record and $replay now fails the replay', async (flip) => {
  const { name, from, to, original, replay } = flip;
  const { runId, rows, seqOf } = sourceOf(name);
  const turn = (a: string, b: string) => (db: DatabaseSync) => {
    const run = db.prepare('SELECT key FROM runs WHERE id = ?').get(runId)?.key;
    const { changes } = db
      .prepare("UPDATE events SET payload = replace(payload, ?, ?) WHERE run = ? AND type = 'cairn.model.returned'")
      .run(a, b, Number(run));
    expect(changes).toBe(1);
  };
  await upgraded(turn(from, to));
  const own = await replayed(name);
  // The end of the text says how the turn ended.
  const at = seqOf('agent.invocation.completed') - (original === 'valid' ? 2 : 1);
  const kinds = { atSequence: at, nodeId: 'work', originalEnvelopeKind: original, replayEnvelopeKind: replay };
  const [news, ...more] = newsIn(own);
  expect(more).toEqual([]);
  expect(news).toMatchObject({
    type: 'replay.divergedAtRefusal',
    payload: { ...kinds, sourceRunId: runId, originalEventId: present(rows[at]).eventId },
  });
  expect(eventPayloads['replay.divergedAtRefusal'].safeParse(present(news).payload).success).toBe(true);
  expect(own.at(-1)).toMatchObject({
    type: 'run.failed',
    payload: { error: { code: 'replay_diverged_at_refusal', details: kinds } },
  });
});
