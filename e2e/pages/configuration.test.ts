/** Keeps the configuration page true: it has a row for every key the host takes, and for no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCairnError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { scopes } from '../../packages/host/src/server/auth.ts';
import { parseConfig } from '../../packages/host/src/server/config.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/configuration.md'), 'utf8');

/** The cells of the table in the section with this heading, by the key in its first column. */
function rows(heading: string): ReadonlyMap<string, readonly string[]> {
  const section = page.slice(page.indexOf(`${heading}\n`)).split(/^##? /m)[1] ?? '';
  const lines = [...section.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)];
  return new Map(lines.map(([, key = '', rest = '']) => [key, rest.split('|').map((cell) => cell.trim())]));
}

/** The host says which keys it knows when it meets one that is like none of them. */
function known(config: unknown): readonly string[] {
  try {
    parseConfig(config, 'test');
  } catch (error) {
    if (isCairnError(error, 'config_invalid')) return error.hint?.match(/Known keys: (.*)\./)?.[1]?.split(', ') ?? [];
    throw error;
  }
  return [];
}

const unlike = { qqqqqqqqqqqqqqqqqqqqqqqq: 1 };

test.each([
  ['# Configuration', unlike],
  ['## Keys', { keys: [{ tenant: 'acme', key: 'sixteen-characters', ...unlike }] }],
  ['## Limits', { limits: unlike }],
])('%s lists exactly the keys that the host takes', (heading, config) => {
  const names = known(config);
  expect(names.length).toBeGreaterThan(0);
  expect([...rows(heading).keys()].sort()).toEqual([...names].sort());
});

test('the scopes are those a key can hold', () => {
  for (const scope of scopes) expect(page).toContain(`\`${scope}\``);
});

test('the example of the page is a configuration that the host takes', () => {
  const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const config = parseConfig(JSON.parse(example), 'page', { CAIRN_KEY: 'a-key-of-some-length' });
  expect(config.keys.map(({ tenant }) => tenant)).toEqual(['acme']);
});

test('the defaults in the tables are those of the host', () => {
  const { limits, ...config } = parseConfig({}, 'test');
  const defaults = { ...config, ...limits } as Readonly<Record<string, unknown>>;
  const told = [...rows('# Configuration'), ...rows('## Limits')];
  for (const [key, cells] of told) {
    const value = /^`(.+)`$/.exec(cells.at(-2) ?? '')?.[1];
    if (value !== undefined) expect(`${key}: ${String(defaults[key])}`).toBe(`${key}: ${value}`);
  }
});
