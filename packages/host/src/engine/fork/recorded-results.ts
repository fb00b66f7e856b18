/** Finds recorded results of a source run by the request that they answer, for the calls of a branch. */
import { isJsonObject, type Json, type JsonObject, type RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { isFull, type Row } from '../../log/ports/rows.ts';
import { LruMap } from '../../lru-map.ts';
import type { CallResult, Workflow } from '../workflow/node-type.ts';
import type { ForkState } from './fork-state.ts';
import { requestKeys } from './request-keys.ts';

/** A recorded result, and the row that has it. */
export interface RecordedResult {
  readonly result: CallResult;
  readonly from: { readonly runId: RunId; readonly seq: number };
}

type Source = Pick<ForkState, 'sourceRunId' | 'fromSeq' | 'scanFrom'>;

/** Most results of a source that a branch can find. A call without one is made live. */
const MAX_RECORDED = 20_000;

/** Rows are parsed in the turn that reads them. */
const PAGE = { limit: 500, maxBytes: 524_288 };

/** Sources whose results are known in memory: each takes at most about 2 MB. */
const SOURCES = 16;

/** The rows with the results of each request, in their order. */
type Recorded = ReadonlyMap<string, readonly number[]>;

export class RecordedResults {
  readonly #log: EventLog;
  readonly #sha256: Parameters<typeof requestKeys>[0];
  readonly #sources = new LruMap<string, Promise<Recorded>>(SOURCES);

  constructor(log: EventLog, sha256: Parameters<typeof requestKeys>[0]) {
    this.#log = log;
    this.#sha256 = sha256;
  }

  /** Returns the first result of this request that the branch has not taken yet; null if there is none. */
  async find(fork: ForkState, workflow: Workflow, key: string): Promise<RecordedResult | null> {
    const { sourceRunId: runId, reused } = fork;
    const seqs = (await this.#recorded(fork, workflow)).get(key) ?? [];
    const seq = seqs.find((one) => !reused.includes(one));
    if (seq === undefined) return null;
    const [row] = await this.#log.read({ runId, after: seq - 1, limit: 1 });
    const result = row?.seq === seq ? resultIn(row) : null;
    return result === null ? null : { result, from: { runId, seq } };
  }

  #recorded(source: Source, workflow: Workflow): Promise<Recorded> {
    const name = `${source.sourceRunId} ${source.fromSeq} ${source.scanFrom}`;
    const known = this.#sources.get(name);
    if (known !== undefined) return known;
    const reading = this.#scan(source, workflow);
    // A source that could not be read is read again for the next call.
    reading.catch(() => this.#sources.delete(name));
    return this.#sources.set(name, reading);
  }

  async #scan({ sourceRunId: runId, fromSeq, scanFrom }: Source, workflow: Workflow): Promise<Recorded> {
    const recorded = new Map<string, number[]>();
    const keys = requestKeys(this.#sha256, workflow);
    let after = scanFrom - 1;
    let count = 0;
    for (;;) {
      const rows = await this.#log.read({ runId, after, ...PAGE });
      for (const row of rows) {
        const key = keys.of(row);
        if (key === null || row.seq < fromSeq) continue;
        const seqs = recorded.get(key);
        if (seqs === undefined) recorded.set(key, [row.seq]);
        else seqs.push(row.seq);
        count += 1;
      }
      after = rows.at(-1)?.seq ?? after;
      if (!isFull(rows, PAGE) || count >= MAX_RECORDED) return recorded;
    }
  }
}

/** The result in a row, as a performer gives it. */
function resultIn({ type, payload }: Row): CallResult | null {
  const { outcome, turn }: JsonObject = JSON.parse(payload);
  if (type === 'cairn.model.returned') return isJsonObject(turn) ? { outcome: { turn: whole(turn) } } : null;
  return outcome === undefined ? null : { given: outcome };
}

/** Nothing of a reused turn is streamed, so its last chunk carries all of its text. */
const whole = (turn: JsonObject): Json => ({ ...turn, chunks: 0, tail: turn.text ?? '' });
