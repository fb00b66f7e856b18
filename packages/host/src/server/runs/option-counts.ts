/** Refuses options of a run that are too many before anything reads them, because all that reads them takes its time for each. */
import { TerminalError } from '@cairn/protocol';

/** More than 8 kB of metadata can hold, and more than there are options. */
const MAX_KEYS = 2_000;

/** Throws `validation_error`. The body is not parsed yet. */
export function refuseManyOptions(body: unknown): void {
  for (const field of ['configurable', 'configurable.ai', 'metadata']) {
    const value = field.split('.').reduce(memberOf, body);
    const keys = isObject(value) ? Object.keys(value).length : 0;
    if (keys > MAX_KEYS) throw tooMany(field, keys);
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? Reflect.get(value, name) : undefined);

const tooMany = (field: string, keys: number): TerminalError =>
  new TerminalError('validation_error', {
    message: `${field} has ${keys} keys; at most ${MAX_KEYS} are allowed.`,
    hint: 'Pass what the nodes work on as inputs.',
    details: { field, maxKeys: MAX_KEYS },
  });
