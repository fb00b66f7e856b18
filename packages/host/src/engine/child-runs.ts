/** Runs that nodes of other runs start: how they are known, how their parents learn of their end, and what ends with whom. */
import type { Json, JsonObject, RunId, RunView } from '@cairn/protocol';
import type { RunHead, Store } from '../log/port.ts';
import { budgetReturned, spentBy } from './budget.ts';
import { cancelRequested, type Fact } from './facts.ts';
import type { RunLoader } from './run-loader.ts';
import type { ChildEnd, Draft, RunError, RunState } from './state.ts';

/** The rows by which a parent knows that a run it started has ended; none when it knows, or waits no more. */
export function childEnded(state: RunState, child: RunState): readonly Draft[] {
  const childRunId = child.runId;
  const waiting = Object.hasOwn(state.children, childRunId) ? state.children[childRunId] : undefined;
  if (waiting === undefined || state.ended) return [];
  const { nodeId, harvest } = waiting;
  const outcome = endOf(child.view, harvest) as unknown as JsonObject;
  const payload = { nodeId, callId: childRunId, attempt: 1, childRunId, outcome };
  // What it lent in turn and has not back may still be used, and counts as if it were; the run itself is one, too.
  const spent = spentBy(child);
  return [
    budgetReturned(nodeId, childRunId, { ...spent, runs: spent.runs + 1 }),
    { type: 'cairn.step.returned', nodeId, audience: 'operator', payload },
  ];
}

/** Largest harvest, as JSON text; what is larger does not fit in an event. */
const MAX_HARVEST_LENGTH = 160 * 1024;

function endOf({ status, variables, error }: RunView, harvest: readonly string[]): ChildEnd {
  const wanted = harvest.filter((name) => Object.hasOwn(variables, name));
  const given = Object.fromEntries(wanted.map((name) => [name, variables[name] as Json]));
  if (error !== null) return { status, variables: {}, error: error as RunError };
  const { length } = JSON.stringify(given);
  if (length <= MAX_HARVEST_LENGTH) return { status, variables: given };
  const message = `The variables ${wanted.join(', ')} of the child are ${length} characters of JSON; at most ${MAX_HARVEST_LENGTH} can be harvested.`;
  return { status: 'failed', variables: {}, error: { code: 'event_too_large', message, retryable: false } };
}

export function hasChildren({ children }: Pick<RunState, 'children'>): boolean {
  for (const _ in children) return true;
  return false;
}

/** A fact nobody waits for. */
const internalFact = (propose: Fact['propose']): Fact => ({
  internal: true,
  propose,
  recorded: () => undefined,
  refused: () => undefined,
});

const hasEnded = (head: RunHead | null): boolean => head !== null && head.record.endedAt !== null;

/**
 * What a run that was left alone may have missed: the end of runs it started, and the end of the run above it. Those who
 * ended say so themselves, but may have been stopped right before.
 */
export async function missedEnds(state: RunState, store: Store, loader: RunLoader): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  const { keeper, runId } = state;
  if (keeper !== null && (await isUnwanted(runId, keeper, store, loader))) {
    facts.push(internalFact((now) => parentEnded(now, keeper)));
  }
  for (const child of Object.keys(state.children) as RunId[]) {
    if (!hasEnded(await store.log.head(child))) continue;
    const ended = (await loader.load(child)).state;
    facts.push(internalFact((now) => childEnded(now, ended)));
  }
  return facts;
}

/** Whether the run above has ended, or the node of it that started this one. */
async function isUnwanted(runId: RunId, keeper: RunId, store: Store, loader: RunLoader): Promise<boolean> {
  if (hasEnded(await store.log.head(keeper))) return true;
  return (await loader.load(keeper)).state.strays.includes(runId);
}

/** Why a run is cancelled whose parent has ended. */
const PARENT_CANCELLED = 'parent-cancelled';

/** A run ends with the one above it, unless it was let go. */
export const parentEnded = (state: RunState, parentRunId: RunId): readonly Draft[] =>
  state.keeper === parentRunId ? cancelRequested(state, { reason: PARENT_CANCELLED, parentRunId }) : [];

/** Runs that have to look again: of one that has ended the one above it and those it started, of others those nobody waits for. */
export function relativesOf({ view, children, strays, ended }: RunState): readonly RunId[] {
  if (!ended) return strays;
  const above = view.parentRunId === null ? [] : [view.parentRunId as RunId];
  return [...above, ...(Object.keys(children) as RunId[])];
}
