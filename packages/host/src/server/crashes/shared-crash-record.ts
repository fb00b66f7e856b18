/**
 * The crash record of nodes that share a database: each node records there which run it has been deciding for long. The
 * node that takes over the runs of a dead one reads it. A thread writes the record. The event loop waits for the write
 * only at the first decisions of a run whose node died, and of a run in which nodes died before.
 */
import { Worker } from 'node:worker_threads';
import { isJsonObject, type Json, type RunId } from '@cairn/protocol';
import type { Death, TakenOver } from '../../engine/ports.ts';
import type { ExpiringRecords } from '../../log/ports/expiring.ts';
import { LruMap } from '../../lru-map.ts';
import type { OpenCrashRecord } from './crash-record.ts';
import { DecisionMemory } from './decision-memory.ts';
import type { SharedWatchData } from './shared-decision-worker.ts';
import { withDeath } from './with-death.ts';

/** What a node decides, by its name; and the deaths of a run, by its id. */
const DECIDING = 'node-deciding';
const DEATHS = 'run-deaths';

/** How long deaths of a run count. */
const REMEMBERED_MS = 7 * 86_400_000;
const MAX_REMEMBERED = 10_000;

/** Decisions of a run that was taken over that wait for their mark: a round trip of about a millisecond each. */
const CAREFUL_DECISIONS = 3;

/** Taken-over runs that a node remembers. One that ends or goes elsewhere says no more. */
const KNOWN_RUNS = 10_000;

/** The event loop waits no longer. The thread marks the decision all the same, a little later. */
const MARK_WITHIN_MS = 20;

export interface SharedCrashRecordPorts {
  readonly url: string;
  readonly owner: string;
  readonly expiring: ExpiringRecords;
  readonly now: () => number;
  readonly nextTurn: (go: () => void) => void;
  readonly failed: (error: unknown) => void;
}

export class SharedCrashRecord implements OpenCrashRecord {
  readonly ready: Promise<void>;
  readonly #ports: SharedCrashRecordPorts;
  readonly #memory = new DecisionMemory();
  /** Deaths in runs that this node took over. */
  readonly #deaths = new LruMap<RunId, readonly Death[]>(KNOWN_RUNS);
  /** How many decisions of a run still wait for their mark. */
  readonly #careful = new LruMap<RunId, number>(KNOWN_RUNS);
  readonly #ended: Promise<void>;
  #isWatched = true;
  #isMarked = false;
  #saving: Promise<unknown> = Promise.resolve();

  constructor(ports: SharedCrashRecordPorts) {
    this.#ports = ports;
    const worker = this.#watch();
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()));
    void this.#ended.then(() => {
      this.#isWatched = false;
    });
    // A thread that cannot start has told why.
    this.ready = Promise.race([this.#ended, new Promise<void>((resolve) => worker.once('message', () => resolve()))]);
  }

  /** A node that starts holds no run yet. */
  deaths(): readonly Death[] {
    return [];
  }

  deciding(runId: RunId, causes: readonly string[]): void {
    this.#memory.begin(runId, causes);
    if (this.#isWatched && (this.#deaths.peek(runId) ?? this.#careful.peek(runId)) !== undefined)
      this.#memory.waitForMark(MARK_WITHIN_MS);
    if (this.#isMarked) return;
    this.#isMarked = true;
    this.#ports.nextTurn(() => {
      this.#isMarked = false;
      this.composed();
    });
  }

  composed(): void {
    this.#memory.end();
  }

  decided(runId: RunId, causes: readonly string[]): void {
    const left = this.#careful.peek(runId);
    if (left !== undefined) {
      if (left > 1) this.#careful.set(runId, left - 1);
      else this.#careful.delete(runId);
    }
    const deaths = this.#deaths.peek(runId);
    if (deaths === undefined) return;
    const kept = deaths.filter(({ cause }) => !causes.includes(cause));
    if (kept.length < deaths.length) this.#keep(runId, kept);
  }

  forget(runId: RunId): void {
    this.#careful.delete(runId);
    this.#keep(runId, []);
  }

  async takenOver(runs: readonly TakenOver[]): Promise<readonly Death[]> {
    const { expiring, now } = this.#ports;
    const formers = new Map<string, Decision | null>();
    for (const former of new Set(runs.map((run) => run.former)))
      formers.set(former, decisionOf((await expiring.get({ kind: DECIDING, name: former }, now()))?.body));
    const found = await Promise.all(runs.map((run) => this.#takeOver(run, formers.get(run.former) ?? null)));
    return found.flat();
  }

  async close(): Promise<void> {
    this.#memory.stop();
    await this.#ended;
    await this.#saving;
  }

  /** Only the node that took the run over counts the death in it. The mark goes once that is written. */
  async #takeOver({ runId, former }: TakenOver, decision: Decision | null): Promise<readonly Death[]> {
    const { expiring, now } = this.#ports;
    const known = deathsOf(runId, (await expiring.get({ kind: DEATHS, name: runId }, now()))?.body);
    const isCause = decision?.runId === runId;
    const deaths = isCause ? decision.causes.reduce(withDeath(runId), known) : known;
    this.#careful.set(runId, CAREFUL_DECISIONS);
    if (deaths.length > 0) this.#deaths.set(runId, deaths);
    if (!isCause) return deaths;
    await this.#save(runId, deaths);
    await expiring.take({ kind: DECIDING, name: former }, now());
    return deaths;
  }

  #keep(runId: RunId, deaths: readonly Death[]): void {
    if (this.#deaths.peek(runId) === undefined) return;
    if (deaths.length === 0) this.#deaths.delete(runId);
    else this.#deaths.set(runId, deaths);
    // One after the other: the last state counts.
    this.#saving = this.#saving.then(() => this.#save(runId, deaths)).catch(this.#ports.failed);
  }

  async #save(runId: RunId, deaths: readonly Death[]): Promise<void> {
    const { expiring, now } = this.#ports;
    if (deaths.length === 0) {
      await expiring.take({ kind: DEATHS, name: runId }, now());
      return;
    }
    const body = JSON.stringify(deaths.map(({ cause, count }) => ({ cause, count })));
    const record = { kind: DEATHS, name: runId, owner: DEATHS, body, expiresAt: now() + REMEMBERED_MS };
    await expiring.put(record, { now: now(), maxOfOwner: MAX_REMEMBERED });
  }

  #watch(): Worker {
    const { url, owner, failed } = this.#ports;
    const workerData: SharedWatchData = { url, owner, kind: DECIDING, shared: this.#memory.shared };
    // The source file in development, the built file when published.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./shared-decision-worker.${extension}`, import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
    });
    // Runs go on; only a death would not be attributed.
    worker.on('error', failed);
    worker.unref();
    return worker;
  }
}

interface Decision {
  readonly runId: string;
  readonly causes: readonly string[];
}

function decisionOf(body: string | undefined): Decision | null {
  const parsed: Json = body === undefined ? null : JSON.parse(body);
  if (!Array.isArray(parsed)) return null;
  const [runId, ...causes] = parsed.map(String);
  return runId === undefined ? null : { runId, causes: [...new Set(causes)] };
}

function deathsOf(runId: RunId, body: string | undefined): readonly Death[] {
  const parsed: Json = body === undefined ? [] : JSON.parse(body);
  if (!Array.isArray(parsed)) return [];
  return parsed.flatMap((one) =>
    isJsonObject(one) ? [{ runId, cause: String(one.cause), count: Number(one.count) }] : [],
  );
}
