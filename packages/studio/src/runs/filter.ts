/** The filter of the run list: in the address as `?status=failed&tag=nightly`, in the box as the words of `cairn runs`. */

import type { RunFilter } from '@cairn/client';
import { type RunSnapshot, type RunStatus, runStatuses } from '@cairn/protocol';

export interface RunSearch {
  readonly status?: RunStatus;
  readonly workflow?: string;
  readonly tag?: string;
  /** The runs of this parent; `any` for all runs, `none` for those without one. Never together with another filter. */
  readonly parent?: string;
}

const isRunStatus = (value: unknown): value is RunStatus => runStatuses.some((status) => status === value);

/** What an address asks for. What it cannot mean is left out. */
export function parseSearch(search: Readonly<Record<string, unknown>>): RunSearch {
  const { status, workflow, tag, parent } = search;
  const filters = {
    ...(isRunStatus(status) && { status }),
    ...(isName(workflow) && { workflow: String(workflow) }),
    ...(isName(tag) && { tag: String(tag) }),
  };
  if (Object.keys(filters).length > 0) return filters;
  return isName(parent) ? { parent: String(parent) } : {};
}

/** The address of `?tag=7` holds a number. */
const isName = (value: unknown): boolean => (typeof value === 'string' && value !== '') || typeof value === 'number';

/** Without a filter, the runs that others started are folded into their rows. A filter finds them too. */
export function filterOf({ status, workflow, tag, parent }: RunSearch): RunFilter {
  const filters = {
    ...(status !== undefined && { status }),
    ...(workflow !== undefined && { workflowId: workflow }),
    ...(tag !== undefined && { tag }),
  };
  if (Object.keys(filters).length > 0 || parent === 'any') return filters;
  return { parentRunId: parent ?? 'none' };
}

/** Whether the list holds only runs without a parent, so that rows unfold. */
export const isFolded = (search: RunSearch): boolean => filterOf(search).parentRunId === 'none';

/** Whether a run is in the list of this filter, as the host would say. */
export const matches = ({ status, workflowId, tag, parentRunId }: RunFilter, run: RunSnapshot): boolean =>
  (parentRunId === undefined || (run.parentRunId ?? 'none') === parentRunId) &&
  (status === undefined || run.status === status) &&
  (workflowId === undefined || run.workflowId === workflowId) &&
  (tag === undefined || (run.tags ?? []).includes(tag));

const names = ['status', 'workflow', 'tag', 'parent'] as const;

/** As `cairn runs` takes it. */
export const wordsOf = (search: RunSearch): readonly string[] =>
  names.flatMap((name) => (search[name] === undefined ? [] : [`${name}:${search[name]}`]));

export type Parsed = { readonly search: RunSearch } | { readonly problem: string };

/** What somebody typed into the box. */
export function parseWords(typed: string): Parsed {
  const search: { -readonly [Name in keyof RunSearch]: RunSearch[Name] } = {};
  for (const word of typed.trim().split(/\s+/).filter(Boolean)) {
    const at = word.indexOf(':');
    const name = names.find((known) => known === word.slice(0, Math.max(at, 0)));
    const value = word.slice(at + 1);
    if (name === undefined) return { problem: `“${word}” is not a filter. Use status:, workflow:, tag: or parent:.` };
    if (value === '') return { problem: `${name}: needs a value, such as ${name}:${examples[name]}.` };
    if (search[name] !== undefined) return { problem: `${name}: occurs twice.` };
    if (name !== 'status') search[name] = value;
    else if (isRunStatus(value)) search.status = value;
    else return { problem: `There is no status ${value}. The statuses are ${runStatuses.join(', ')}.` };
  }
  const [other] = Object.keys(search).filter((name) => name !== 'parent');
  if (search.parent !== undefined && other !== undefined)
    return { problem: `parent: and ${other}: cannot be combined. ${other}: finds child runs too.` };
  return { search };
}

const examples = { status: 'failed', workflow: 'hello', tag: 'nightly', parent: 'any' } as const;

/** The command that lists the same runs in a terminal. */
export const commandOf = (search: RunSearch): string => ['npx cairn runs', ...wordsOf(search).map(shellWord)].join(' ');

const shellWord = (word: string): string => (/^[\w.@:/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
