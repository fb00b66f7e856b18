/** Parses numbers and ids from paths, queries and headers. Errors name the invalid parameter. */
import { parseRunId, quoted, type RunId, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { runNotFound } from '../../engine/loading/run-loader.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { runPurged } from '../../log/ports/run-purged.ts';
import type { Caller } from '../access/auth.ts';
import { type Call, pathParam, queryParam } from './routes.ts';

export interface IntegerRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** The integer value of a parameter, or undefined when it is absent. */
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

/** The query parameter of every view of a run that can show the past. */
export const atSeqQuery = z.coerce
  .number()
  .int()
  .min(0)
  .optional()
  .describe('Shows the run as it was after the event with this sequence.');

/** The `atSeq` of a request; undefined for the present. */
export const atSeqParam = (call: Call): number | undefined =>
  integerParam(queryParam(call, 'atSeq'), { name: 'atSeq', min: 0, max: Number.MAX_SAFE_INTEGER });

/** Throws for an event that the run does not have yet. */
export function requireEvent({ record: { runId }, seq }: RunHead, atSeq: number): void {
  if (atSeq <= seq) return;
  throw new TerminalError('validation_error', {
    message: `Run ${runId} has no event ${atSeq}; its last one is ${seq}.`,
    hint: `Use atSeq from 0 to ${seq}, or leave it out for the present.`,
    details: { parameter: 'atSeq', lastSequence: seq },
  });
}

/** The run in the path, if it belongs to the caller's tenant. Another tenant's run returns 404. */
export const visibleRun = (call: Call, log: EventLog): Promise<RunHead> =>
  runNamed(pathParam(call, 'runId'), call.caller, log);

/** The same for a run id from elsewhere. */
export async function runNamed(text: string, caller: Caller, log: EventLog): Promise<RunHead> {
  const runId = parseRunId(text);
  const head = runId === null ? null : await log.head(runId);
  if (head === null && runId !== null) throw (await purgedFor(runId, caller, log)) ?? runNotFound(text);
  if (head === null || head.record.tenant !== caller.tenant || !isGranted(head.record, caller)) throw runNotFound(text);
  return head;
}

/** Says that the run was purged, to those who could read it before. */
async function purgedFor(runId: RunId, caller: Caller, log: EventLog): Promise<TerminalError | null> {
  const purged = await log.purged(runId);
  return purged !== null && purged.tenant === caller.tenant && isGranted(purged, caller) ? runPurged(purged) : null;
}

/** A read token shows one run, or the runs of one context. */
const isGranted = ({ runId, contextId }: Pick<RunRecord, 'runId' | 'contextId'>, { grant }: Caller): boolean =>
  grant === undefined || grant.runId === runId || grant.contextId === contextId;

/** The run id in the path. An id with an invalid format returns 404. */
export function runIdParam(call: Call): RunId {
  const text = pathParam(call, 'runId');
  const runId = parseRunId(text);
  if (runId === null) throw runNotFound(text);
  return runId;
}
