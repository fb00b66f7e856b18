/**
 * Finds the decision that a cut divides. The rows of a decision are one append, so no run ever goes on from the middle of
 * one; a branch that is cut there writes the rest of it first.
 */
import { foldEventOf, isTerminalType } from '@cairn/protocol';
import { rowBytes } from '../../log/ports/row-bytes.ts';
import type { Row } from '../../log/ports/rows.ts';
import { decide } from '../core/decide.ts';
import { evolve } from '../core/evolve.ts';
import type { Draft, RunState } from '../core/state.ts';
import type { Workflow } from '../workflow/workflow.ts';

/** Rows before the cut at which its decision may begin. A longer decision is not completed. */
export const MAX_DECISION_ROWS = 64;

/**
 * Folds the rows before the cut. Returns the drafts that follow from the cut on in the decision that it divides; none if
 * it stands between two decisions. `rows` also has the row at the cut, if there is one.
 */
export function foldToCut(state: RunState, workflow: Workflow, rows: readonly Row[], cut: number): readonly Draft[] {
  let rest: readonly Draft[] | null = null;
  for (const [i, row] of rows.entries()) {
    if (row.seq >= cut) break;
    rest ??= restOf(decided(state, workflow), rows.slice(i), cut - row.seq);
    evolve(state, workflow, foldEventOf(row));
    state.logBytes += rowBytes(row);
  }
  return rest ?? [];
}

/** The drafts after the first `shared`, if the decision reaches beyond them and the source wrote all of it. */
function restOf(drafts: readonly Draft[], rows: readonly Row[], shared: number): readonly Draft[] | null {
  if (drafts.length <= shared) return null;
  const isSame = rows.slice(0, shared + 1).every((row, i) => isOf(row, drafts[i]));
  if (!isSame) return null;
  const rest = drafts.slice(shared);
  // Nothing may follow the end of a run, so the branch decides again how it ends.
  return rest.some(({ type }) => isTerminalType(type)) ? restOfNode(drafts, shared) : rest;
}

/** A node that was stopped may go on in the branch, unless its question was closed: nobody could answer it any more. */
function restOfNode(drafts: readonly Draft[], shared: number): readonly Draft[] {
  const { nodeId } = drafts[shared - 1] ?? {};
  const isOfNode = (draft: Draft, type: string) => draft.type === type && draft.nodeId === nodeId;
  const isClosed = drafts.slice(0, shared).some((draft) => isOfNode(draft, 'interrupt.resolved'));
  const end = drafts.findIndex((draft, i) => i >= shared && isOfNode(draft, 'node.cancelled'));
  return nodeId !== undefined && isClosed ? drafts.slice(shared, end + 1) : [];
}

const isOf = (row: Row, draft: Draft | undefined): boolean =>
  draft !== undefined && row.type === draft.type && row.nodeId === (draft.nodeId ?? null);

/** A state between two rows of a decision may be none that the engine can decide about. */
function decided(state: RunState, workflow: Workflow): readonly Draft[] {
  try {
    return decide(state, workflow).drafts;
  } catch {
    return [];
  }
}
