/** Formats the progress of a run: one line for each event that matters to a person. */
import type { RunEventDoc, RunView } from '@cairn/protocol';
import { fieldsOf, isFields } from './fields.ts';
import { lookOf } from './status.ts';
import { oneLine, type Style, safe } from './style.ts';
import { span } from './time.ts';

/** The line for an event that the view already includes; null for events without a line. */
export function progressLine(event: RunEventDoc, view: RunView, style: Style): string | null {
  const nodeId = event.nodeId ?? '';
  switch (event.type) {
    case 'node.completed':
    case 'node.failed':
    case 'node.cancelled':
      return nodeLine(nodeId, view, style);
    case 'node.retried':
      return `  ${lookOf('retrying', style).mark} ${safe(nodeId)}  ${retryText(event.payload)}`;
    case 'approval.received':
      return voteLine(event.payload, view, style);
    case 'run.paused':
      return `  ${lookOf('paused', style).mark} the run is paused`;
    case 'run.resumed':
      return `  ${lookOf('running', style).mark} the run has resumed`;
    case 'conversation.exchanged':
      return turnLine(fieldsOf(event.payload).turn, style);
    case 'log.appended':
      return `    ${style.dim(oneLine(fieldsOf(event.payload).message ?? '', 200))}`;
    default:
      return null;
  }
}

/** A vote that leaves the gate open. The one that decides is followed by the end of the node. */
function voteLine(payload: unknown, { interrupts }: RunView, style: Style): string | null {
  const { interruptId, decidedBy, action } = fieldsOf(payload);
  const gate =
    typeof interruptId === 'string' && Object.hasOwn(interrupts, interruptId) ? interrupts[interruptId] : null;
  if (gate === null || gate === undefined) return null;
  const approvals = gate.votes.filter((vote) => vote.action !== 'reject').length;
  const so = style.dim(`  ${approvals} of ${numberOf(gate.data.requiredApprovals)} approved`);
  return `    ${style.bold(oneLine(decidedBy ?? ''))}: ${oneLine(action ?? '')}${so}`;
}

function turnLine(turn: unknown, style: Style): string | null {
  if (!isFields(turn)) return null;
  const who = turn.role === 'user' ? (turn.principal ?? turn.from) : (turn.speakerId ?? turn.from);
  return `    ${style.bold(oneLine(who ?? ''))}: ${oneLine(turn.content ?? null, 400)}`;
}

function nodeLine(nodeId: string, { nodeStates }: RunView, style: Style): string | null {
  const node = Object.hasOwn(nodeStates, nodeId) ? nodeStates[nodeId] : undefined;
  if (node === undefined) return null;
  const took = node.visitedAt === null || node.endedAt === null ? '' : span(node.endedAt - node.visitedAt);
  const error = node.error === null ? '' : `  ${style.red(`${safe(node.error.code)}: ${oneLine(node.error.message)}`)}`;
  return `  ${lookOf(node.status, style).mark} ${safe(nodeId)}  ${style.dim(`${safe(node.typeId ?? '')}  ${took}`)}${error}`;
}

function retryText(payload: unknown): string {
  const { attempt, delayMs, lastError } = fieldsOf(payload);
  const why = isFields(lastError) ? ` after ${oneLine(lastError.code)}: ${oneLine(lastError.message)}` : '';
  return `attempt ${numberOf(attempt) + 1} in ${span(numberOf(delayMs))}${why}`;
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
