/** Parses the filters of `cairn runs`: `status:failed workflow:hello tag:nightly`. */
import type { RunFilter } from '@cairn/client';
import { type RunStatus, runStatuses } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { usageError } from './usage-error.ts';

/** The names of filters, and the fields of the request they set. */
const fields = new Map<string, 'status' | 'workflowId' | 'tag'>([
  ['status', 'status'],
  ['workflow', 'workflowId'],
  ['tag', 'tag'],
]);

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
  return filter;
}

const example = (name: string): string => (name === 'status' ? 'status:failed' : `${name}:hello`);

function unknownField(word: string, name: string): Error {
  if (name === '') {
    return usageError(`${JSON.stringify(word)} is not a filter.`, 'Use status:STATUS, workflow:ID or tag:TAG.');
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
