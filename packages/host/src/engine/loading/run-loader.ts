/** Loads a run's state: the newest checkpoint, then the tail of its log. */
import { foldEventOf, parseRunId, type RunId, type RunView, TerminalError } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import { rowBytes } from '../../log/ports/row-bytes.ts';
import { isFull } from '../../log/ports/rows.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { runPurged } from '../../log/ports/run-purged.ts';
import type { Store } from '../../log/ports/store.ts';
import { evolve } from '../core/evolve.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { RunState } from '../core/state.ts';
import type { Pins, RunPins } from '../pins/run-pins.ts';
import type { CrashRecord } from '../ports.ts';
import type { LongWork } from '../shares/long-work.ts';
import { NO_CAUSE } from '../stepping/decision-mark.ts';
import { isQuarantined, outlineOf } from '../stepping/quarantine.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { WorkflowRegistry } from '../workflow/workflow-registry.ts';
import { LargeFolds, whole } from './large-folds.ts';
import { nearestState, STATE_FORMAT, stateOf } from './nearest-state.ts';
import { PastStates } from './past-states.ts';
import { RecentStates, type RestingRun } from './recent-states.ts';
import { stateText } from './state-text.ts';

export { STATE_FORMAT } from './nearest-state.ts';

/** Rows are parsed and folded in the turn that reads them. */
const PAGE = { limit: 1_000, maxBytes: 524_288, isForFolds: true };

/** What of a log is folded, and in how many pages at most. */
interface FoldRange {
  readonly through: number;
  readonly mostPages: number;
}

const EVERYTHING: FoldRange = { through: Number.MAX_SAFE_INTEGER, mostPages: Number.POSITIVE_INFINITY };

export interface RunWithRecord extends RestingRun {
  readonly record: RunRecord;
}

export interface RunLoader {
  /** Throws `not_found` if the run does not exist. With a tenant, checks ownership before it reads anything else. */
  load(runId: RunId, tenant?: string): Promise<RunWithRecord>;
  /** The state after a row, or after the last one if there is no such row yet. Folds the rows after the nearest checkpoint. */
  loadAt(runId: RunId, seq: number, tenant?: string): Promise<RunWithRecord>;
  /** Like `load`, but goes on from the kept state if there is one. The caller may change the state. */
  resume(runId: RunId): Promise<RestingRun>;
  /** Keeps the state of a resting run that wakes soon. */
  keep(run: RestingRun): void;
  /** Folds the rows that the log holds beyond the state. Returns the bytes of their payloads. */
  catchUp(state: RunState, workflow: Workflow): Promise<number>;
  /** Serialises the state at once and returns its size. */
  saveCheckpoint(state: RunState): { readonly bytes: number; readonly saved: Promise<void> };
}

/** Also thrown for a run of another tenant, so that it looks like an unknown run. A malformed id is not repeated. */
export function runNotFound(runId: string): TerminalError {
  const isRunId = parseRunId(runId) !== null;
  return new TerminalError('not_found', {
    message: isRunId ? `There is no run ${runId}.` : 'There is no such run: this is not a run id.',
    hint: 'Check the id, and that the key belongs to the tenant that started the run.',
    ...(isRunId ? { details: { runId } } : {}),
  });
}

/** The error for a run that is not in the log: its own tenant learns that it was purged. */
export async function missingRun(log: Pick<EventLog, 'purged'>, tenant: string, runId: RunId): Promise<TerminalError> {
  const purged = await log.purged(runId);
  return purged?.tenant === tenant ? runPurged(purged) : runNotFound(runId);
}

/** Also thrown for a context of another tenant. */
export function contextNotFound(contextId: string): TerminalError {
  const isId = /^ctx_[\w.:-]{1,128}$/.test(contextId);
  return new TerminalError('not_found', {
    message: isId ? `There is no context "${contextId}".` : 'There is no such context: this is not a context id.',
    hint: 'A context begins with its first run; the answer that created that run names it.',
    ...(isId ? { details: { contextId } } : {}),
  });
}

const kept = async (recent: RecentStates, runId: RunId, catchUp: RunLoader['catchUp']): Promise<RestingRun | null> => {
  const run = recent.take(runId);
  if (run === null) return null;
  const { state, workflow, record, checkpoint } = run;
  const bytes = await catchUp(state, workflow);
  return { state, workflow, record, checkpoint: { ...checkpoint, tailBytes: checkpoint.tailBytes + bytes } };
};

