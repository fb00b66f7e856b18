/** Runs with agents, decided again from their record alone: the host with its models, tools and settings is not there. */
import { hash } from 'node:crypto';
import type { JsonObject, RunId } from '@cairn/protocol';
import { beforeAll, describe, expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { cancelRequested } from '../../engine/core/facts.ts';
import { differingFields } from '../../engine/replay/differing-fields.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Row } from '../../log/ports/rows.ts';
import { openCrew, ranCrew } from '../../server/runs/replay-crew.kit.ts';
import { defineAgent } from '../define-agent.ts';
import { defineWorkflow } from '../define-workflow.ts';
import { AgentScript } from '../loop/agent-script.kit.ts';
import { type RecordVerdict, redecideRecord } from './redecide-record.ts';
import { recordingOf } from './script-recording.kit.ts';

const sha256 = (text: string, encoding: 'hex' | 'base64url') => hash('sha256', text, encoding);

let rows: readonly Row[];
let bodies: ReadonlyMap<string, string>;
/** The hashes of the workflow (`crew`) and of the agents, by their names. */
const hashes: Record<string, string> = {};

beforeAll(async () => {
  const store = inMemoryStore();
  const crew = await openCrew(store);
  rows = await rowsOf(store, (await ranCrew(crew)) as RunId);
  const { agents, definitionHash } = JSON.parse(present(rows[0]).payload);
  hashes.crew = definitionHash;
  for (const [agentId, pin] of Object.entries<{ readonly hash: string }>(agents)) hashes[agentId] = pin.hash;
  const found = new Map<string, string>();
  for (const key of Object.values(hashes)) found.set(key, present(await store.definitions.get(key)));
  bodies = found;
  await crew.close();
});

interface Changes {
  readonly rows?: readonly Row[];
  /** Changes of definitions, by the names in `hashes`. */
  readonly definitions?: Readonly<Record<string, (body: string) => string | null>>;
}

function again(changes: Changes = {}): Promise<RecordVerdict> {
  const [first] = rows;
  const runId = present(first).runId;
  const changed = new Map(Object.entries(changes.definitions ?? {}).map(([name, change]) => [hashes[name], change]));
  const definition = (key: string): string | null => {
    const body = bodies.get(key) ?? null;
    return body === null ? null : (changed.get(key)?.(body) ?? (changed.has(key) ? null : body));
  };
  const ids = { runId, originRunId: runId, definitionHash: hashes.crew ?? '', fork: null };
  return redecideRecord({ ...ids, rows: changes.rows ?? rows, definition }, { sha256 });
}

const replaced = (from: string, to: string) => (body: string) => {
  expect(body).toContain(from);
  return body.replace(from, to);
};

const edited = (change: (body: JsonObject) => unknown) => (body: string) => {
  const value: JsonObject = JSON.parse(body);
  change(value);
  return JSON.stringify(value);
};

const found = ({ divergence }: RecordVerdict) => {
  const { recorded, present: now } = present(divergence);
  const at = present(recorded);
  return {
    recorded: `${at.type} ${at.nodeId}`,
    now: now === null ? null : now.type,
    differs: now && differingFields(at, now),
  };
};

test('agents, tools, questions, handoffs, a supervisor, conversations and children are decided as recorded', async () => {
  expect(await again()).toEqual({ events: rows.length, problem: null, divergence: null, leftAt: null });
});

test('what a loop records for operators is decided as recorded: stages, model calls, iterations', async () => {
  const store = inMemoryStore();
  const crew = await openCrew(store, { internalEvents: true });
  const runId = (await ranCrew(crew)) as RunId;
  const watched = await rowsOf(store, runId);
  await crew.close();
  const desk = watched.filter(({ type, nodeId }) => type.startsWith('cairn.internal.') && nodeId === 'desk');
  const told = desk.slice(0, 6).map(({ type, payload }) => {
    const { stage = '', iteration, messageCount = '', toolCount = '' } = JSON.parse(payload);
    return `${type} ${iteration} ${stage}${messageCount} ${toolCount}`.trim();
  });
  expect(told).toEqual([
    'cairn.internal.thought 1 pre-llm',
    'cairn.internal.llm_call 1 1 6',
    'cairn.internal.thought 1 post-llm',
    'cairn.internal.thought 1 pre-tool',
    'cairn.internal.thought 1 post-tool',
    'cairn.internal.checkpoint 1',
  ]);
  const record = { runId, originRunId: runId, definitionHash: hashes.crew ?? '', fork: null, rows: watched };
  const verdict = await redecideRecord({ ...record, definition: (key) => bodies.get(key) ?? null }, { sha256 });
  expect(verdict).toEqual({ events: watched.length, problem: null, divergence: null, leftAt: null });
});

describe('the first divergence', () => {
  test('of a manifest without the tool is the call of it', async () => {
    const definitions = { 'host:desk': replaced('"acme.desk:save"', '"acme.desk:other"') };
    expect(found(await again({ definitions }))).toEqual({
      recorded: 'agent.toolCalled desk',
      now: 'agent.toolCalled',
      differs: ['payload.safety', 'payload.rule'],
    });
  });

  test('of a schema that takes the first result is the request to correct it', async () => {
    const definitions = { 'host:writer': replaced('"required":["found","count"]', '"required":["found"]') };
    const verdict = found(await again({ definitions }));
    expect(verdict).toMatchObject({ recorded: 'cairn.model.requested desk', now: 'agent.decided' });
  });

  test('of a lower threshold is the question to a person', async () => {
    const definitions = { 'host:judge': replaced('"defaultThreshold":0.8', '"defaultThreshold":0.3') };
    const verdict = found(await again({ definitions }));
    expect(verdict).toMatchObject({ recorded: 'node.suspended judge', now: 'agent.invocation.completed' });
  });

  test('of a smaller budget is the call beyond it', async () => {
    const definitions = {
      crew: edited(({ nodes }) => Object.assign((nodes as JsonObject[])[0]?.config ?? {}, { limits: { maxTurns: 2 } })),
    };
    const verdict = found(await again({ definitions }));
    expect(verdict).toMatchObject({ recorded: 'cairn.model.requested desk', now: 'cap.breached' });
  });

  test('of a supervisor with other workers is its decision', async () => {
    const workers = [{ id: 'worker-z', description: 'Nobody.' }];
    const definitions = {
      crew: edited(({ nodes }) => {
        const boss = (nodes as JsonObject[]).find(({ id }) => id === 'boss');
        Object.assign(present(boss).config ?? {}, { workers });
      }),
    };
    const verdict = found(await again({ definitions }));
    expect(verdict).toMatchObject({ recorded: 'agent.decided boss', now: 'cairn.model.requested' });
  });

  test('of another turn of the model is the first event that follows from it', async () => {
    const changed = rows.map((row) =>
      row.type === 'cairn.model.returned' && row.nodeId === 'judge'
        ? { ...row, payload: replaced('"confidence":0.4', '"confidence":0.9')(row.payload) }
        : row,
    );
    const verdict = found(await again({ rows: changed }));
    expect(verdict).toMatchObject({ recorded: 'agent.decided judge', differs: ['payload.confidence'] });
  });

  test('of a tool result that nobody waits for is the result', async () => {
    const changed = rows.map((row) =>
      row.type === 'agent.toolReturned' ? { ...row, payload: row.payload.replace('/t1.0', '/t1.7') } : row,
    );
    const verdict = found(await again({ rows: changed }));
    expect(verdict).toMatchObject({ recorded: 'agent.toolReturned desk', now: null });
  });
});

describe('a record that lacks something', () => {
  test('names the definition of an agent that is not there', async () => {
    const { problem, events } = await again({ definitions: { 'host:writer': () => null } });
    expect([problem, events]).toEqual([`the definition ${hashes['host:writer']} is not here`, 0]);
  });

  test('agrees up to a payload that was withheld, and names it', async () => {
    const cut = rows.map((row) => (row.seq === 30 ? { ...row, payload: null as never } : row));
    expect(await again({ rows: cut })).toMatchObject({
      events: 30,
      problem: 'the payload of event 30 is not in the record',
    });
  });
});

test('a run that was cancelled in the middle of a tool is decided as recorded, however long after the request', async () => {
  const run = new AgentScript().calls(['openwop_look'], ['openwop_web']);
  run.write(cancelRequested(run.state, { by: 'op' }));
  // Another node took the request, so that the holder of the run decides later.
  run.now += 24;
  run.settle();
  expect(run.types().slice(-5)).toEqual([
    ...['agent.toolReturned', 'agent.toolReturned', 'agent.invocation.completed', 'node.cancelled', 'run.cancelled'],
  ]);
  const { events, ...verdict } = await redecideRecord(recordingOf(run), { sha256 });
  expect(verdict).toEqual({ problem: null, divergence: null, leftAt: null });
  expect(events).toBe(run.events.length);
});

test('a record that lies about the policy of its host ends with a divergence, not with a crash', async () => {
  const lies = ['x[999999999999] "a"', 'toolAllowlist[0] "x"; tools.allow[99999999] "*"', '; [1] "\\', '"'];
  for (const rule of lies) {
    const changed = rows.map((row) =>
      row.type === 'agent.toolCalled' && row.payload.includes('"rule"')
        ? { ...row, payload: JSON.stringify({ ...JSON.parse(row.payload), rule }) }
        : row,
    );
    expect(found(await again({ rows: changed }))).toMatchObject({ differs: expect.arrayContaining(['payload.rule']) });
  }
  const types = rows.map((row) => (row.seq === 4 ? { ...row, type: 'constructor' } : row));
  expect(found(await again({ rows: types }))).toMatchObject({ recorded: 'constructor desk', differs: ['type'] });
});

test('a decision that spans two pages of the record is known in whole, and its templates are those of the run', async () => {
  const store = inMemoryStore();
  const call = (input: JsonObject) => ({ call: { tool: 'acme.desk:look', input } });
  const crew = await openCrew(store, {
    prompts: [{ templateId: 'house', version: '1.0.0', kind: 'system', text: 'Be brief.' }],
    agents: [
      defineAgent({
        id: 'host:long',
        persona: 'Long',
        instructions: 'Talk.',
        tools: ['acme.desk:look'],
        rehearsal: { turns: [[{ stream: { deltas: 988 } }, call({ n: 'x' }), call({ n: 1 })], [{ say: 'Done.' }]] },
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'long',
        version: '1',
        nodes: {
          work: {
            type: 'cairn.agent',
            agent: { agentId: 'host:long' },
            config: { systemPromptRef: 'prompt:house' },
            inputs: { message: { type: 'static', value: 'Go.' } },
          },
        },
      }),
    ],
  });
  const { runId } = await crew.client.runs.create({ workflowId: 'long' });
  for await (const _ of crew.client.follow(runId)) void _;
  const long = await rowsOf(store, runId as RunId);
  expect(long.slice(999, 1_001).map(({ type }) => type)).toEqual(['agent.toolCalled', 'agent.toolReturned']);
  expect(long.map(({ type }) => type)).toContain('prompt.composed');
  const { definitionHash, agents, prompts } = JSON.parse(present(long[0]).payload);
  const pins = [...Object.values<{ hash: string }>(agents), ...Object.values<{ hash: string }>(prompts)];
  const known = new Map<string, string>();
  for (const key of [definitionHash, ...pins.map((pin) => pin.hash)])
    known.set(key, present(await store.definitions.get(key)));
  await crew.close();
  const record = { runId: runId as RunId, originRunId: runId as RunId, definitionHash, fork: null, rows: long };
  const verdict = await redecideRecord({ ...record, definition: (key) => known.get(key) ?? null }, { sha256 });
  expect(verdict).toEqual({ events: long.length, problem: null, divergence: null, leftAt: null });
});
