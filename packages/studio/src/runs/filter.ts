/** The filter of the run list: in the address as `?status=failed&tag=nightly`, in the box as the words of `cairn runs`. */

import type { RunFilter } from '@cairn/client';
import { type RunSnapshot, type RunStatus, runStatuses } from '@cairn/protocol';

export interface RunSearch {
  readonly status?: RunStatus;
  readonly workflow?: string;
  readonly tag?: string;
}

const isRunStatus = (value: unknown): value is RunStatus => runStatuses.some((status) => status === value);

/** What an address asks for. What it cannot mean is left out. */
export function parseSearch(search: Readonly<Record<string, unknown>>): RunSearch {
  const { status, workflow, tag } = search;
  return {
    ...(isRunStatus(status) && { status }),
    ...(isName(workflow) && { workflow: String(workflow) }),
    ...(isName(tag) && { tag: String(tag) }),
  };
}

/** The address of `?tag=7` holds a number. */
const isName = (value: unknown): boolean => (typeof value === 'string' && value !== '') || typeof value === 'number';

export const filterOf = ({ status, workflow, tag }: RunSearch): RunFilter => ({
  ...(status !== undefined && { status }),
  ...(workflow !== undefined && { workflowId: workflow }),
  ...(tag !== undefined && { tag }),
});

/** Whether a run is in the list of this filter, as the host would say. */
export const matches = ({ status, workflowId, tag }: RunFilter, run: RunSnapshot): boolean =>
  (status === undefined || run.status === status) &&
  (workflowId === undefined || run.workflowId === workflowId) &&
  (tag === undefined || (run.tags ?? []).includes(tag));

const names = ['status', 'workflow', 'tag'] as const;

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
    if (name === undefined) return { problem: `“${word}” is not a filter. Use status:, workflow: or tag:.` };
    if (value === '') return { problem: `${name}: needs a value, such as ${name}:${examples[name]}.` };
    if (search[name] !== undefined) return { problem: `${name}: occurs twice.` };
    if (name !== 'status') search[name] = value;
    else if (isRunStatus(value)) search.status = value;
    else return { problem: `There is no status ${value}. The statuses are ${runStatuses.join(', ')}.` };
  }
  return { search };
}

const examples = { status: 'failed', workflow: 'hello', tag: 'nightly' } as const;

/** The command that lists the same runs in a terminal. */
export const commandOf = (search: RunSearch): string => ['cairn runs', ...wordsOf(search).map(shellWord)].join(' ');

const shellWord = (word: string): string => (/^[\w.@:/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
