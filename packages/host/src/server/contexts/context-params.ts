/** The context in a path, and the filters of the task view in a query. */
import {
  type ContextId,
  quoted,
  type TaskEventKind,
  TerminalError,
  type ThoughtType,
  taskEventKinds,
  thoughtTypes,
  verbosityLevels,
} from '@cairn/protocol';
import { z } from 'zod';
import { contextNotFound } from '../../engine/loading/run-loader.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import { everyTaskEvent, type TaskFilter } from '../../log/tasks/task-filter.ts';
import type { Caller } from '../access/auth.ts';
import { integerParam } from '../http/params.ts';
import { type Call, pathParam, queryParam } from '../http/routes.ts';

/** The context in the path, if the caller may see it. Any other one returns 404. */
export const visibleContext = (call: Call, contexts: Contexts): Promise<ContextId> =>
  contextNamed(pathParam(call, 'contextId'), call.caller, contexts);

export async function contextNamed(text: string, caller: Caller, contexts: Contexts): Promise<ContextId> {
  const contextId = wellFormedContext(text, caller);
  if ((await contexts.tenant(contextId)) !== caller.tenant) throw contextNotFound(contextId);
  return contextId;
}

/** For clients that name their contexts themselves: an unused one is the caller's, too. */
export async function contextOrNew(text: string, caller: Caller, contexts: Contexts): Promise<ContextId> {
  const contextId = wellFormedContext(text, caller);
  if (((await contexts.tenant(contextId)) ?? caller.tenant) !== caller.tenant) throw contextNotFound(contextId);
  return contextId;
}

function wellFormedContext(text: string, { grant }: Caller): ContextId {
  const contextId = text as ContextId;
  if (!wellFormed.test(text) || (grant !== undefined && grant.contextId !== contextId)) {
    throw contextNotFound(contextId);
  }
  return contextId;
}

const wellFormed = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

const list = (of: string) => z.string().optional().describe(`Comma-separated ${of}.`);
const flag = (value: '0' | '1', meaning: string) => z.literal(value).optional().describe(meaning);

/** Query parameters of live streams and of pages alike. */
export const filterQuery = {
  kinds: list('kinds of events; only these are shown'),
  excludeKinds: list('kinds of events that are not shown'),
  taskId: z.string().optional().describe('Only events of this task.'),
  subtree: flag('1', 'With `taskId`: also events of the tasks below it.'),
  subtasks: flag('0', 'Hides events of subtasks, except questions.'),
  thoughtTypes: list('types of thoughts; only these are shown'),
  verbosity: z.enum(verbosityLevels).optional().describe('The most detailed level of thoughts. Default: normal.'),
  minConfidence: z.coerce.number().min(0).max(1).optional().describe('Hides thoughts of which the agent is less sure.'),
  debug: flag('1', 'Shows what is for operators, to a caller with the scope `audit:read`.'),
} as const;

export function taskFilter(call: Call): TaskFilter {
  const ask = (name: keyof typeof filterQuery): string | undefined => queryParam(call, name);
  return {
    kinds: listed<TaskEventKind>(ask('kinds'), 'kinds', taskEventKinds),
    excludeKinds: listed<TaskEventKind>(ask('excludeKinds'), 'excludeKinds', taskEventKinds) ?? new Set(),
    taskId: ask('taskId') ?? null,
    subtree: switched(ask('subtree'), 'subtree', '1'),
    subtasks: !switched(ask('subtasks'), 'subtasks', '0'),
    thoughtTypes: listed<ThoughtType>(ask('thoughtTypes'), 'thoughtTypes', thoughtTypes),
    verbosity: oneOf(ask('verbosity') ?? everyTaskEvent.verbosity, 'verbosity', verbosityLevels),
    minConfidence: confidence(ask('minConfidence')),
    // Only an operator sees what is for operators, and only on request.
    debug: switched(ask('debug'), 'debug', '1') && call.caller.audience === undefined,
  };
}

/** The `after` of a query, or the client's last event, which wins; null when it gives neither. */
export function startOf(call: Call): number | 'latest' | null {
  const header = call.request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return cursorParam(header, 'Last-Event-ID');
  const after = queryParam(call, 'after');
  if (after === undefined) return null;
  return after === 'latest' ? 'latest' : cursorParam(after, 'after');
}

export const cursorParam = (text: string | undefined, name: string): number =>
  integerParam(text, { name, min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;

const unfit = (name: string, text: string, hint: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `${name} cannot be ${quoted(text, 60)}.`,
    hint,
    details: { parameter: name },
  });

function oneOf<Value extends string>(text: string, name: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === text);
  if (found === undefined) throw unfit(name, text, `Use one of ${values.join(', ')}.`);
  return found;
}

function listed<Value extends string>(
  text: string | undefined,
  name: string,
  values: readonly Value[],
): ReadonlySet<Value> | null {
  if (text === undefined) return null;
  return new Set(text.split(',').map((one) => oneOf(one.trim(), name, values)));
}

export function switched(text: string | undefined, name: string, on: '0' | '1'): boolean {
  if (text === undefined || text === (on === '1' ? '0' : '1')) return false;
  if (text !== on) throw unfit(name, text, 'Use 0 or 1.');
  return true;
}

function confidence(text: string | undefined): number | null {
  if (text === undefined) return null;
  // Programs compute it: 0.1 + 0.2 has 17 digits, and a small number an exponent.
  const share = /^\d{0,20}\.?\d{1,20}(e-?\d{1,3})?$/i.test(text) ? Number(text) : Number.NaN;
  if (!(share >= 0 && share <= 1)) throw unfit('minConfidence', text, 'Use a number from 0 to 1.');
  return Math.round(share * 1_000);
}
