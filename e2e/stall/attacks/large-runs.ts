/** Every way to read, compare and branch runs whose state is as large as it may be: many at once, and unread. */
import type { JsonObject } from '@cairn/protocol';
import { fieldsOrNone, objects } from '../../../packages/host/test/kit/json-fields.ts';
import type { Attack } from '../attack.ts';
import { chain } from '../attack.ts';
import type { Attacker } from '../attacker.ts';

const sse = 'Accept: text/event-stream';
const settleMs = 3_000;

export interface LargeRun {
  readonly runId: string;
  readonly contextId: string;
  readonly last: number;
}

/** What the variables of a run are made of. Together they stay below what a state may hold. */
interface Shape {
  readonly id: string;
  readonly inputs: JsonObject;
  /** Of one variable. */
  readonly expression: (index: number) => string;
  readonly variables: number;
  /** Asks a question at its end. */
  readonly waits: boolean;
}

const texts: Shape = {
  id: 'large-texts',
  inputs: { text: 'x'.repeat(200_000) },
  expression: (index) => `inputs.text + "${index}"`,
  variables: 40,
  waits: false,
};

/** As many parts as a body may have, again and again. */
export const parts: Shape = {
  id: 'large-parts',
  inputs: { parts: Array.from({ length: 45_000 }, () => ({})) },
  expression: () => 'inputs.parts',
  variables: 60,
  waits: false,
};

async function largeRuns(attacker: Attacker, count: number, shape: Shape): Promise<readonly LargeRun[]> {
  const { id, inputs, expression, variables, waits } = shape;
  const sets = Array.from({ length: variables }, (_, i) => ({
    id: `set${i}`,
    typeId: 'core.setVariable',
    config: { name: `v${i}`, expression: expression(i) },
  }));
  const gate = { id: 'gate', typeId: 'core.approvalGate', config: { title: 'Go on?' } };
  if (!(await attacker.register(id, chain(waits ? [...sets, gate] : sets)))) return [];
  const runs: LargeRun[] = [];
  for (let i = 0; i < count; i += 1) {
    const runId = await attacker.start(id, inputs);
    if (runId !== null) runs.push(await settled(attacker, runId, waits));
  }
  if (runs.length < count) attacker.fault(`there are ${runs.length} large runs instead of ${count}`);
  return runs;
}

/** Waits until the run has ended or asks. The refusal of a position that it does not have names its last event. */
async function settled(attacker: Attacker, runId: string, waits: boolean): Promise<LargeRun> {
  if (!waits) await attacker.ended(runId);
  for (;;) {
    const { body } = await attacker.send(waits ? '/v1/runs?status=waiting-approval&limit=1' : '/v1/runs?limit=1');
    const [run] = objects(body.runs ?? []);
    if (run?.runId === runId) {
      const { body: refusal } = await attacker.send(`/v1/runs/${runId}?atSeq=${2 ** 40}`);
      return { runId, contextId: String(run.contextId), last: Number(fieldsOrNone(refusal.details).lastSequence) };
    }
    await attacker.quiet(25);
  }
}

interface Asked {
  readonly shape?: Shape;
  readonly runs?: number;
}

/** Connections that ask and do not read. */
export const unread = (
  name: string,
  { shape = texts, runs = 1 }: Asked,
  paths: (runs: readonly LargeRun[]) => readonly string[],
): Attack => ({
  name,
  async run(attacker) {
    for (const path of paths(await largeRuns(attacker, runs, shape)))
      await attacker.unread(1, attacker.request(path, path.includes('stream') ? [sse] : []));
    await attacker.quiet(settleMs);
  },
});

export const times = <Item>(count: number, item: (i: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, i) => item(i));

/** The same request many times at once, all of it read. */
export const asked = (
  name: string,
  { count, shape = texts, runs = 1 }: Asked & { readonly count: number },
  ask: (attacker: Attacker, runs: readonly LargeRun[], i: number) => Promise<unknown>,
): Attack => ({
  name,
  async run(attacker) {
    const large = await largeRuns(attacker, runs, shape);
    if (large.length === runs) await Promise.all(times(count, (i) => ask(attacker, large, i)));
  },
});

