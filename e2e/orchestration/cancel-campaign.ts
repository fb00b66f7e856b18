/** Cancels trees of runs at random rows. Implements `npm run e2e:orchestration` as one function. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContextId, isTerminalType, type RunId } from '@cairn/protocol';
import type { Host } from '../../packages/host/src/index.ts';
import type { Commit } from '../../packages/host/src/log/ports/event-log.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { campaignStore, openCampaignStore, type StoreKind } from '../campaign-store.ts';
import type { Breach } from '../crash/breach.ts';
import { type HeldStore, heldStore } from './held-store.ts';
import { auditTree } from './tree-audit.ts';
import { TREE_RUNS, treeSteps, treeWorkflow, treeWorkflows } from './tree-workflows.ts';

export interface CancelCampaign {
  /** Number of trees to cancel, each at a random row. */
  readonly points: number;
  readonly seed: string;
  readonly store?: StoreKind;
  readonly progress?: (text: string) => void;
}

export interface CancelReport {
  readonly seed: string;
  readonly points: number;
  /** Rows of a tree in which every run waits or has ended. */
  readonly rowsAtRest: number;
  /** Number of runs at the time of the cancel, and how many trees were still incomplete. */
  readonly runsAtCancel: { readonly least: number; readonly most: number; readonly growing: number };
  readonly slowestMs: number;
  readonly breaches: readonly Breach[];
  readonly seconds: number;
  /** The data folder. Kept only when a guarantee was broken. */
  readonly folder: string | null;
}

/** One deadline for the whole tree. */
const WITHIN_MS = 5_000;

/** Maximum time for a tree to come to rest or to end. Only a defect takes this long. */
const PATIENCE_MS = 10_000;

/** Resting runs in a tree at rest: all except those that wait for other runs. */
const AT_REST = TREE_RUNS - 4;

const KEY = 'cancel-Wp5nJ8sFq1XvC7gTk2Ra';
const TENANT = 'cancel';

export async function cancelCampaign(options: CancelCampaign): Promise<CancelReport> {
  const began = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'cairn-cancel-'));
  await using place = await campaignStore(options.store ?? 'sqlite', folder);
  const closing = new AbortController();
  const faults: string[] = [];
  const held = heldStore(await openCampaignStore(place, (error) => void faults.push(String(error))));
  const host = await createHostOver(held.store, {
    config: {
      port: 0,
      conformance: true,
      keys: [{ key: KEY, tenant: TENANT, scopes: ['runs:create', 'runs:cancel'] }],
    },
    steps: treeSteps(closing.signal),
    workflows: treeWorkflows,
    report: ({ level, event, error }) => {
      if (level !== 'info') faults.push(`${level}: ${event} ${String(error ?? '')}`);
    },
  });
  const grove = new Grove(host, held);
  try {
    const report = await play(grove, options);
    for (const fault of faults) report.breaches.push({ promise: 'the host meets no trouble', facts: { fault } });
    closing.abort();
    return {
      seed: options.seed,
      points: options.points,
      ...report,
      seconds: Math.round((performance.now() - began) / 100) / 10,
      folder: report.breaches.length === 0 ? null : folder,
    };
  } finally {
    closing.abort();
    await host.close();
    if (faults.length === 0 && grove.breaches.length === 0) await rm(folder, { recursive: true, force: true });
  }
}

async function play(grove: Grove, { points, seed, progress }: CancelCampaign) {
  const random = createRandom(seed);
  const rowsAtRest = await grove.measure();
  const atCancel: number[] = [];
  for (let point = 0; point < points; point++) {
    const rows = random.between(1, rowsAtRest);
    atCancel.push(await grove.cancelAt(rows));
    if ((point + 1) % 10 === 0) progress?.(`${point + 1} of ${points} trees cancelled`);
  }
  // Audits only now, so that anything a tree did after its end is visible.
  const { breaches, slowestMs } = await grove.audit();
  const growing = atCancel.filter((runs) => runs < TREE_RUNS).length;
  const runsAtCancel = { least: Math.min(...atCancel), most: Math.max(...atCancel), growing };
  return { rowsAtRest, runsAtCancel, slowestMs, breaches };
}

/** Trees on one host, tracked through the commits of its store. */
class Grove {
  readonly breaches: Breach[] = [];
  readonly #host: Host;
  readonly #held: HeldStore;
  readonly #trees: GrowingTree[] = [];
  readonly #listeners = new Set<(commit: Commit) => void>();

