/** How figures, times and events read. */
import { isJsonObject, type Json } from '@cairn/protocol';
import type { RunRow } from '../folds/run-row.ts';
import { shortAgent } from '../parts/figures.ts';

/** `840 ms`, `3.2 s`, `4 m 10 s`, `2 h 5 m`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

export function clock(at: number): string {
  const date = new Date(at);
  const two = (value: number, width = 2) => String(value).padStart(width, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  return value < 1_048_576 ? `${(value / 1_024).toFixed(1)} KB` : `${(value / 1_048_576).toFixed(1)} MB`;
}

/** A value in one line. Of an object, its fields, which read better than JSON. */
export function brief(value: unknown, most = 140): string {
  const text =
    typeof value === 'string' ? value : isFields(value) ? fieldsIn(value, most) : (JSON.stringify(value) ?? '');
  const line = text.slice(0, most * 2).replaceAll(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `path: notes.md, bytes: 12`. As many fields as the line has room for. */
function fieldsIn(value: Readonly<Record<string, unknown>>, most: number): string {
  let line = '';
  for (const [name, field] of Object.entries(value)) {
    const text = typeof field === 'string' ? field.slice(0, most * 2) : (JSON.stringify(field) ?? '');
    line += `${line === '' ? '' : ', '}${name}: ${text}`;
    if (line.length > most) break;
  }
  return line;
}

/** What was answered: the action of an approval, or the answers; else the value as it is. */
export function answerWords(answer: Json): string {
  if (answer === true || answer === false) return answer ? 'yes' : 'no';
  if (!isJsonObject(answer)) return brief(answer, 300);
  const { action, comment, feedback, answers } = answer;
  if (typeof action === 'string')
    return [action, comment ?? feedback].filter((part) => typeof part === 'string').join(': ');
  // The only question of a form needs no name.
  const [only, ...more] = isJsonObject(answers) ? Object.values(answers) : [];
  return only !== undefined && more.length === 0 ? answerWords(only) : brief(answers ?? answer, 300);
}

/** JSON with line breaks, cut where it is too long to show. */
export function pretty(value: unknown, most = 60_000): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} more characters` : text;
}

/** What a row says, in one line. */
export function summary(row: RunRow): string {
  switch (row.type) {
    case 'output.chunk':
      return row.payload.chunk === '' && row.payload.isLast ? 'end of the text' : brief(row.payload.chunk);
    case 'agent.reasoning.delta':
      return brief(row.payload.delta);
    case 'agent.reasoned':
      return brief(row.payload.reasoning);
    case 'agent.toolCalled':
      return `${row.payload.toolName} ${brief(row.payload.inputs ?? {}, 100)}`;
    case 'agent.toolReturned':
      return `${row.payload.toolName} ${row.payload.error === undefined ? brief(row.payload.outcome ?? {}, 100) : row.payload.error.code}`;
    case 'agent.invocation.started':
    case 'agent.promptResolved':
      return shortAgent(row.payload.agentId ?? '');
    case 'agent.invocation.completed':
      return `${shortAgent(row.payload.agentId)}: ${row.payload.outcome}`;
    case 'agent.handoff':
      return `to ${shortAgent(row.payload.toAgentId)}`;
    case 'agent.decided':
      return brief(row.payload.decision);
    case 'run.started':
      return brief(row.payload.inputs ?? row.payload.workflowId ?? {});
    case 'run.completed':
    case 'node.completed':
      return brief(row.payload.outputs ?? {});
    case 'cairn.model.returned':
      return brief(row.payload.turn ?? {});
    case 'node.started':
      return row.payload.typeId;
    case 'node.failed':
    case 'run.failed':
      return `${row.payload.error.code}: ${brief(row.payload.error.message)}`;
    case 'provider.usage':
      return `${row.payload.model}: ${row.payload.inputTokens} in, ${row.payload.outputTokens} out`;
    case 'cairn.task.status':
      return row.payload.status;
    case 'cairn.model.requested':
      return row.payload.model ?? '';
    case 'variable.changed':
      return `${row.payload.name} = ${brief(row.payload.next ?? null, 100)}`;
    case 'interrupt.requested':
      return row.payload.kind;
    default:
      return brief(row.payload, 120);
  }
}
