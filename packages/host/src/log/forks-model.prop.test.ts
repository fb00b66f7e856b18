/** Random histories with forks, forks of forks and forks of trees: both stores say the same of all of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContextId, isCairnError, type RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsOf } from '../../test/kit/rows-of.ts';
import { verifyChain } from './chain.ts';
import { inMemoryStore } from './in-memory/store.ts';
import type { Append, ForkRun, OtherFork } from './ports/event-log.ts';
import type { NewRow } from './ports/rows.ts';
import { asked, creation, resolved, row, started } from './ports/samples.kit.ts';
import type { Store } from './ports/store.ts';
import { openSqliteStore } from './sqlite/folder/open.ts';

/** What happens next. The numbers choose among what there is by then. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('start' as const), below: fc.option(fc.nat()) }),
  fc.record({
    kind: fc.constant('append' as const),
    run: fc.nat(),
    rows: fc.array(fc.constantFrom('a', 'b', 'ask', 'resolve', 'end'), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('fork' as const),
    run: fc.nat(),
    at: fc.nat(),
    isReplay: fc.boolean(),
    hasRows: fc.boolean(),
    isTree: fc.boolean(),
  }),
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

interface Known {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly originRunId: RunId;
  readonly parentRunId: RunId | undefined;
}

type Request = { readonly append: Append } | { readonly fork: ForkRun };

/** The runs that there are, and the request that a happening means for them. */
class Play {
  readonly runs: Known[] = [];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async requestOf(happened: Happening): Promise<Request> {
    if (happened.kind === 'start') return this.#start(happened.below);
    const run = this.runs[happened.run % this.runs.length];
    if (run === undefined) return this.#start(null);
    if (happened.kind === 'fork') return { fork: await this.#fork(happened, run) };
    // A fork that shares nothing begins like any run.
    const begin = (await this.#store.log.head(run.runId))?.seq === -1 ? [started({}, 9_000)] : [];
    return { append: { runId: run.runId, rows: [...begin, ...happened.rows.map((kind) => rowOf(kind))] } };
  }

  /** Notes the runs that a request has made. */
  made(request: Request): void {
    if ('append' in request) {
      const { runId, create } = request.append;
      if (create !== undefined) this.runs.push({ runId, ...create, parentRunId: create.parentRunId });
      return;
    }
    const { others = [], ...fork } = request.fork;
    for (const { runId, contextId, originRunId, parentRunId } of [fork, ...others])
      this.runs.push({ runId, contextId, originRunId, parentRunId });
  }

  #start(below: number | null): Request {
    const count = this.runs.length;
    const parent = below === null || count === 0 ? undefined : this.runs[below % count];
    const runId = (parent === undefined ? `run_${count}` : `${parent.runId}.${count}`) as RunId;
    const contextId = parent?.contextId ?? (`ctx_${count}` as ContextId);
    const create = { tenant: 't', contextId, originRunId: runId, parentRunId: parent?.runId };
    return { append: creation(runId, { create }) };
  }

  async #fork(fork: Extract<Happening, { kind: 'fork' }>, source: Known): Promise<ForkRun> {
    const count = this.runs.length;
    const contextId = `ctx_f${count}` as ContextId;
    const of = async (from: Known, runId: RunId, parentRunId?: RunId): Promise<OtherFork> => {
      const { seq } = (await this.#store.log.head(from.runId)) ?? { seq: -1 };
      const mode = fork.isReplay ? 'replay' : 'branch';
      const identity = { runId, tenant: 't', contextId, originRunId: from.originRunId, parentRunId };
      // Now and then beyond the end of the source.
      const fromSeq = fork.at % (seq + 3);
      const first = fork.hasRows ? { rows: [fromSeq === 0 ? started({}, 9_000) : row('own', { at: 9_000 })] } : {};
      return { ...identity, ...first, at: 9_000, fork: { sourceRunId: from.runId, fromSeq, mode } };
    };
    const runId = `run_f${count}` as RunId;
    const children = fork.isTree ? this.runs.filter((one) => one.parentRunId === source.runId) : [];
    const others = await Promise.all(children.map((child, i) => of(child, `${runId}.${i}` as RunId, runId)));
    const distinct = others.filter(
      ({ originRunId }, i) =>
        originRunId !== source.originRunId && others.findIndex((other) => other.originRunId === originRunId) === i,
    );
    return { ...(await of(source, runId)), others: distinct };
  }
}

async function perform({ log }: Store, request: Request): Promise<string> {
  try {
    await ('append' in request ? log.append(request.append) : log.fork(request.fork));
    return 'done';
  } catch (error) {
    if (!isCairnError(error)) throw error;
    return error.code;
  }
}

let questions = 0;

/** No run asks the same question twice. */
const rowOf = (kind: string): NewRow => {
  const at = 9_000;
  if (kind === 'ask') questions += 1;
  if (kind === 'ask') return asked(`i${questions}`, 'approval', at);
  if (kind === 'resolve') return resolved(`i${questions}`, at);
  return row(kind === 'end' ? 'run.completed' : kind, { at, audience: kind === 'b' ? 'operator' : 'client' });
};

/** Everything that a store says of these runs. */
async function said(store: Store, runs: readonly Known[]) {
  const { log, changes, runIndex } = store;
  const last = await changes.lastCursor();
  const contexts = [...new Set(runs.map(({ contextId }) => contextId))];
  return {
    last,
    runs: await Promise.all(
      runs.map(async ({ runId, originRunId }) => {
        const rows = await rowsOf(store, runId);
        expect(verifyChain(rows, originRunId)).toBeNull();
        const cursors = [0, Math.floor(last / 2), last];
        const until = await Promise.all(cursors.map((cursor) => log.rowsUntil(runId, cursor)));
        expect(until).toEqual(cursors.map((cursor) => rows.filter((one) => one.cursor <= cursor).length));
        const { record, seq, hash } = (await log.head(runId)) ?? {};
        return { rows, record, seq, hash, interrupts: await runIndex.interrupts(runId) };
      }),
    ),
    contexts: await Promise.all(contexts.map((contextId) => log.read({ contextId, afterCursor: 0, limit: 1_000 }))),
    clients: await Promise.all(
      contexts.map((contextId) =>
        log.read({ contextId, afterCursor: Math.floor(last / 2), limit: 7, audience: 'client' }),
      ),
    ),
    list: await runIndex.list({ tenant: 't', limit: 1_000 }),
    pending: await runIndex.pending({ tenant: 't', limit: 1_000 }),
    bytes: await runIndex.tenantLogBytes('t'),
  };
}

test('both stores agree on every history of runs and forks, and on what is left after a rebuild', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-forks-model-'));
  let count = 0;
  const history = fc.array(happening, { minLength: 5, maxLength: 40 });
  const check = async (happenings: readonly Happening[]): Promise<void> => {
    count += 1;
    await using closing = new AsyncDisposableStack();
    const memory = inMemoryStore();
    const sqlite = await openSqliteStore({ folder: join(folder, String(count)) });
    closing.defer(() => sqlite.close());
    const play = new Play(memory);
    for (const happened of happenings) {
      const request = await play.requestOf(happened);
      const outcome = await perform(memory, request);
      expect([request, await perform(sqlite, request)]).toEqual([request, outcome]);
      if (outcome === 'done') play.made(request);
    }
    const before = await said(memory, play.runs);
    expect(await said(sqlite, play.runs)).toEqual(before);
    for (const store of [memory, sqlite]) expect(await store.runIndex.rebuild()).toMatchObject({ repaired: 0 });
    expect(await said(sqlite, play.runs)).toEqual(before);
  };
  await fc.assert(fc.asyncProperty(history, check), { numRuns: 10, endOnFailure: true });
  rmSync(folder, { recursive: true, force: true });
});