  constructor(host: Host, held: HeldStore) {
    this.#host = host;
    this.#held = held;
    held.store.log.follow((commit) => {
      for (const listener of this.#listeners) listener(commit);
    });
  }

  /** Returns the number of rows of a tree once all of its runs wait for a person, a timer or a step. */
  async measure(): Promise<number> {
    const tree = this.#plant();
    const isWhole = await tree.until(({ resting }) => resting.size === AT_REST);
    if (!isWhole) this.#complain('a tree comes to rest', tree);
    const { rows } = tree;
    await this.#cancel(tree);
    return rows;
  }

  /** Cancels a tree once it has the given number of rows. Returns its number of runs at that time. */
  async cancelAt(rows: number): Promise<number> {
    const tree = this.#plant();
    // A tree may come to rest with one row fewer than the measured tree.
    const isThere = await tree.until((now) => now.rows >= rows || now.resting.size === AT_REST);
    if (!isThere) this.#complain('a tree grows', tree);
    // Holds back all runs below the root until the root has received the request. The root itself may be in mid-step.
    this.#held.hold(({ runId }) => runId !== tree.root);
    const runs = tree.runs.size;
    await this.#cancel(tree);
    return runs;
  }

  async audit(): Promise<{ readonly breaches: Breach[]; readonly slowestMs: number }> {
    let slowestMs = 0;
    for (const tree of this.#trees) {
      // A child that was being created when its tree ended learns of it with its first rows, and ends then.
      await tree.until(({ runs, ended }) => ended.size === runs.size);
      const { contextId, root } = tree;
      const rows = contextId === null ? [] : await allRows(this.#held.store, contextId);
      const runs = Map.groupBy(rows, ({ runId }) => runId);
      const { breaches, tookMs } = auditTree({ root: root as RunId, runs, withinMs: WITHIN_MS });
      this.breaches.push(...breaches);
      slowestMs = Math.max(slowestMs, tookMs);
    }
    return { breaches: this.breaches, slowestMs };
  }

  #plant(): GrowingTree {
    const tree = new GrowingTree();
    this.#trees.push(tree);
    this.#listeners.add(tree.take);
    // Only one tree grows at a time, so the next run without a parent is its root.
    void this.#send('/v1/runs', { workflowId: treeWorkflow });
    return tree;
  }

  async #cancel(tree: GrowingTree): Promise<void> {
    const heard = tree.until(({ isCancelled }) => isCancelled);
    await this.#send(`/v1/runs/${tree.root}/cancel`, {});
    if (!(await heard)) this.#complain('a cancellation is heard', tree);
    this.#held.release();
    const isOver = await tree.until(({ runs, ended }) => ended.size === runs.size);
    if (!isOver) this.#complain('a tree that is cancelled ends', tree);
  }

  #complain(promise: string, { root, rows, runs, resting, ended, last }: GrowingTree): void {
    const going = [...runs].filter((runId) => !resting.has(runId)).map((runId) => `${runId}: ${last.get(runId)}`);
    this.breaches.push({ promise, facts: { root, rows, runs: runs.size, ended: ended.size, going } });
  }

  async #send(path: string, body: object): Promise<void> {
    const response = await fetch(`${this.#host.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok)
      this.breaches.push({ promise: 'the host accepts it', facts: { path, text: await response.text() } });
  }
}

/** The known state of a tree while it grows. */
class GrowingTree {
  root: RunId | null = null;
  rows = 0;
  /** The root has recorded the cancel request. */
  isCancelled = false;
  readonly runs = new Set<RunId>();
  readonly ended = new Set<RunId>();
  /** The last row of each run. */
  readonly last = new Map<RunId, string>();
  /** Runs that have ended, or that wait for external input. */
  readonly resting = new Set<RunId>();
  contextId: ContextId | null = null;
  #look: () => void = () => undefined;

  readonly take = ({ runId, contextId, rows }: Commit): void => {
    const isRoot = this.root === null && rows[0]?.seq === 0 && !runId.includes('.');
    if (isRoot) {
      this.root = runId;
      this.contextId = contextId;
    }
    if (contextId !== this.contextId) return;
    this.rows += rows.length;
    this.runs.add(runId);
    for (const row of rows) this.#note(row);
    this.#look();
  };

  #note({ runId, type, nodeId }: Row): void {
    this.last.set(runId, `${type} ${nodeId ?? ''}`);
    if (isTerminalType(type)) this.ended.add(runId);
    if (type === 'cairn.cancel.requested') this.isCancelled = true;
    // The long waits: a question, a delay, a step that does not return.
    const waits = type === 'interrupt.requested' || type === 'cairn.timer.set' || type === 'cairn.step.requested';
    if (isTerminalType(type) || (waits && nodeId !== null && /^(ask|wait|work)$/.test(nodeId))) this.resting.add(runId);
  }

  /** Resolves to false on timeout. */
  until(isSo: (tree: GrowingTree) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const late = AbortSignal.timeout(PATIENCE_MS);
      late.addEventListener('abort', () => resolve(false), { once: true });
      this.#look = () => {
        if (isSo(this)) resolve(true);
      };
      this.#look();
    });
  }
}

async function allRows(store: Store, contextId: ContextId): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await store.log.read({ contextId, afterCursor: rows.at(-1)?.cursor ?? 0, limit: 1_000 });
    rows.push(...page);
    if (page.length === 0) return rows;
  }
}
