/** Sends the requests of `docs/reference/runs.md` to a host, in order, and holds the page to what it says is answered. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { createHost } from '../../packages/host/src/index.ts';
import { memoryStore } from '../../packages/host/src/log/memory.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/runs.md'), 'utf8');

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly status: number;
  readonly answer: unknown;
  readonly answerHeaders: Readonly<Record<string, string>>;
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

/** As the page writes an answer: `…` is any text. */
const pattern = (value: unknown): unknown => {
  if (value === '…') return expect.stringMatching(/./);
  if (Array.isArray(value)) return value.map(pattern);
  if (typeof value !== 'object' || value === null) return value;
  return expect.objectContaining(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, pattern(one)])));
};

const slow: WorkflowDefinition = {
  id: 'slow',
  name: 'slow',
  version: '1',
  nodes: [
    {
      id: 'wait',
      typeId: 'core.delay',
      name: 'wait',
      position: { x: 0, y: 0 },
      config: { delayMs: 3_600_000 },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

test('every exchange of the page is answered as it says', async () => {
  const key = 'key-of-the-page-01';
  await using host = await createHost({
    config: { port: 0, keys: [{ key, tenant: 't' }] },
    store: memoryStore(),
    workflows: [slow],
    report: () => undefined,
  });
  const exchanges = [...page.matchAll(/```http\n([\s\S]*?)```/g)].map(([, block]) => parse(block ?? ''));
  expect(exchanges.length).toBeGreaterThan(10);
  let runId = '';
  for (const { method, path, headers, body, ...said } of exchanges) {
    const response = await fetch(`${host.url}${path.replace('{runId}', runId)}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body.replace('{runId}', runId) }),
    });
    const text = await response.text();
    const where = `${method} ${path} ${body ?? ''}: ${text}`;
    expect(response.status, where).toBe(said.status);
    if (said.answer === undefined) expect(text).toBe('');
    else expect(JSON.parse(text), where).toEqual(pattern(said.answer));
    for (const [name, value] of Object.entries(said.answerHeaders)) expect(response.headers.get(name)).toBe(value);
    runId = (text === '' ? undefined : (JSON.parse(text) as { runId?: string }).runId) ?? runId;
  }
});