/** Its state may be what killed the host, so only its outline is folded. */
function quarantinedRun(view: RunView, { record, seq }: RunHead, workflow: Workflow): RunWithRecord {
  const state: RunState = {
    ...newRunState(record.runId, record.originRunId),
    view,
    nextSeq: seq + 1,
    now: view.lastAt,
    ended: true,
  };
  return { record, workflow, state, checkpoint: { seq: -1, bytes: 0, tailBytes: 0 } };
}

/** A fork without rows begins with the first row of its source, and so with its pins. */
async function pinsOf(log: EventLog, state: RunState, { record: { fork } }: RunHead): Promise<Pins> {
  if (state.nextSeq > 0 || fork === null) return state;
  const [first] = await log.read({ runId: fork.sourceRunId, after: -1, limit: 1 });
  const event = first === undefined ? null : foldEventOf(first);
  return event?.type === 'run.started' ? event.payload : {};
}

export interface RunLoaderPorts {
  readonly store: Pick<Store, 'log' | 'checkpoints'>;
  readonly workflows: WorkflowRegistry;
  readonly pins: RunPins;
  readonly longWork: LongWork;
  readonly crashes?: CrashRecord | null;
}

export function createRunLoader({ store, workflows, pins, longWork, crashes = null }: RunLoaderPorts): RunLoader {
  /** Null if so many pages do not reach the row. */
  const foldPages = async (state: RunState, workflow: Workflow, range: FoldRange): Promise<number | null> => {
    let bytes = 0;
    for (let pages = 0; ; pages += 1) {
      const limit = Math.min(PAGE.limit, range.through + 1 - state.nextSeq);
      if (limit < 1) return bytes;
      if (pages === range.mostPages) return null;
      const rows = await store.log.read({ ...PAGE, runId: state.runId, after: state.nextSeq - 1, limit });
      crashes?.deciding(state.runId, NO_CAUSE);
      for (const row of rows) {
        evolve(state, workflow, foldEventOf(row));
        bytes += row.payload.length;
        state.logBytes += rowBytes(row);
      }
      if (!isFull(rows, { ...PAGE, limit })) return bytes;
    }
  };
  const catchUp: RunLoader['catchUp'] = async (state, workflow) => (await foldPages(state, workflow, EVERYTHING)) ?? 0;
  const recent = new RecentStates();
  const past = new PastStates();
  const loadThrough = async (head: RunHead, range: FoldRange): Promise<RunWithRecord | null> => {
    const { record } = head;
    const { runId } = record;
    const shared = await workflows.byHash(record.tenant, record.definitionHash);
    if (isQuarantined(head)) return quarantinedRun(await outlineOf(store.log, head), head, shared);
    const last = Math.min(range.through, head.seq);
    const stored = await nearestState(store, record, last);
    // The rows that a fork shares may be purged, and what memory has of them must not be shown then.
    const checkpoint = record.fork === null ? past.nearest(runId, last, stored) : stored;
    const parsed = (body: string): RunState => {
      crashes?.deciding(runId, NO_CAUSE);
      return stateOf(runId, body);
    };
    const state =
      checkpoint === null
        ? newRunState(runId, record.originRunId)
        : await longWork.take(record.tenant, () => parsed(checkpoint.body));
    const tailBytes = await foldPages(state, shared, range);
    if (tailBytes === null) return null;
    const workflow = await pins.give(shared, await pinsOf(store.log, state, head));
    const from = checkpoint === null ? { seq: -1, bytes: 0 } : { seq: checkpoint.seq, bytes: checkpoint.body.length };
    if (last < head.seq && record.fork === null)
      past.note(state, { bytes: from.bytes + tailBytes, folded: last - from.seq });
    return { record, workflow, state, checkpoint: { ...from, tailBytes } };
  };
  const folds = new LargeFolds();
  const loadAt: RunLoader['loadAt'] = async (runId, through, tenant) => {
    const head = await store.log.head(runId);
    if (head === null || (tenant !== undefined && head.record.tenant !== tenant)) throw runNotFound(runId);
    // The engine goes on with its runs however many readers a tenant has.
    const fold = (mostPages: number) => loadThrough(head, { through, mostPages });
    return tenant === undefined ? whole(await fold(EVERYTHING.mostPages)) : folds.take(tenant, fold);
  };
  const load: RunLoader['load'] = (runId, tenant) => loadAt(runId, EVERYTHING.through, tenant);
  return {
    catchUp,
    load,
    loadAt,
    resume: async (runId) => (await kept(recent, runId, catchUp)) ?? load(runId),
    keep: (run) => recent.put(run),
    saveCheckpoint: (state) => {
      const body = stateText(state);
      const { runId, nextSeq } = state;
      const saved = store.checkpoints.put({ runId, seq: nextSeq - 1, format: STATE_FORMAT, body });
      return { bytes: body.length, saved };
    },
  };
}
