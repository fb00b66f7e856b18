/** A run while it happens: one line for each thing a person wants to know of, none for the rest. */
import type { Json, JsonObject, RunEventDoc, RunView } from '@cairn/protocol';
import { lookOf } from './status.ts';
import { oneLine, type Style, safe } from './style.ts';
import { span } from './time.ts';

/** The line of an event that the view has just taken in; null for events that only machines care about. */
export function progressLine(event: RunEventDoc, view: RunView, style: Style): string | null {
  const nodeId = event.nodeId ?? '';
  switch (event.type) {
    case 'node.completed':
    case 'node.failed':
    case 'node.cancelled':
      return nodeLine(nodeId, view, style);
    case 'node.retried':
      return `  ${lookOf('retrying', style).mark} ${safe(nodeId)}  ${retryText(event.payload)}`;
    case 'run.paused':
      return `  ${lookOf('paused', style).mark} the run is paused`;
    case 'run.resumed':
      return `  ${lookOf('running', style).mark} the run goes on`;
    case 'conversation.exchanged':
      return turnLine((event.payload as JsonObject).turn as JsonObject | undefined, style);
    case 'log.appended':
      return `    ${style.dim(oneLine((event.payload as JsonObject).message ?? '', 200))}`;
    default:
      return null;
  }
}

function turnLine(turn: JsonObject | undefined, style: Style): string | null {
  if (turn === undefined) return null;
  const who = turn.role === 'user' ? (turn.principal ?? turn.from) : (turn.speakerId ?? turn.from);
  return `    ${style.bold(oneLine(who ?? ''))}: ${oneLine(turn.content ?? null, 400)}`;
}

function nodeLine(nodeId: string, { nodeStates }: RunView, style: Style): string | null {
  const node = Object.hasOwn(nodeStates, nodeId) ? nodeStates[nodeId] : undefined;
  if (node === undefined) return null;
  const took = node.visitedAt === null || node.endedAt === null ? '' : span(node.endedAt - node.visitedAt);
  const error =
    node.error === null ? '' : `  ${style.red(`${safe(node.error.code)}: ${oneLine(node.error.message, 200)}`)}`;
  return `  ${lookOf(node.status, style).mark} ${safe(nodeId)}  ${style.dim(`${safe(node.typeId ?? '')}  ${took}`)}${error}`;
}

function retryText(payload: Json): string {
  const { attempt, delayMs, lastError } = payload as { attempt?: number; delayMs?: number; lastError?: JsonObject };
  const why = lastError === undefined ? '' : ` after ${oneLine(lastError.code)}: ${oneLine(lastError.message, 160)}`;
  return `attempt ${(attempt ?? 0) + 1} in ${span(delayMs ?? 0)}${why}`;
}
