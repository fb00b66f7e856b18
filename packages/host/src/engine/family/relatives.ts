/** The relatives of a run: the parent and child runs whose end it must learn of, or that must learn of its own end. */
import type { RunId } from '@cairn/protocol';
import type { RunState } from '../core/state.ts';

export function hasChildren({ children }: Pick<RunState, 'children'>): boolean {
  for (const _ in children) return true;
  return false;
}

/** Whether an active run depends on relatives: on a parent that it is attached to, or on children. */
export const hasKeptRelatives = ({ attachedTo, children, ended }: RunState): boolean =>
  !ended && (attachedTo !== null || hasChildren({ children }));

/** Tracks the relatives to notify. The host that steps the run notifies each one once. */
export class Relatives {
  /** Orphans already notified. */
  readonly #told = new Set<RunId>();

  /** For an ended run, its parent and children; otherwise its orphans. */
  toTell({ view, children, orphans, ended }: RunState): readonly RunId[] {
    if (!ended) return orphans.length === 0 ? orphans : orphans.filter((orphan) => !this.#told.has(orphan));
    const above = view.parentRunId === null ? [] : [view.parentRunId];
    return [...above, ...Object.values(children).map(({ runId }) => runId)];
  }

  /** Call it once the row that concerns them is durable. */
  tell(state: RunState, tell: (state: RunState, relatives: readonly RunId[]) => void): void {
    const relatives = this.toTell(state);
    if (relatives.length > 0) tell(state, relatives);
    if (state.orphans.length > 0) for (const orphan of relatives) this.#told.add(orphan);
    // To clear a set that is empty makes it a new table.
    else if (this.#told.size > 0) this.#told.clear();
  }
}
