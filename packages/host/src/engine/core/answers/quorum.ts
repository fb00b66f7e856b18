/** Decides when an approval with several approvers is settled, and its outcome. */
import { type ApprovalAnswer, type ApprovalData, type InterruptView, TerminalError } from '@cairn/protocol';
import { dataOf } from '../interrupts.ts';

export type GateOutcome = 'open' | 'repeated' | 'approved' | 'rejected' | 'refine';

/**
 * Counts this vote with the earlier ones. Throws `forbidden` if the principal is not an approver, `conflict` for a
 * second vote that is another one.
 */
export function quorum(interrupt: InterruptView, principal: string, vote: ApprovalAnswer): GateOutcome {
  const { action } = vote;
  if (isRepeated(interrupt, principal, vote)) return 'repeated';
  const refusal = voteRefusal(interrupt, principal);
  if (refusal !== null) throw refusal;
  const { data, votes } = interrupt;
  const gate = dataOf<'approval'>(data);
  // A refine request changes the subject of the vote, so it ends the vote.
  if (action === 'refine') return 'refine';
  const needed = gate.requiredApprovals ?? 1;
  const rejections = count(votes, 'reject') + (action === 'reject' ? 1 : 0);
  const approvals = count(votes, 'accept') + count(votes, 'edit-accept') + (action === 'reject' ? 0 : 1);
  if (approvals >= needed) return 'approved';
  return isRejected(gate, rejections, needed) ? 'rejected' : 'open';
}

/** The same vote again, in the same words. A vote that edits is never taken for the same. */
const isRepeated = (
  { votes }: InterruptView,
  principal: string,
  { action, feedback, ...vote }: ApprovalAnswer,
): boolean =>
  !('editedArtifactData' in vote) &&
  votes.some((one) => one.principal === principal && one.action === action && one.feedback === feedback);

/** The error that a vote of this principal gets; null if the gate takes it. */
export function voteRefusal({ data, votes, nodeId }: InterruptView, principal: string): TerminalError | null {
  const { approversList: approvers = [] } = dataOf<'approval'>(data);
  if (approvers.length > 0 && !approvers.includes(principal)) {
    return new TerminalError('forbidden', {
      message: `${principal} is not among the approvers of node ${nodeId}.`,
      hint: 'Ask one of its approvers to decide.',
      details: { nodeId },
    });
  }
  if (votes.some((vote) => vote.principal === principal)) {
    return new TerminalError('conflict', {
      message: `${principal} has decided on node ${nodeId} already; a gate of several takes one vote of each.`,
      hint: 'Somebody else has to decide.',
      details: { nodeId },
    });
  }
  return null;
}

const count = (votes: InterruptView['votes'], action: string): number =>
  votes.filter((vote) => vote.action === action).length;

/**
 * The majority policy rejects if more than half of the voters reject, or if the needed approvals are no longer
 * possible.
 */
function isRejected(gate: ApprovalData, rejections: number, needed: number): boolean {
  if (rejections === 0) return false;
  if (gate.rejectionPolicy !== 'majority') return true;
  const approvers = gate.approversList?.length ?? 0;
  const voters = Math.max(needed, approvers);
  return rejections > voters / 2 || (approvers > 0 && approvers - rejections < needed);
}
