/** The ctx calls of one entry into a tool, next to those that earlier entries recorded. */
import type { ToolOutcome, ToolRecord } from './tool.ts';
import { failed, type Settled } from './tool-error.ts';

/** Most ctx calls of one call. Each is a row and stays in memory while the call is open. */
const MAX_RECORDS = 1000;

export class CallRecords {
  readonly #toolId: string;
  readonly #records: ReadonlyMap<number, ToolRecord>;
  /** The number of ctx calls up to the point that an earlier entry reached. */
  readonly #known: number;
  #next = 0;

  constructor(toolId: string, records: readonly ToolRecord[]) {
    this.#toolId = toolId;
    this.#records = new Map(records.map((record) => [record.ordinal, record]));
    this.#known = records.reduce((known, { ordinal }) => Math.max(known, ordinal + 1), 0);
  }

  /** Whether the function has not reached the point yet that an earlier entry reached. */
  get isReplayed(): boolean {
    return this.#next < this.#known;
  }

  /** The ordinal of the next ctx call; a failure when there were too many. */
  take(): number | ToolOutcome {
    if (this.#next < MAX_RECORDS) return this.#next++;
    return failed('tool_failed', `One call of ${this.#toolId} may make ${MAX_RECORDS} ctx calls.`);
  }

  /** What an earlier entry recorded here; undefined when there is nothing, a failure when it did something else. */
  at(ordinal: number, kind: ToolRecord['kind'], called: string): Settled | { diverged: ToolOutcome } | undefined {
    const record = this.#records.get(ordinal);
    if (record === undefined || (record.kind === kind && record.name === called)) return record;
    return { diverged: this.#diverged(record, `called ctx.${kind} ${JSON.stringify(called.slice(0, 80))}`) };
  }

  /** The failure of a function that returns now, although an earlier entry went further; null when none did. */
  leftOut(): ToolOutcome | null {
    const skipped = [...this.#records.values()].find(({ ordinal }) => ordinal >= this.#next);
    return skipped === undefined ? null : this.#diverged(skipped, 'returned before it');
  }

  #diverged({ ordinal, kind, name }: ToolRecord, instead: string): ToolOutcome {
    const before = `its ctx call ${ordinal} was ctx.${kind} ${JSON.stringify(name.slice(0, 80))}`;
    const message = `The tool ${this.#toolId} does not do again what it did: ${before}, and now it ${instead}.`;
    return failed('tool_diverged', message);
  }
}
