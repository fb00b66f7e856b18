/** Runs as they were after one of their events: the fold of the rows up to it, with the child runs of that moment. */
import {
  isoTime,
  type RunId,
  type RunSnapshot,
  type RunStatus,
  type RunView,
  runSnapshot,
  TerminalError,
} from '@cairn/protocol';
import type { LoadView } from '../../engine/loading/run-view.ts';
import { isQuarantined } from '../../engine/stepping/quarantine.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import { isWaiting, shownStatus } from '../../log/shown-status.ts';
import { TenantSlots } from '../../tenant-slots.ts';
import { withLineage } from './run-family.ts';

export interface PastRunPorts {
  readonly log: EventLog;
  readonly loadView: LoadView;
}

/** A snapshot of the past says which event it follows, and when that happened. */
export type PastSnapshot = RunSnapshot & { readonly atSeq: number; readonly asOf: string };

/** Past states of one tenant that are folded at the same time. Each may be megabytes. */
const FOLDS_AT_ONCE = 4;

/** Descendants whose state at the moment is looked up. Each costs some reads. The others are as the log of their parent says. */
const MAX_RELATIVES = 64;

export class PastRuns {
  readonly #ports: PastRunPorts;
  readonly #slots = new TenantSlots(FOLDS_AT_ONCE);

  constructor(ports: PastRunPorts) {
    this.#ports = ports;
  }

  /** Throws if the host does not fold the run. Its state may be what ended the host: only its present is shown, in outline. */
  requireFoldable(head: RunHead, atSeq: number): void {
    if (isQuarantined(head) && atSeq < head.seq) throw notFolded(head.record.runId);
  }

  /** The view after an event that the run has. */
  async view(head: RunHead, atSeq: number): Promise<RunView> {
    const { runId, tenant } = head.record;
    this.requireFoldable(head, atSeq);
    const release = await this.#slots.take(tenant);
    try {
      return await this.#ports.loadView(runId, atSeq);
    } finally {
      release();
    }
  }

  async snapshot(head: RunHead, atSeq: number): Promise<PastSnapshot> {
    return (await this.at(head, atSeq)).snapshot;
  }

  /** The state after an event. Child runs that were open then are shown as they were when the event was written. */
  async at(head: RunHead, atSeq: number): Promise<{ readonly view: RunView; readonly snapshot: PastSnapshot }> {
    const view = await this.view(head, atSeq);
    return { view, snapshot: await this.#withFamily(view, this.#snapshotOf(head, view)) };
  }

  #snapshotOf({ record }: RunHead, view: RunView): PastSnapshot {
    const { importedAt } = record;
    const imported = importedAt === null ? {} : { importedAt: isoTime(importedAt) };
    const snapshot = { ...runSnapshot(view), ...imported, atSeq: view.lastSeq, asOf: isoTime(view.lastAt) };
    return withLineage(snapshot, record);
  }

  async #withFamily(view: RunView, snapshot: PastSnapshot): Promise<PastSnapshot> {
    if (!view.childRuns.some(isOpen)) return snapshot;
    const moment = await this.#cursorOf(view.runId, view.lastSeq);
    const { status, children } = await this.#family(view, { moment, left: MAX_RELATIVES });
    const childRuns = (snapshot.childRuns ?? []).map((child) => ({
      ...child,
      status: children.get(child.runId) ?? child.status,
    }));
    return { ...snapshot, status, childRuns };
  }

  /** The shown status of a run, and of its open children, at a cursor of their context. */
  async #family(
    view: RunView,
    at: { readonly moment: number; left: number },
  ): Promise<{ readonly status: RunStatus; readonly children: ReadonlyMap<string, RunStatus> }> {
    const children = new Map<string, RunStatus>();
    for (const child of view.childRuns) {
      if (!isOpen(child) || at.left === 0) continue;
      at.left -= 1;
      const runId = child.runId as RunId;
      const seq = await this.#lastBefore(runId, at.moment);
      if (seq === null) continue;
      children.set(runId, (await this.#family(await this.#ports.loadView(runId, seq), at)).status);
    }
    const wait = [...children.values()].find(isWaiting) ?? null;
    return { status: shownStatus(view.status, wait), children };
  }

  /** The last event of a run up to a cursor, by bisection; null if the run began later. */
  async #lastBefore(runId: RunId, moment: number): Promise<number | null> {
    const head = await this.#ports.log.head(runId);
    let [low, high] = [-1, head?.seq ?? -1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((await this.#cursorOf(runId, middle)) <= moment) low = middle;
      else high = middle - 1;
    }
    return low < 0 ? null : low;
  }

  async #cursorOf(runId: RunId, seq: number): Promise<number> {
    const [row] = await this.#ports.log.read({ runId, after: seq - 1, limit: 1, isForFrames: true });
    return row?.cursor ?? Number.POSITIVE_INFINITY;
  }
}

const isOpen = ({ status }: { readonly status: string }): boolean => status === 'running';

const notFolded = (runId: RunId): TerminalError =>
  new TerminalError('conflict', {
    message: `The host died while it decided run ${runId}, so it does not compute earlier states of this run.`,
    hint: 'Read the run without atSeq, or its events, which are stored and not computed.',
    details: { runId },
  });
