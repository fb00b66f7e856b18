/** Sends the requests shown on a page to a host, in order, and checks the responses against the page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly status: number;
  readonly answer: unknown;
  readonly answerHeaders: Readonly<Record<string, string>>;
}

/** A page of `docs/reference`. */
export const referencePage = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../docs/reference', name), 'utf8');

/** Every `http` block of a page. */
export const exchangesOf = (page: string): readonly Exchange[] =>
  [...page.matchAll(/```http\n([\s\S]*?)```/g)].map(([, block]) => parse(block ?? ''));

/** Fields that later requests may reference, with the value from the last response that had the field. */
const remembered = ['runId', 'token', 'webhookId'] as const;

/**
 * A request with an empty `Authorization:` header is sent without a key. `known` holds names that no response provides.
 */
export async function holdTo(
  exchanges: readonly Exchange[],
  host: { readonly url: string | null },
  key: string,
  known: Readonly<Record<string, string>> = {},
) {
  const names: Record<string, string> = { ...known };
  const filled = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (all, name: string) => names[name] ?? all);
  for (const { method, path, headers, body, ...said } of exchanges) {
    const { Authorization = `Bearer ${key}`, ...rest } = headers;
    const response = await fetch(`${host.url}${filled(path)}`, {
      method,
      headers: {
        ...(Authorization === '' ? {} : { authorization: Authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...rest,
      },
      ...(body === undefined ? {} : { body: filled(body) }),
    });
    const text = await response.text();
    const where = `${method} ${path} ${body ?? ''}: ${text}`;
    expect(response.status, where).toBe(said.status);
    if (said.answer === undefined) expect(text).toBe('');
    else expect(JSON.parse(text), where).toEqual(pattern(said.answer));
    for (const [name, value] of Object.entries(said.answerHeaders)) expect(response.headers.get(name)).toBe(value);
    const answer: Readonly<Record<string, unknown>> = text === '' ? {} : JSON.parse(text);
    for (const name of remembered) if (typeof answer[name] === 'string') names[name] = answer[name];
  }
}

const headerOf = (line: string): readonly [string, string] => {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
};

function parse(block: string): Exchange {
  const lines = block.trim().split('\n');
  const [method = '', path = ''] = lines[0]?.split(' ') ?? [];
  const said = /^→ (\d{3})(?: (\{.*\}))?(?: ([a-z-]+: .*))?$/.exec(lines.at(-1) ?? '');
  if (said === null) throw new Error(`An exchange of the page has no answer: ${block}`);
  const between = lines.slice(1, -1);
  return {
    method,
    path,
    headers: Object.fromEntries(between.filter((line) => !line.startsWith('{')).map(headerOf)),
    body: between.find((line) => line.startsWith('{')),
    status: Number(said[1]),
    answer: said[2] === undefined ? undefined : JSON.parse(said[2]),
    answerHeaders: said[3] === undefined ? {} : Object.fromEntries([headerOf(said[3])]),
  };
}

/** Builds a matcher from a response on a page: `…` matches any text. */
const pattern = (value: unknown): unknown => {
  if (value === '…') return expect.stringMatching(/./);
  if (Array.isArray(value)) return value.map(pattern);
  if (typeof value !== 'object' || value === null) return value;
  return expect.objectContaining(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, pattern(one)])));
};
