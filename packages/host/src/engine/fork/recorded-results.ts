/** Finds recorded results of a source run by the request that they answer, for the calls of a branch. */
import { isTerminalType, type RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { isFull } from '../../log/ports/rows.ts';
import { LruMap } from '../../lru-map.ts';
import type { CallResult } from '../workflow/driven-calls.ts';
import type { Workflow } from '../workflow/node-type.ts';
import type { CutState, ForkState } from './fork-state.ts';
import { requestKeys, resultIn } from './request-keys.ts';

/** A recorded result, and the row that has it. */
export interface RecordedResult {
  readonly result: CallResult;
  readonly from: { readonly runId: RunId; readonly seq: number };
}

type Source = Pick<CutState, 'sourceRunId' | 'fromSeq' | 'scanFrom'>;

/** Most results of a source that a branch can find. A call without one is made live. */
const MAX_RECORDED = 20_000;

/** Rows are parsed in the turn that reads them. */
const PAGE = { limit: 500, maxBytes: 524_288 };

/** Sources whose results are known in memory: each takes at most about 2 MB. */
const SOURCES = 16;

/** A call of a branch, by the request that it makes. */
export interface WantedResult {
  readonly workflow: Workflow;
  readonly key: string;
  readonly callId: string;
}

/** What has been read of a source. An active source goes on, so its results are read on from here. */
interface KnownSource {
  /** The rows with the results of each request, in their order. */
  readonly seqs: Map<string, number[]>;
  readonly keys: ReturnType<typeof requestKeys>;
  after: number;
  count: number;
  /** The source has ended, or has more results than are kept. */
  isWhole: boolean;
  reading: Promise<void> | null;
}

/** What the calls of a branch have taken. A result is found before the log has it; no other call may take it in between. */
interface Taken {
  readonly recorded: Set<number>;
  /** How many entries of `reused` are in `recorded`. */
  noted: number;
  readonly claims: Map<number, string>;
}

export class RecordedResults {
  readonly #log: EventLog;
  readonly #sha256: Parameters<typeof requestKeys>[0];
  readonly #sources = new LruMap<string, KnownSource>(SOURCES);
  readonly #taken = new WeakMap<ForkState, Taken>();

  constructor(log: EventLog, sha256: Parameters<typeof requestKeys>[0]) {
    this.#log = log;
    this.#sha256 = sha256;
  }

  /** Returns the first result of this request that no other call of the branch has taken; null if there is none. */
  async find(fork: CutState, { workflow, key, callId }: WantedResult): Promise<RecordedResult | null> {
    const { sourceRunId: runId } = fork;
    const seqs = (await this.#recorded(fork, workflow)).get(key) ?? [];
    const { recorded, claims } = this.#takenBy(fork);
    const seq = seqs.find((one) => !recorded.has(one) && (claims.get(one) ?? callId) === callId);
    if (seq === undefined) return null;
    claims.set(seq, callId);
    const [row] = await this.#log.read({ runId, after: seq - 1, limit: 1 });
    const result = row?.seq === seq ? resultIn(row, workflow) : null;
    return result === null ? null : { result, from: { runId, seq } };
  }

  #takenBy(fork: ForkState): Taken {
    const taken = this.#taken.get(fork) ?? { recorded: new Set(), noted: 0, claims: new Map() };
    this.#taken.set(fork, taken);
    for (; taken.noted < fork.reused.length; taken.noted += 1) {
      const seq = fork.reused[taken.noted] ?? -1;
      taken.recorded.add(seq);
      taken.claims.delete(seq);
    }
    return taken;
  }

  async #recorded(source: Source, workflow: Workflow): Promise<KnownSource['seqs']> {
    const name = `${source.sourceRunId} ${source.fromSeq} ${source.scanFrom}`;
    const known =
      this.#sources.get(name) ??
      this.#sources.set(name, {
        ...{ seqs: new Map(), keys: requestKeys(this.#sha256, workflow) },
        ...{ after: source.scanFrom - 1, count: 0, isWhole: false, reading: null },
      });
    if (!known.isWhole) {
      known.reading ??= this.#readOn(source, known).finally(() => {
        known.reading = null;
      });
      await known.reading;
    }
    return known.seqs;
  }

  /** A page that could not be read is read again for the next call. */
  async #readOn({ sourceRunId: runId, fromSeq }: Source, known: KnownSource): Promise<void> {
    while (!known.isWhole) {
      const rows = await this.#log.read({ runId, after: known.after, ...PAGE });
      for (const row of rows) {
        known.after = row.seq;
        const key = known.keys.of(row);
        if (isTerminalType(row.type)) known.isWhole = true;
        if (key === null || row.seq < fromSeq) continue;
        const seqs = known.seqs.get(key);
        if (seqs === undefined) known.seqs.set(key, [row.seq]);
        else seqs.push(row.seq);
        known.count += 1;
      }
      if (known.count >= MAX_RECORDED) known.isWhole = true;
      if (!isFull(rows, PAGE)) return;
    }
  }
}
