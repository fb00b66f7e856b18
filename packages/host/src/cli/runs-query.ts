/** The readable filter of `cairn runs`: `status:failed workflow:hello tag:nightly`. */
import type { RunFilter } from '@cairn/client';
import { type RunStatus, runStatuses } from '@cairn/protocol';
import { nearest } from '../server/nearest.ts';
import { usageError } from './usage-error.ts';

const fields = { status: 'status', workflow: 'workflowId', tag: 'tag' } as const;

export function parseRunsQuery(words: readonly string[]): RunFilter {
  const filter: { -readonly [Field in keyof RunFilter]: RunFilter[Field] } = {};
  for (const word of words) {
    const at = word.indexOf(':');
    const name = word.slice(0, Math.max(at, 0));
    const value = word.slice(at + 1);
    const field = Object.hasOwn(fields, name) ? fields[name as keyof typeof fields] : undefined;
    if (field === undefined) throw unknownField(word, name);
    if (value === '') throw usageError(`${word} has nothing after the colon.`, `Write for example ${example(name)}.`);
    if (filter[field] !== undefined) throw usageError(`${name} is given twice.`, 'Give each filter once.');
    if (field === 'status') filter.status = parseStatus(value);
    else filter[field] = value;
  }
  return filter;
}

const example = (name: string): string => (name === 'status' ? 'status:failed' : `${name}:hello`);

function unknownField(word: string, name: string): Error {
  if (name === '') {
    return usageError(`${JSON.stringify(word)} is not a filter.`, 'Write status:STATUS, workflow:ID or tag:TAG.');
  }
  const close = nearest(name, Object.keys(fields));
  return usageError(
    `There is no filter ${JSON.stringify(name)}.`,
    close === null ? `There are ${Object.keys(fields).join(', ')}.` : `Did you mean ${close}?`,
  );
}

function parseStatus(value: string): RunStatus {
  const status = runStatuses.find((known) => known === value);
  if (status !== undefined) return status;
  const close = nearest(value, runStatuses);
  throw usageError(
    `There is no run status ${JSON.stringify(value)}.`,
    close === null ? `There are ${runStatuses.join(', ')}.` : `Did you mean ${close}?`,
  );
}
