/** Parses the filters of `cairn runs`: `status:failed workflow:hello tag:nightly`, or `parent:RUN`. */
import type { RunFilter } from '@cairn/client';
import { type RunStatus, runStatuses } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { usageError } from './usage-error.ts';

/** The names of filters, and the fields of the request they set. */
const fields = new Map<string, 'status' | 'workflowId' | 'tag' | 'parentRunId'>([
  ['status', 'status'],
  ['workflow', 'workflowId'],
  ['tag', 'tag'],
  ['parent', 'parentRunId'],
]);

/** Without a filter, the runs that others started are folded away. `parent:any` shows them too. */
const ROOTS: RunFilter = { parentRunId: 'none' };

export function parseRunsQuery(words: readonly string[]): RunFilter {
  const filter: { -readonly [Field in keyof RunFilter]: RunFilter[Field] } = {};
  for (const word of words) {
    const at = word.indexOf(':');
    const name = word.slice(0, Math.max(at, 0));
    const value = word.slice(at + 1);
    const field = fields.get(name);
    if (field === undefined) throw unknownField(word, name);
    if (value === '') throw usageError(`${word} has no value after the colon.`, `Use for example ${example(name)}.`);
    if (filter[field] !== undefined) throw usageError(`The filter ${name} occurs twice.`, 'Use each filter once.');
    if (field === 'status') filter.status = parseStatus(value);
    else filter[field] = value;
  }
  return words.length === 0 ? ROOTS : familyOf(filter);
}

function familyOf({ parentRunId, ...others }: RunFilter): RunFilter {
  if (parentRunId === undefined) return others;
  const [other] = [...fields].filter(([, field]) => field !== 'parentRunId' && others[field] !== undefined);
  if (other !== undefined) {
    throw usageError(
      `The filters parent and ${other[0]} cannot be combined.`,
      `Leave out one of them. ${other[0]}: finds child runs too.`,
    );
  }
  return parentRunId === 'any' ? {} : { parentRunId };
}

const example = (name: string): string => ({ status: 'status:failed', parent: 'parent:any' })[name] ?? `${name}:hello`;

function unknownField(word: string, name: string): Error {
  if (name === '') {
    return usageError(
      `${JSON.stringify(word)} is not a filter.`,
      'Use status:STATUS, workflow:ID, tag:TAG or parent:RUN.',
    );
  }
  const close = nearest(name, [...fields.keys()]);
  return usageError(
    `There is no filter ${JSON.stringify(name)}.`,
    close === null ? `The filters are ${[...fields.keys()].join(', ')}.` : `Did you mean ${close}?`,
  );
}

function parseStatus(value: string): RunStatus {
  const status = runStatuses.find((known) => known === value);
  if (status !== undefined) return status;
  const close = nearest(value, runStatuses);
  throw usageError(
    `There is no run status ${JSON.stringify(value)}.`,
    close === null ? `The statuses are ${runStatuses.join(', ')}.` : `Did you mean ${close}?`,
  );
}
