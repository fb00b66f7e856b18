/**
 * An independent model of parent and child runs: each child starts once, its parent learns its true outcome once, and
 * no child outlives its parent.
 */
import { isTerminalType, type RunId } from '@cairn/protocol';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

const nodeEnds = new Set(['node.completed', 'node.failed', 'node.retried', 'node.cancelled']);

interface Member {
  readonly parent: RunId | null;
  ended: string | null;
}

type Payload = {
  readonly parentRunId?: RunId;
  readonly childRunId?: RunId;
  readonly outcome?: { readonly status?: string };
  readonly error?: unknown;
  readonly reason?: string;
  readonly purpose?: string;
};

export type Orphan = {
  readonly runId: RunId;
  readonly parent: RunId;
  /** How the parent run ended. Null when only the parent's node has ended. */
  readonly above: string | null;
};

export interface FamilyWorld {
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
}

export class FamilyWatch {
  readonly #world: FamilyWorld;
  readonly #members = new Map<RunId, Member>();
  readonly #asked = new Map<string, RunId>();
  readonly #told = new Set<string>();
  /** Children by the node that last requested them, and children whose node has ended since. */
  readonly #byNode = new Map<string, RunId[]>();
  readonly #strays = new Set<RunId>();
  /** Children whose start their parent recorded, and runs that have waited long enough for them. */
  readonly #dispatched = new Map<RunId, Set<RunId>>();
  readonly #overdue = new Set<RunId>();

  constructor(world: FamilyWorld) {
    this.#world = world;
  }

  /** Takes what a branch begins with: nothing of it happens now. */
  inherit(rows: readonly Row[]): void {
    const silent = new FamilyWatch({ complain: () => undefined, count: () => undefined });
    for (const row of rows) silent.take(row);
    for (const [runId, member] of silent.#members) this.#members.set(runId, member);
    // Shared requests name the children of the source, which still asks for them itself.
    for (const [child, parent] of silent.#asked) if (!this.#asked.has(child)) this.#asked.set(child, parent);
    for (const [place, children] of silent.#byNode) this.#byNode.set(place, children);
    for (const told of silent.#told) this.#told.add(told);
    // Children that had ended are those of the source.
    for (const stray of silent.#strays) if (stray.startsWith(`${rows[0]?.runId}.`)) this.#strays.add(stray);
  }

  take(row: Row): void {
    const { runId, type, nodeId } = row;
    if (nodeEnds.has(type)) for (const child of this.#byNode.get(`${runId} ${nodeId}`) ?? []) this.#strays.add(child);
    if (type === 'run.started') this.#started(row);
    else if (type === 'node.completed') this.#completed(row);
    else if (type === 'node.dispatched') this.#noted(row);
    else if (type === 'cairn.timer.fired') this.#fired(row);
    else if (type === 'cairn.step.requested' || type === 'cairn.step.returned') this.#said(row);
    else if (isTerminalType(type)) {
      const member = this.#members.get(runId);
      if (member !== undefined) member.ended = type;
      const { parentRunId, reason }: Payload = JSON.parse(row.payload);
      if (type === 'run.cancelled') this.#endedLast(row);
      if (type === 'run.cancelled' && parentRunId !== undefined) this.#cancelled(row, parentRunId, reason);
    }
  }

  #noted({ runId, payload }: Row): void {
    const { childRunId }: Payload = JSON.parse(payload);
    if (childRunId === undefined) return;
    const children = this.#dispatched.get(runId) ?? new Set();
    this.#dispatched.set(runId, children.add(childRunId));
  }

  #fired({ runId, payload }: Row): void {
    const { purpose }: Payload = JSON.parse(payload);
    if (purpose === 'cancel-deadline') this.#overdue.add(runId);
  }

  /** A cancellation ends the lowest runs first, as long as somebody ends them. */
  #endedLast({ runId, seq }: Row): void {
    if (this.#overdue.has(runId)) return;
    for (const child of this.#dispatched.get(runId) ?? []) {
      const member = this.#members.get(child);
      if (member?.ended === 'run.cancelled') this.#world.count('child cancelled before its parent');
      if (member?.ended === null) {
        this.#world.complain('a cancelled run ends after its children', { runId, seq, child });
      }
    }
  }

  /** Runs that continue although their parent run, or the node that started them, has ended. */
  orphans(): readonly Orphan[] {
    const orphans: Orphan[] = [];
    for (const [runId, { parent, ended }] of this.#members) {
      if (ended !== null || parent === null) continue;
      const above = this.#members.get(parent)?.ended ?? null;
      if (above !== null || this.#strays.has(runId)) orphans.push({ runId, parent, above });
    }
    return orphans;
  }

  #started({ runId, payload }: Row): void {
    const { parentRunId }: Payload = JSON.parse(payload);
    const parent = parentRunId ?? null;
    this.#members.set(runId, { parent, ended: null });
    if (parent === null) return;
    this.#world.count('child started');
    if (this.#asked.get(runId) !== parent) {
      this.#world.complain('a run is started as a child only where it was asked for', { runId, parent });
    }
  }

  #said({ runId, seq, type, payload, nodeId }: Row): void {
    const { childRunId, outcome, error }: Payload = JSON.parse(payload);
    if (childRunId === undefined) return;
    const where = { runId, seq, childRunId };
    if (type === 'cairn.step.requested') {
      this.#asked.set(childRunId, runId);
      const place = `${runId} ${nodeId}`;
      this.#byNode.set(place, [...(this.#byNode.get(place) ?? []), childRunId]);
      return;
    }
    if (error !== undefined) return;
    this.#world.count('child told of');
    const told = `${runId} ${childRunId}`;
    if (this.#told.has(told)) this.#world.complain('the end of a child is told once', where);
    this.#told.add(told);
    const ended = this.#members.get(childRunId)?.ended ?? null;
    if (ended !== `run.${outcome?.status}`) {
      this.#world.complain('what a parent is told of the end of a child is true', { ...where, ended, outcome });
    }
  }

  #cancelled({ runId, seq }: Row, parent: RunId, reason: string | undefined): void {
    this.#world.count('child cancelled with its parent');
    const where = { runId, seq, parent, reason };
    const { complain } = this.#world;
    const isNodeOver = this.#strays.has(runId);
    if (this.#members.get(parent)?.ended === null && !isNodeOver) {
      complain('a child is cancelled with its parent only once that, or its node, has ended', where);
    }
  }

  #completed({ runId, seq, payload }: Row): void {
    const { outputs }: { outputs?: { childRunId?: string } } = JSON.parse(payload);
    const childRunId = outputs?.childRunId;
    if (childRunId === undefined || this.#told.has(`${runId} ${childRunId}`)) return;
    this.#world.complain('a node completes only when it knows how its child ended', { runId, seq, childRunId });
  }
}
