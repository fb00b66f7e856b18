/**
 * Finds the ends of parent and child runs that a run missed while no host stepped it. A run that ends notifies its
 * relatives itself, but its host may stop before that.
 */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Fact } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import type { RunLoader } from '../loading/run-loader.ts';
import { childEnded, parentEnded } from './ends.ts';

/** Whether the parent run no longer needs this one: the parent, or its node that started this run, has ended. */
export type IsUnwanted = (runId: RunId, attachedTo: RunId) => Promise<boolean>;

export interface MissedEndsPorts {
  readonly store: Pick<Store, 'log'>;
  readonly loader: RunLoader;
  readonly isUnwanted: IsUnwanted;
}

export async function missedEnds(
  state: RunState,
  { store, loader, isUnwanted }: MissedEndsPorts,
): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  const { attachedTo, runId } = state;
  if (attachedTo !== null && (await isUnwanted(runId, attachedTo))) {
    facts.push(internalFact((now) => parentEnded(now, attachedTo)));
  }
  for (const child of Object.values(state.children)) {
    if (!hasEnded(await store.log.head(child.runId))) continue;
    const ended = (await loader.load(child.runId)).state;
    facts.push(internalFact((now) => childEnded(now, ended)));
  }
  return facts;
}

/** A fact without a waiting caller. */
const internalFact = (propose: Fact['propose']): Fact => ({
  internal: true,
  propose,
  recorded: () => undefined,
  refused: () => undefined,
});

const hasEnded = (head: RunHead | null): boolean => head !== null && head.record.endedAt !== null;

/** Holds the state of a run that this process steps. */
interface StateHolder {
  read<T>(look: (state: RunState) => T): Promise<T>;
}

/** Reads the parent's state from this process if it is as new as the log, instead of loading the run. */
export function unwantedBy(
  log: EventLog,
  loader: RunLoader,
  holderOf: (runId: RunId) => StateHolder | undefined,
): IsUnwanted {
  return async (runId, attachedTo) => {
    const head = await log.head(attachedTo);
    if (head === null || hasEnded(head)) return true;
    try {
      const look = (state: RunState) => (state.nextSeq > head.seq ? isDoneWith(state, runId) : null);
      const known = (await holderOf(attachedTo)?.read(look)) ?? null;
      if (known !== null) return known;
    } catch (error) {
      // The mailbox closed in the meantime: load the run from the log.
      if (!isCairnError(error)) throw error;
    }
    return isDoneWith((await loader.load(attachedTo)).state, runId);
  };
}

const isDoneWith = (above: RunState, runId: RunId): boolean => above.ended || above.orphans.includes(runId);
