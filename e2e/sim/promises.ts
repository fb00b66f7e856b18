/** Checks the responses that clients received against the log: both an acknowledgement and a refusal must hold. */
import { isCairnError, isTerminalStatus, type RunId, type RunStatus } from '@cairn/protocol';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Auditor } from './auditor.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

export interface PromiseWorld {
  readonly auditor: Auditor;
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
}

/** A sent answer, identified in the log by its mark. */
interface Mark {
  readonly runId: RunId;
  readonly interruptId: string;
  seen: number;
  told: 'nothing' | 'accepted' | 'refused';
}

/** Errors that guarantee the request had no effect. Any other error leaves the outcome open. */
const definite = new Set([
  'validation_error',
  'not_found',
  'forbidden',
  'interrupt_not_found',
  'interrupt_already_resolved',
  'interrupt_expired',
  'interrupt_cancelled',
  'run_terminal',
]);

const refusals: Readonly<Record<string, Interesting>> = {
  validation_error: 'answer refused: wrong value',
  interrupt_already_resolved: 'answer refused: already given',
  interrupt_expired: 'answer refused: too late',
};

export class Promises {
  readonly #world: PromiseWorld;
  readonly #marks = new Map<string, Mark>();
  readonly #keys = new Map<string, RunId>();
  readonly #runsOfKey = new Map<string, RunId>();
  readonly #toEndCancelled = new Set<RunId>();

  constructor(world: PromiseWorld) {
    this.#world = world;
  }

  newMark(runId: RunId, interruptId: string): string {
    const mark = `mark-${this.#marks.size + 1}-`;
    this.#marks.set(mark, { runId, interruptId, seen: 0, told: 'nothing' });
    return mark;
  }

  onRow(row: Row): void {
    const { complain } = this.#world;
    if (row.type === 'run.started') {
      const { tags }: { tags?: readonly string[] } = JSON.parse(row.payload);
      // Child runs have no key.
      if (tags !== undefined) this.#oneRunForKey(tags[0] ?? '', row.runId);
    }
    if (row.type !== 'interrupt.resolved') return;
    for (const [text] of row.payload.matchAll(/mark-\d+-/g)) {
      const mark = this.#marks.get(text);
      if (mark === undefined) continue;
      mark.seen += 1;
      const facts = { runId: row.runId, seq: row.seq, mark: text };
      if (mark.seen > 1) complain('an answer is recorded once', facts);
      if (mark.told === 'refused') complain('an answer that was refused is not recorded', facts);
    }
  }

  started(runId: RunId, key: string | null): void {
    const { auditor, complain } = this.#world;
    if (!auditor.runs.has(runId)) complain('a run that was acknowledged exists', { runId });
    if (key === null) return;
    const before = this.#keys.get(key) ?? runId;
    if (before !== runId) complain('one key starts one run', { key, runId, before });
    this.#keys.set(key, runId);
  }

  notStarted(error: unknown, key: string): void {
    if (isCairnError(error) && error.code === 'validation_error') {
      this.#world.complain('a proper start is accepted', { key, error });
    }
  }

  answered(mark: string | null): void {
    const { complain, count } = this.#world;
    count('answer accepted');
    const known = mark === null ? undefined : this.#marks.get(mark);
    if (known === undefined) return;
    known.told = 'accepted';
    if (known.seen !== 1) complain('an answer that was accepted is in the log', { mark, ...known });
  }

  notAnswered(error: unknown, mark: string | null): void {
    const { complain, count } = this.#world;
    const code = isCairnError(error) ? error.code : '';
    if (!definite.has(code)) {
      count('answer outcome unknown');
      return;
    }
    const name = refusals[code];
    if (name !== undefined) count(name);
    const known = mark === null ? undefined : this.#marks.get(mark);
    if (known === undefined) return;
    known.told = 'refused';
    if (known.seen > 0) complain('an answer that was refused is not recorded', { mark, code, ...known });
  }

  cancelled(runId: RunId, status: RunStatus): void {
    const { auditor, complain } = this.#world;
    const ended = auditor.runs.get(runId)?.ended ?? null;
    if (isTerminalStatus(status) && ended !== `run.${status}`) {
      complain('a run that is said to have ended has', { runId, status, ended });
    } else if (!isTerminalStatus(status) && status !== 'cancelling') {
      complain('a cancel that was accepted shows', { runId, status });
    }
    if (status === 'cancelling') this.#toEndCancelled.add(runId);
  }

  paused(runId: RunId, pausedAt: number | null): void {
    const rows = this.#world.auditor.runs.get(runId)?.rows ?? [];
    const isThere = rows.some(
      ({ type, at }) => type === 'cairn.pause.requested' || (type === 'run.paused' && at === pausedAt),
    );
    if (!isThere) this.#world.complain('a pause that was accepted is in the log', { runId, pausedAt });
    if (pausedAt === null) return;
    const tookEffect = rows.some(({ type, at }) => type === 'run.paused' && at === pausedAt);
    if (!tookEffect) this.#world.complain('a run that is said to be paused was', { runId, pausedAt });
  }

  notPaused(error: unknown): void {
    if (isCairnError(error, 'conflict')) this.#refusedByState('pause refused', error.details);
  }

  resumed(runId: RunId): void {
    const rows = this.#world.auditor.runs.get(runId)?.rows ?? [];
    if (!rows.some(({ type }) => type === 'run.resumed')) {
      this.#world.complain('a resume that was accepted is in the log', { runId });
    }
  }

  notResumed(error: unknown): void {
    if (isCairnError(error, 'conflict')) this.#refusedByState('resume refused', error.details);
  }

  #refusedByState(name: Interesting, details: Readonly<Record<string, unknown>> | undefined): void {
    this.#world.count(name);
    if (typeof details?.runStatus === 'string') return;
    this.#world.complain('a refusal for the state of a run says its status', { name, details });
  }

  /** Called once every run has ended. */
  checkAll(): void {
    const { auditor, complain } = this.#world;
    for (const runId of this.#toEndCancelled) {
      const ended = auditor.runs.get(runId)?.ended;
      if (ended !== 'run.cancelled') complain('a cancel that was accepted ends the run cancelled', { runId, ended });
    }
  }

  /** Every start carries its key as a tag. Only starts sent with `idempotency` are repeated. */
  #oneRunForKey(key: string, runId: RunId): void {
    const before = this.#runsOfKey.get(key);
    if (before !== undefined) this.#world.complain('one key starts one run', { key, runId, before });
    this.#runsOfKey.set(key, runId);
  }
}
