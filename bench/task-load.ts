/** What the task-event figures need of the measured host: large contexts, many contexts, its memory. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { NewRow } from '../packages/host/src/log/ports/rows.ts';
import { taskFaces } from '../packages/host/src/log/task-faces.ts';
import { present } from '../packages/host/test/kit/present.ts';
import type { MeasuredStore } from './measured-store.ts';

/** Runs whose rows take turns, so that the index of the context has an entry for each of their appends. */
const INTERLEAVED = 10;
/** Appends in flight. */
const AT_ONCE = 200;
const DELTAS = 10;

type Payload = Readonly<Record<string, unknown>>;

/** Two appends of a run, with their faces: a message, the beginning of an answer; its rest and the end. */
function turnOf(runId: RunId, tenant: string): readonly [readonly NewRow[], readonly NewRow[]] {
  const faceOf = taskFaces(runId);
  const at = Date.now();
  let seq = 0;
  const row = (type: string, payload: Payload): NewRow => {
    const text = JSON.stringify(payload);
    const task = faceOf({ seq, at, type, nodeId: null, cause: null, payload: text });
    seq += 1;
    return { at, type, audience: 'client', payload: text, task };
  };
  const delta = (i: number) =>
    row('output.chunk', { nodeId: 'agent', runId, chunk: `word ${i} `, isLast: false, channel: 'c' });
  const owner = { tenant, principal: 'bench' };
  const inputs = { message: 'Hello?' };
  return [
    [
      row('run.started', { workflowId: 'agent:bench', definitionHash: 'd', owner, inputs }),
      ...Array.from({ length: DELTAS / 2 }, (_, i) => delta(i)),
    ],
    [
      ...Array.from({ length: DELTAS / 2 }, (_, i) => delta(DELTAS / 2 + i)),
      row('run.completed', { outputs: { content: 'Hello.' } }),
    ],
  ];
}

export const taskCommands = (store: () => MeasuredStore, tenant: string) => ({
  /** A context of so many runs. Returns its id and its newest cursor. */
  contextOfRuns: async ({ runs }: { readonly runs: number }) => {
    const { log, contexts } = store();
    const contextId = `ctx_bench_${runs}` as ContextId;
    for (let first = 0; first < runs; first += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, runs - first) }, (_, i) => {
        const runId = `run_${contextId}_${first + i}` as RunId;
        return { runId, turn: turnOf(runId, tenant) };
      });
      for (let from = 0; from < some.length; from += INTERLEAVED) {
        const group = some.slice(from, from + INTERLEAVED);
        const begun = group.map(({ runId, turn }) =>
          log.append({ runId, create: { tenant, contextId, originRunId: runId }, rows: turn[0] }),
        );
        const ended = group.map(({ runId, turn }) => log.append({ runId, rows: turn[1] }));
        await Promise.all([...begun, ...ended]);
      }
    }
    return { contextId, head: await contexts.head(contextId) };
  },

  /** So many contexts with a run that ended. Returns their ids. */
  contexts: async ({ count }: { readonly count: number }): Promise<readonly string[]> => {
    const { log } = store();
    const ids = Array.from({ length: count }, (_, i) => `ctx_idle_${i}` as ContextId);
    for (let first = 0; first < count; first += AT_ONCE) {
      const some = ids.slice(first, first + AT_ONCE).map((contextId) => {
        const runId = `run_${contextId}` as RunId;
        return log.append({
          runId,
          create: { tenant, contextId, originRunId: runId },
          rows: turnOf(runId, tenant).flat(),
        });
      });
      await Promise.all(some);
    }
    return ids;
  },

  /** Resident memory after a full garbage collection. */
  residentBytes: (): number => {
    present(globalThis.gc)();
    present(globalThis.gc)();
    return process.memoryUsage().rss;
  },
});
