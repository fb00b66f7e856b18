/**
 * Appends a fact to a run that another node holds: without its lease, checked against the state, with a wake for the
 * holder.
 */
import { isCairnError, type RunId } from '@cairn/protocol';
import { refuseLargeFact } from '../core/run-size.ts';
import { stamp } from '../core/stamp.ts';
import type { RecordFor } from '../creation/idempotency-record.ts';
import type { Command } from './commands.ts';
import type { MailboxPorts } from './mailbox-ports.ts';

type UnleasedPorts = Pick<MailboxPorts, 'store' | 'loader' | 'limits'>;

export interface UnleasedAppend<Answer> {
  readonly now: number;
  readonly runId: RunId;
  readonly command: Command<Answer>;
  readonly recordFor: RecordFor<Answer> | undefined;
}

/** How often an append is tried again because another one was first. */
const MAX_RACES = 8;

/** Returns the answer from the state with the fact in it. The holder decides the consequences. */
export async function appendUnleased<Answer>(ports: UnleasedPorts, append: UnleasedAppend<Answer>): Promise<Answer> {
  let hasEnded = false;
  for (let races = 0; ; races++) {
    try {
      return await tryAppend(ports, append, races === MAX_RACES);
    } catch (error) {
      const isOver = isCairnError(error, 'run_terminal');
      const isLost = isCairnError(error, 'conflict') && error.retryable;
      // If the run ended meanwhile, try once more: the fact itself decides what that means.
      if (!(isLost || (isOver && !hasEnded)) || races === MAX_RACES) throw error;
      hasEnded = isOver;
    }
  }
}

/**
 * Appends right after the state that the fact was checked against, because the task faces of its rows follow from that
 * state. A fact that loses every race goes to the end; its faces may then lack what others wrote meanwhile.
 */
async function tryAppend<Answer>(
  ports: UnleasedPorts,
  append: UnleasedAppend<Answer>,
  isLastTry: boolean,
): Promise<Answer> {
  const { store, loader, limits } = ports;
  const { runId, command, recordFor } = append;
  const { state, workflow } = await loader.load(runId);
  const base = state.nextSeq;
  const now = Math.max(append.now, state.now);
  const drafts = command.propose(state, now, workflow);
  if (drafts.length === 0) return command.look(state);
  refuseLargeFact(state, drafts, limits);
  const rows = stamp(state, workflow, drafts, now);
  const answers = command.answers?.();
  // A vote that leaves its gate open depends on the earlier votes, so it rather fails.
  const isVote = answers !== undefined && Object.hasOwn(state.view.interrupts, answers);
  const position = !isLastTry || isVote || command.isPositioned === true ? { at: base } : {};
  const answer = command.look(state);
  const idempotency = recordFor && [recordFor(answer)];
  const maxTenantBytes = state.cancel === null ? limits.maxTenantLogBytes : undefined;
  const wakes = [{ runId, at: now }];
  await store.log.append({ runId, rows, answers, idempotency, wakes, maxTenantBytes, ...position });
  return answer;
}
