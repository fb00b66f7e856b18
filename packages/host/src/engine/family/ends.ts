/** The rows that tell a run that its parent or child run has ended. */
import { type Json, type RunId, type RunView, row } from '@cairn/protocol';
import { cancelRequested } from '../core/facts.ts';
import type { ChildEnd, Draft, RunError, RunState } from '../core/state.ts';
import { sealedIn, sealedRow } from '../sensitive/references.ts';
import { budgetReturned, spentBy } from './budget.ts';

/** Rows for the parent of an ended run. None if the parent already knows or no longer waits. */
export function childEnded(state: RunState, child: RunState): readonly Draft[] {
  const childRunId = child.runId;
  const waiting = Object.hasOwn(state.children, childRunId) ? state.children[childRunId] : undefined;
  if (waiting === undefined || state.ended) return [];
  const { nodeId, harvest } = waiting;
  // The child's open loans may still be used, so they count as used. The child itself counts as one run.
  const spent = spentBy(child);
  const outcome = endOf(child.view, harvest);
  const sealed = sealedIn(outcome.variables, child.sealed);
  return [
    ...(sealed === undefined ? [] : [sealedRow(sealed)]),
    budgetReturned(nodeId, childRunId, { ...spent, runs: spent.runs + 1 }),
    row('cairn.step.returned', { nodeId, callId: childRunId, attempt: 1, childRunId, outcome }, { nodeId }),
  ];
}

/** The maximum length of a harvest as JSON text. A longer one does not fit in an event. */
const MAX_HARVEST_LENGTH = 160 * 1024;

function endOf({ status, variables, error }: RunView, harvest: readonly string[]): ChildEnd {
  if (error !== null) return { status, variables: {}, error: briefly(error) };
  const wanted = harvest.filter((name) => Object.hasOwn(variables, name));
  const given: Record<string, Json> = {};
  for (const name of wanted) given[name] = variables[name] ?? null;
  const { length } = JSON.stringify(given);
  if (length <= MAX_HARVEST_LENGTH) return { status, variables: given };
  const message = `The variables ${wanted.join(', ')} of the child are ${length} characters of JSON; at most ${MAX_HARVEST_LENGTH} can be harvested.`;
  return { status: 'failed', variables: {}, error: { code: 'event_too_large', message, retryable: false } };
}

/** Shortens an error for the parent, so that it fits in an event at every level. */
const briefly = ({ code, message }: RunError): RunError => ({
  code,
  message: message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message,
});

const MAX_MESSAGE_LENGTH = 2000;

/** The cancellation reason of a run whose parent has ended. */
const PARENT_CANCELLED = 'parent-cancelled';

/** Rows for a child of an ended run. None if the child is detached. */
export const parentEnded = (state: RunState, parentRunId: RunId): readonly Draft[] =>
  state.attachedTo === parentRunId ? cancelRequested(state, { reason: PARENT_CANCELLED, parentRunId }) : [];
