/** Numbers and ids out of paths, queries and headers: each refused by name when it is not what the wire says. */
import { parseRunId, quoted, type RunId, TerminalError } from '@cairn/protocol';
import { runNotFound } from '../../engine/stepping/run-loader.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Caller } from '../access/auth.ts';
import { type Call, pathParam } from './routes.ts';

export interface IntegerRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** The integer a parameter holds, or undefined when it was not given. */
export function integerParam(text: string | undefined, rule: IntegerRule): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= rule.min && value <= rule.max) return value;
  const range = rule.max === Number.MAX_SAFE_INTEGER ? `of at least ${rule.min}` : `from ${rule.min} to ${rule.max}`;
  throw new TerminalError('validation_error', {
    message: `${rule.name} must be an integer ${range}, not ${quoted(text, 60)}.`,
    details: { parameter: rule.name },
  });
}

/** The run a path names, if it exists and is the caller's; a foreign run looks like one that never was. */
export const visibleRun = (call: Call, log: EventLog): Promise<RunHead> =>
  runNamed(pathParam(call, 'runId'), call.caller, log);

/** The same for a run that is named elsewhere. */
export async function runNamed(text: string, caller: Caller, log: EventLog): Promise<RunHead> {
  const runId = parseRunId(text);
  const head = runId === null ? null : await log.head(runId);
  if (head === null || head.record.tenant !== caller.tenant) throw runNotFound(text);
  return head;
}

/** The run id in the path; one that no run can have is simply not found. */
export function runIdParam(call: Call): RunId {
  const text = pathParam(call, 'runId');
  const runId = parseRunId(text);
  if (runId === null) throw runNotFound(text);
  return runId;
}
