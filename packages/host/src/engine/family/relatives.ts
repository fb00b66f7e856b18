/** The relatives of a run: those whose end means something to it, and those that have to know of its own. */
import type { RunId } from '@cairn/protocol';
import type { RunState } from '../core/state.ts';

export function hasChildren({ children }: Pick<RunState, 'children'>): boolean {
  for (const _ in children) return true;
  return false;
}

/** Whether the run depends on relatives: on the run it ends with, or on children. */
export const hasKeptRelatives = ({ attachedTo, children, ended }: RunState): boolean =>
  !ended && (attachedTo !== null || hasChildren({ children }));

/** The relatives that have to know, each told once by whoever steps the run. */
export class Relatives {
  /** Orphans that know it. */
  readonly #told = new Set<RunId>();

  /** Of a run that has ended the one above it and its children; of others the orphans. */
  toTell({ view, children, orphans, ended }: RunState): readonly RunId[] {
    if (!ended) return orphans.length === 0 ? orphans : orphans.filter((orphan) => !this.#told.has(orphan));
    const above = view.parentRunId === null ? [] : [view.parentRunId];
    return [...above, ...Object.values(children).map(({ runId }) => runId)];
  }

  /** Once the row that they have to know of is durable. */
  tell(state: RunState, tell: (state: RunState, relatives: readonly RunId[]) => void): void {
    const relatives = this.toTell(state);
    if (relatives.length > 0) tell(state, relatives);
    if (state.orphans.length === 0) this.#told.clear();
    else for (const orphan of relatives) this.#told.add(orphan);
  }
}
