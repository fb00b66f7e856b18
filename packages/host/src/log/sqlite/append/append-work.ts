/** An append as a unit of work: checked, written, and told once it is durable. */
import { invariant, type RunId } from '@cairn/protocol';
import type { AdmittedAppend } from '../../admit.ts';
import type { Append, Appended, Commit } from '../../ports/event-log.ts';
import { bodySize } from '../../ports/rows.ts';
import type { Work } from '../commit/job.ts';
import type { CachedHead } from './head-cache.ts';

interface Admitted {
  readonly entry: CachedHead | null;
  readonly admitted: AdmittedAppend;
}

interface Admission {
  tenantOf(runId: RunId): string | undefined;
  admit(append: Append): Admitted;
  write(append: Append, entry: CachedHead | null, admitted: AdmittedAppend): Appended;
  tell(commit: Commit): void;
}

/** One append in a transaction. A class for speed: every step of every run creates one. */
export class AppendWork implements Work<Appended> {
  readonly runId: RunId;
  readonly rows: number;
  readonly bytes: number;
  readonly #appender: Admission;
  readonly #append: Append;
  #ready: Admitted | null = null;

  constructor(appender: Admission, append: Append) {
    this.#appender = appender;
    this.#append = append;
    this.runId = append.runId;
    this.rows = append.rows.length;
    let bytes = 0;
    for (const row of append.rows) bytes += bodySize(row);
    this.bytes = bytes;
  }

  /** Asked only if more is queued than one transaction takes. */
  get tenant(): string | undefined {
    return this.#append.create?.tenant ?? this.#appender.tenantOf(this.runId);
  }

  prepare(): void {
    this.#ready = this.#appender.admit(this.#append);
  }

  apply(): Appended {
    const { entry, admitted } = this.#admitted();
    return this.#appender.write(this.#append, entry, admitted);
  }

  committed(): void {
    const { rows, head } = this.#admitted().admitted;
    this.#appender.tell({ runId: this.runId, contextId: head.record.contextId, rows });
  }

  #admitted(): Admitted {
    const ready = this.#ready;
    invariant(ready !== null, 'append-is-prepared');
    return ready;
  }
}
