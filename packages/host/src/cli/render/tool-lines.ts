/** Calls of tools on one line each: what went in, what came out. */
import type { Json, JsonObject } from '@cairn/protocol';
import { oneLine, type Style, safe } from './style.ts';
import { span } from './time.ts';

/** How much of one value is shown. */
const VALUE_LENGTH = 60;
const RESULT_LENGTH = 160;

export function toolCallText({ toolId, toolName, arguments: given, inputs }: JsonObject, style: Style): string {
  const name = style.bold(oneLine(toolId ?? toolName ?? '', VALUE_LENGTH));
  const input = given ?? inputs;
  if (input === undefined) return name;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return `${name}  ${short(input)}`;
  const pairs = Object.entries(input).map(([key, value]) => `${style.dim(`${safe(key)}=`)}${short(value)}`);
  return [name, ...pairs].join('  ');
}

export function toolResultText(payload: JsonObject, style: Style): string {
  const { toolId, toolName, durationMs, status, error, result, outcome } = payload;
  const name = oneLine(toolId ?? toolName ?? '', VALUE_LENGTH);
  const took = typeof durationMs === 'number' ? `  ${span(durationMs)}` : '';
  if (error !== undefined && error !== null) {
    const { code, message } = error as JsonObject;
    const word = status === 'forbidden' || status === 'rate_limited' ? status : oneLine(code ?? 'error', VALUE_LENGTH);
    return `${style.red('✗')} ${name}${style.dim(took)}  ${style.red(word)}: ${oneLine(message ?? '', RESULT_LENGTH)}`;
  }
  const value = result ?? outcome ?? null;
  return `${style.green('←')} ${name}${style.dim(took)}  ${style.dim(oneLine(value, RESULT_LENGTH))}`;
}

/** A text of several words is quoted, so that it is seen where it ends; its line breaks are `\\n`. */
const short = (value: Json): string =>
  oneLine(typeof value === 'string' && /\s/.test(value) ? JSON.stringify(value) : value, VALUE_LENGTH);