const call = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, method, params });
const mcp = { accept: 'application/json' };
const a2a = { 'a2a-version': '1.0' };
export const waiting = { ...texts, id: 'large-waiting', waits: true };

export const largeRunAttacks: readonly Attack[] = [
  unread('large-past-snapshots-unread-40', {}, ([run]) => times(40, () => `/v1/runs/${run?.runId}?atSeq=${run?.last}`)),
  unread('large-past-moments-unread-40', {}, ([run]) =>
    times(40, (i) => `/v1/runs/${run?.runId}?atSeq=${(run?.last ?? 0) - i}`),
  ),
  unread('large-past-states-unread-40', {}, ([run]) =>
    times(40, (i) => `/v1/runs/${run?.runId}/events?streamMode=values&atSeq=${(run?.last ?? 0) - (i % 4)}`),
  ),
  unread('large-snapshots-of-12-runs-unread', { runs: 12 }, (runs) =>
    runs.flatMap(({ runId }) => times(4, () => `/v1/runs/${runId}`)),
  ),
  unread('large-states-of-12-runs-unread', { runs: 12, shape: waiting }, (runs) =>
    runs.flatMap(({ runId }) => times(4, () => `/v1/runs/${runId}/events?streamMode=values`)),
  ),
  unread('large-snapshots-of-many-parts-unread', { shape: parts }, ([run]) =>
    times(20, () => `/v1/runs/${run?.runId}`),
  ),
  unread('large-states-of-many-parts-unread', { shape: parts }, ([run]) =>
    times(20, () => `/v1/runs/${run?.runId}/events?streamMode=values`),
  ),
  unread('large-context-unread', {}, ([run]) =>
    times(20, (i) => `/api/contexts/${run?.contextId}/${i % 2 === 0 ? 'stream?after=0' : 'events?limit=500'}`),
  ),
  asked('large-mcp-reads', { count: 60 }, (attacker, [run]) =>
    attacker.send('/v1/mcp', { body: call('resources/read', { uri: `cairn://runs/${run?.runId}` }), headers: mcp }),
  ),
  asked('large-a2a-reads', { count: 60 }, (attacker, [run]) =>
    attacker.send('/v1/a2a', { body: call('GetTask', { id: run?.runId ?? '' }), headers: a2a }),
  ),
  asked('large-diffs', { count: 20, runs: 2 }, (attacker, [one, other]) =>
    attacker.send(`/v1/runs/${one?.runId}:diff?against=${other?.runId}`),
  ),
  asked('large-diffs-of-many-parts', { count: 4, runs: 2, shape: parts }, (attacker, [one, other]) =>
    attacker.send(`/v1/runs/${one?.runId}:diff?against=${other?.runId}`),
  ),
  asked('large-forks', { count: 20 }, (attacker, [run], i) =>
    attacker.send(`/v1/runs/${run?.runId}:fork`, { body: { mode: 'branch', fromSeq: (run?.last ?? 0) - 2 * i } }),
  ),
  asked('large-replays', { count: 20 }, (attacker, [run]) =>
    attacker.send(`/v1/runs/${run?.runId}:fork`, { body: { mode: 'replay', fromSeq: 0 } }),
  ),
  asked('large-tasks', { count: 60 }, (attacker, [run]) =>
    attacker.send(`/api/contexts/${run?.contextId}/tasks/${run?.runId}`),
  ),
  asked('large-interrupts', { count: 60, shape: waiting }, (attacker, [run]) =>
    attacker.send(`/v1/runs/${run?.runId}/interrupts`),
  ),
  asked('large-inboxes-of-12-runs', { count: 40, runs: 12, shape: waiting }, (attacker) =>
    attacker.send('/v1/host/cairn/inbox'),
  ),
  asked('large-answers-to-12-runs', { count: 12, runs: 12, shape: waiting }, (attacker, runs, i) =>
    attacker.answer(runs[i]?.runId ?? null, 'gate', { action: 'accept' }),
  ),
];
