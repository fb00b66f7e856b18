/** Appends to a store the way an engine does: the rows of one step at a time. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Audience, ContextId, RunId } from '@cairn/protocol';
import type { Append } from '../packages/host/src/log/ports/event-log.ts';
import type { NewRow } from '../packages/host/src/log/ports/rows.ts';
import type { Store } from '../packages/host/src/log/ports/store.ts';
import { present } from '../packages/host/test/kit/present.ts';

const body = (fields: object, size: number): string => {
  const text = JSON.stringify({ ...fields, filler: '' });
  return text.replace('"filler":""', `"filler":"${'x'.repeat(Math.max(0, size - text.length))}"`);
};

const AT = 1_700_000_000_000;
/** The path a run repeats, so that its current node changes with every append, as in a real run. */
const PATH = Array.from({ length: 10 }, (_, n) => `step-${n}`);

/**
 * The four rows between two steps of a run. Payloads have about 300 bytes, and rows have a task face if their type has
 * one.
 */
function stepRows(ended: string, begun: string): readonly NewRow[] {
  const returned = { nodeId: ended, callId: `${ended}#0`, attempt: 1, outcome: {} };
  const completed = { nodeId: ended, outputs: {}, durationMs: 1, edges: { next: 'taken' } };
  const started = { nodeId: begun, typeId: 'bench.step', attempt: 0, visit: 0, inputs: {} };
  const requested = { nodeId: begun, callId: `${begun}#0`, step: 'bench.step', attempt: 1, safety: 'pure', input: {} };
  return [
    row('cairn.step.returned', ended, 'operator', returned, null),
    row('node.completed', ended, 'client', completed, 'tool-complete'),
    row('node.started', begun, 'client', started, 'tool-start'),
    row('cairn.step.requested', begun, 'operator', requested, null),
  ];
}

function row(type: string, nodeId: string, audience: Audience, payload: object, face: string | null): NewRow {
  const task = face === null ? null : body({ kind: face, toolCallId: `${nodeId}#0`, toolName: 'bench.step' }, 150);
  return { at: AT, type, nodeId, audience, payload: body(payload, 300), task };
}

const firstRow: NewRow = {
  at: AT,
  type: 'run.started',
  audience: 'client',
  payload: body({ workflowId: 'bench', definitionHash: '0', tags: [] }, 300),
  task: null,
};

const walk = PATH.map((node, n) => stepRows(node, present(PATH[(n + 1) % PATH.length])));

/** A run that only grows. Its first append creates it. */
class GrowingRun {
  readonly #store: Store;
  readonly #appends: readonly Append[];
  readonly #first: Append;
  #count = 0;

  constructor(store: Store, name: string, rowsPerAppend: number) {
    const runId = `run_${name}` as RunId;
    this.#store = store;
    // With two rows per append, these are the last two, which advance the current node.
    this.#appends = walk.map((rows) => ({ runId, rows: rows.slice(-rowsPerAppend) }));
    const create = { tenant: 'bench', contextId: `ctx_${name}` as ContextId, originRunId: runId };
    this.#first = { runId, rows: [firstRow, ...present(this.#appends[0]).rows], create };
  }

  async append(): Promise<void> {
    const append = this.#count === 0 ? this.#first : present(this.#appends[this.#count % this.#appends.length]);
    this.#count += 1;
    await this.#store.log.append(append);
  }
}

export interface AppendRate {
  readonly rowsPerSecond: number;
  /** 99th percentile of the time between turns of a 1 ms timer. */
  readonly loopP99Ms: number;
}

/** Many concurrent runs, each waiting for its append before the next. Counts rows acknowledged within `ms`. */
export async function appendToManyRuns(
  store: Store,
  load: { readonly writers: number; readonly rowsPerAppend: number; readonly ms: number },
): Promise<AppendRate> {
  const runs = Array.from({ length: load.writers }, (_, n) => new GrowingRun(store, `many${n}`, load.rowsPerAppend));
  await Promise.all(runs.map((run) => run.append()));
  let appends = 0;
  return timed(load.ms, load.rowsPerAppend, async (until) => {
    await Promise.all(
      runs.map(async (run) => {
        while (performance.now() < until) {
          await run.append();
          appends += 1;
        }
      }),
    );
    return appends;
  });
}

/** Writes one run at full speed, with a bounded number of appends in flight. */
export async function appendToOneRun(
  store: Store,
  load: { readonly window: number; readonly rowsPerAppend: number; readonly ms: number },
): Promise<AppendRate> {
  const run = new GrowingRun(store, 'long', load.rowsPerAppend);
  await run.append();
  return timed(load.ms, load.rowsPerAppend, async (until) => {
    let appends = 0;
    const lane = async () => {
      while (performance.now() < until) {
        await run.append();
        appends += 1;
      }
    };
    await Promise.all(Array.from({ length: load.window }, lane));
    return appends;
  });
}

/** Measures a run without other load: the time of each of `count` appends, in ms. */
export function loneRun(store: Store, rowsPerAppend: number): (count: number) => Promise<readonly number[]> {
  const run = new GrowingRun(store, 'lone', rowsPerAppend);
  return async (count) => {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const begin = performance.now();
      await run.append();
      times.push(performance.now() - begin);
    }
    return times;
  };
}

async function timed(ms: number, rowsPerAppend: number, load: (until: number) => Promise<number>): Promise<AppendRate> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const begin = performance.now();
  const appends = await load(begin + ms);
  const took = performance.now() - begin;
  loop.disable();
  return { rowsPerSecond: ((appends * rowsPerAppend) / took) * 1000, loopP99Ms: loop.percentile(99) / 1e6 };
}
