/** Formats tool calls and their results, one line each. */
import { type Fields, fieldsOf, isFields } from './fields.ts';
import { oneLine, type Style, safe } from './style.ts';
import { span } from './time.ts';

/** The maximum length of an argument. */
const VALUE_LENGTH = 60;
const RESULT_LENGTH = 160;

export function toolCallText({ toolId, toolName, arguments: given, inputs }: Fields, style: Style): string {
  const name = style.bold(oneLine(toolId ?? toolName ?? '', VALUE_LENGTH));
  const input = given ?? inputs;
  if (input === undefined) return name;
  if (!isFields(input)) return `${name}  ${short(input)}`;
  const pairs = Object.entries(input).map(([key, value]) => `${style.dim(`${safe(key)}=`)}${short(value)}`);
  return [name, ...pairs].join('  ');
}

export function toolResultText(payload: Fields, style: Style): string {
  const { toolId, toolName, durationMs, status, error, result, outcome } = payload;
  const name = oneLine(toolId ?? toolName ?? '', VALUE_LENGTH);
  const took = typeof durationMs === 'number' ? `  ${span(durationMs)}` : '';
  if (error !== undefined && error !== null) {
    const { code, message } = fieldsOf(error);
    const word = status === 'forbidden' || status === 'rate_limited' ? status : oneLine(code ?? 'error', VALUE_LENGTH);
    return `${style.red('✗')} ${name}${style.dim(took)}  ${style.red(word)}: ${oneLine(message ?? '')}`;
  }
  const value = result ?? outcome ?? null;
  return `${style.green('←')} ${name}${style.dim(took)}  ${style.dim(oneLine(value, RESULT_LENGTH))}`;
}

/** Quotes a text with spaces, so that its end is visible. Line breaks appear as `\\n`. */
const short = (value: unknown): string =>
  oneLine(typeof value === 'string' && /\s/.test(value) ? JSON.stringify(value) : value, VALUE_LENGTH);
