/** The rows by which a run learns that a relative has ended. */
import { type Json, type RunId, type RunView, row } from '@cairn/protocol';
import { cancelRequested } from '../core/facts.ts';
import type { ChildEnd, Draft, RunError, RunState } from '../core/state.ts';
import { budgetReturned, spentBy } from './budget.ts';

/** For the parent of a run that has ended; none when the parent knows, or waits no more. */
export function childEnded(state: RunState, child: RunState): readonly Draft[] {
  const childRunId = child.runId;
  const waiting = Object.hasOwn(state.children, childRunId) ? state.children[childRunId] : undefined;
  if (waiting === undefined || state.ended) return [];
  const { nodeId, harvest } = waiting;
  // The child's own loans that have not come back may still be used, and count as used. The run itself is one, too.
  const spent = spentBy(child);
  const outcome = endOf(child.view, harvest);
  return [
    budgetReturned(nodeId, childRunId, { ...spent, runs: spent.runs + 1 }),
    row('cairn.step.returned', { nodeId, callId: childRunId, attempt: 1, childRunId, outcome }, { nodeId }),
  ];
}

/** Largest harvest, as JSON text; a larger one does not fit in an event. */
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

/** An error as it is passed on, level by level: it must fit whatever it was. */
const briefly = ({ code, message }: RunError): RunError => ({
  code,
  message: message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message,
});

const MAX_MESSAGE_LENGTH = 2000;

/** Why a run is cancelled whose parent has ended. */
const PARENT_CANCELLED = 'parent-cancelled';

/** For a run below one that has ended, unless it is detached. */
export const parentEnded = (state: RunState, parentRunId: RunId): readonly Draft[] =>
  state.attachedTo === parentRunId ? cancelRequested(state, { reason: PARENT_CANCELLED, parentRunId }) : [];
