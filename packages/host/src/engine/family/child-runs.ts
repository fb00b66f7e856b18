/** Runs that nodes of other runs start: how they are known, how their parents learn of their end, and what ends with whom. */
import { isCairnError, type Json, type JsonObject, type RunId, type RunView } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import { cancelRequested, type Fact } from '../core/facts.ts';
import type { ChildEnd, Draft, RunError, RunState } from '../core/state.ts';
import type { RunLoader } from '../stepping/run-loader.ts';
import { budgetReturned, spentBy } from './budget.ts';

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
  if (error !== null) return { status, variables: {}, error: briefly(error as RunError) };
  const { length } = JSON.stringify(given);
  if (length <= MAX_HARVEST_LENGTH) return { status, variables: given };
  const message = `The variables ${wanted.join(', ')} of the child are ${length} characters of JSON; at most ${MAX_HARVEST_LENGTH} can be harvested.`;
  return { status: 'failed', variables: {}, error: { code: 'event_too_large', message, retryable: false } };
}

/** What is said of an error each level up, where it must fit whatever it was. */
const briefly = ({ code, message }: RunError): RunError => ({
  code,
  message: message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message,
});

const MAX_MESSAGE_LENGTH = 2000;

export function hasChildren({ children }: Pick<RunState, 'children'>): boolean {
  for (const _ in children) return true;
  return false;
}

/** Whether there are relatives whose end would mean something to the run. */
export const hasKeptRelatives = ({ keeper, children, ended }: RunState): boolean =>
  !ended && (keeper !== null || hasChildren({ children }));

/** A fact nobody waits for. */
const internalFact = (propose: Fact['propose']): Fact => ({
  internal: true,
  propose,
  recorded: () => undefined,
  refused: () => undefined,
});

const hasEnded = (head: RunHead | null): boolean => head !== null && head.record.endedAt !== null;

/** Whether a run is no longer wanted by the one above it, which is to say what it knows. */
export type IsUnwanted = (runId: RunId, keeper: RunId) => Promise<boolean>;

/**
 * What a run that was left alone may have missed: the end of runs it started, and the end of the run above it. Those who
 * ended say so themselves, but may have been stopped right before.
 */
export async function missedEnds(
  state: RunState,
  { store, loader, isUnwanted }: { store: Pick<Store, 'log'>; loader: RunLoader; isUnwanted: IsUnwanted },
): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  const { keeper, runId } = state;
  if (keeper !== null && (await isUnwanted(runId, keeper))) {
    facts.push(internalFact((now) => parentEnded(now, keeper)));
  }
  for (const child of Object.keys(state.children) as RunId[]) {
    if (!hasEnded(await store.log.head(child))) continue;
    const ended = (await loader.load(child)).state;
    facts.push(internalFact((now) => childEnded(now, ended)));
  }
  return facts;
}

/** A run that is stepped in this process. */
interface StateHolder {
  read<T>(look: (state: RunState) => T): Promise<T>;
}

/** Of a keeper that is stepped here nothing has to be loaded, if what is known of it is all that the log has. */
export function unwantedBy(
  log: EventLog,
  loader: RunLoader,
  holderOf: (runId: RunId) => StateHolder | undefined,
): IsUnwanted {
  return async (runId, keeper) => {
    const head = await log.head(keeper);
    if (head === null || hasEnded(head)) return true;
    try {
      const look = (state: RunState) => (state.nextSeq > head.seq ? isDoneWith(state, runId) : null);
      const known = (await holderOf(keeper)?.read(look)) ?? null;
      if (known !== null) return known;
    } catch (error) {
      // It was given up meanwhile: the log knows.
      if (!isCairnError(error)) throw error;
    }
    return isDoneWith((await loader.load(keeper)).state, runId);
  };
}

/** Whether the run above has ended, or the node of it that started this one. */
const isDoneWith = (keeper: RunState, runId: RunId): boolean => keeper.ended || keeper.strays.includes(runId);

/** Why a run is cancelled whose parent has ended. */
const PARENT_CANCELLED = 'parent-cancelled';

/** A run ends with the one above it, unless it was let go. */
export const parentEnded = (state: RunState, parentRunId: RunId): readonly Draft[] =>
  state.keeper === parentRunId ? cancelRequested(state, { reason: PARENT_CANCELLED, parentRunId }) : [];

/** The relatives of a run who have to look again, each told once by whoever steps the run. */
export class Relatives {
  /** Runs nobody waits for that know it. */
  readonly #told = new Set<RunId>();

  /** Of a run that has ended the one above it and those it started; of others those nobody waits for any more. */
  toTell({ view, children, strays, ended }: RunState): readonly RunId[] {
    if (!ended) return strays.length === 0 ? strays : strays.filter((stray) => !this.#told.has(stray));
    const above = view.parentRunId === null ? [] : [view.parentRunId as RunId];
    return [...above, ...(Object.keys(children) as RunId[])];
  }

  /** Once that they are to be told is durable. */
  tell(state: RunState, tell: (state: RunState, relatives: readonly RunId[]) => void): void {
    const relatives = this.toTell(state);
    if (relatives.length > 0) tell(state, relatives);
    if (state.strays.length === 0) this.#told.clear();
    else for (const stray of relatives) this.#told.add(stray);
  }
}
