/**
 * Builds the error for an invalid configuration: path, value (unless it may be secret), reason and nearest valid name.
 */
import { invariant, quoted, TerminalError } from '@cairn/protocol';
import type { z } from 'zod';
import { nearest } from '../../nearest.ts';
import { namesAt } from './walk.ts';

type Issue = z.core.$ZodIssue;

const PAGE = 'Every key and its values are listed in docs/reference/configuration.md.';

/** Picks one issue to report. A misspelt key comes first, because it usually causes the missing one. */
export function configInvalid(issues: readonly Issue[], source: string): TerminalError {
  const raised = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  invariant(raised !== undefined, 'config-issue-known', { source });
  const issue = meant(raised);
  const where = placeOf(issue.path);
  if (issue.code === 'unrecognized_keys') return unknownKey(issue, where, source);
  if (issue.code === 'invalid_key') return unusableName(issue, source);
  const value = shownValue(issue);
  const options = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const close = typeof issue.input === 'string' ? nearest(issue.input, options) : null;
  return new TerminalError('config_invalid', {
    message: `${source}: ${where || 'the configuration'}: ${value === null ? '' : `${value} `}${reasonOf(issue)}.`,
    hint: close === null ? PAGE : `Did you mean ${JSON.stringify(close)}?`,
  });
}

function unknownKey(issue: z.core.$ZodIssueUnrecognizedKeys, where: string, source: string): TerminalError {
  const wrong = issue.keys[0] ?? '';
  const names = namesAt(issue.path);
  const close = nearest(wrong, names);
  return new TerminalError('config_invalid', {
    message: `${source}: there is no key ${quoted(wrong, 60)}${where ? ` in ${where}` : ''}.`,
    hint: close === null ? `Known keys: ${names.join(', ')}.` : `Did you mean ${JSON.stringify(close)}?`,
  });
}

/** An invalid name that the user chose (of a secret, a provider, a header). */
function unusableName(issue: z.core.$ZodIssueInvalidKey, source: string): TerminalError {
  const name = String(issue.path.at(-1));
  const close = nearest(
    name,
    issue.issues.flatMap((inner) => ('values' in inner ? inner.values.map(String) : [])),
  );
  return new TerminalError('config_invalid', {
    message: `${source}: ${placeOf(issue.path.slice(0, -1))}: the name ${quoted(name, 60)} ${issue.issues[0] === undefined ? 'cannot be used' : reasonOf(issue.issues[0])}.`,
    hint: close === null ? PAGE : `Did you mean ${JSON.stringify(close)}?`,
  });
}

/** For a value with two forms: the issue of the form that the user wrote. */
function meant(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const used = issue.errors.find(
    ([first]) => first !== undefined && !(first.code === 'invalid_type' && first.path.length === 0),
  );
  const [inner] = used ?? [];
  return inner === undefined ? issue : meant({ ...inner, path: [...issue.path, ...inner.path] });
}

const placeOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (place, part) =>
      typeof part === 'number' ? `${place}[${part}]` : place === '' ? String(part) : `${place}.${String(part)}`,
    '',
  );

/** Values below these keys are secrets, or may be secrets in the wrong place. */
const SECRET = new Set<PropertyKey>(['keys', 'secrets', 'masterKey', 'headers', 'apiKey', 'store', 'storeListen']);

/** The refused value, if it is short and cannot be secret. A URL may contain a password under any key. */
function shownValue({ path, input }: Issue): string | null {
  const isSecret = path.some((part) => SECRET.has(part)) && path.at(-1) !== 'tenant' && path.at(-2) !== 'scopes';
  if (isSecret || path.length === 0) return null;
  if (typeof input === 'number' || typeof input === 'boolean') return String(input);
  return typeof input === 'string' && !input.includes('@') ? quoted(input, 60) : null;
}

function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is missing'
        : `must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'too_small':
      return `must ${measured(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${measured(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    default:
      return issue.message;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return kinds[typeof value] ?? typeof value;
}

function measured(origin: string, bound: string, amount: number): string {
  if (origin === 'string') return `have ${bound} ${amount} ${amount === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `have ${bound} ${amount} ${amount === 1 ? 'entry' : 'entries'}`;
  return `be ${bound} ${amount}`;
}
