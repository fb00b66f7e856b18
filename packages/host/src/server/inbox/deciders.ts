/** Who decides on a question: its approvers, their votes so far, and whether the caller is one of them. */
import {
  type InboxEntry,
  type InterruptView,
  isCairnError,
  type JsonObject,
  type OpenInterrupt,
  type RunView,
  waitingInterrupts,
} from '@cairn/protocol';
import { voteRefusal } from '../../engine/core/answers/quorum.ts';
import type { Vote } from '../../log/ports/run-index.ts';
import { type Caller, requireScope } from '../access/auth.ts';

/** The open interrupts of a run for a caller with a key. Holders of a token do not learn who decides. */
export function interruptsFor(caller: Caller, view: RunView): readonly OpenInterrupt[] {
  return waitingInterrupts(view).map((open) => {
    const interrupt = view.interrupts[open.interruptId];
    return interrupt === undefined ? open : { ...open, ...asDecided(interrupt), ...refusalFor(caller, interrupt) };
  });
}

/** The interrupts that were open in a view of the past. Who may answer them is a question of the present. */
export const interruptsThen = (view: RunView): readonly OpenInterrupt[] =>
  waitingInterrupts(view).map((open) => {
    const interrupt = view.interrupts[open.interruptId];
    return interrupt === undefined ? open : { ...open, ...asDecided(interrupt) };
  });

const asDecided = ({ kind, data, votes }: InterruptView): Pick<OpenInterrupt, 'assignees' | 'quorum'> =>
  kind === 'approval' ? deciders(data, votes) : {};

/** Who may decide, and the votes so far. */
export function deciders(gate: JsonObject, votes: readonly Vote[]): Pick<InboxEntry, 'assignees' | 'quorum'> {
  const { approversList, requiredApprovals } = gate;
  const assignees = Array.isArray(approversList) ? approversList.filter((name) => typeof name === 'string') : [];
  const required = typeof requiredApprovals === 'number' ? requiredApprovals : 1;
  const rejections = votes.filter(({ action }) => action === 'reject').length;
  return {
    ...(assignees.length === 0 ? {} : { assignees }),
    ...(required === 1 && assignees.length === 0
      ? {}
      : {
          quorum: {
            required,
            approvals: votes.length - rejections,
            rejections,
            votes: votes.map((vote) => ({ ...vote })),
          },
        }),
  };
}

/** The error that an answer of this caller would get, whatever it says; nothing if the caller may answer. */
function refusalFor(caller: Caller, interrupt: InterruptView): Pick<OpenInterrupt, 'refusal'> {
  try {
    requireScope(caller, 'approvals:respond');
    const refused = interrupt.kind === 'approval' ? voteRefusal(interrupt, caller.principal ?? 'anonymous') : null;
    if (refused !== null) throw refused;
    return {};
  } catch (error) {
    if (!isCairnError(error)) throw error;
    return { refusal: { code: error.code, message: error.message } };
  }
}
