import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventTypes } from '@cairn/protocol';
import { expect, test } from 'vitest';

const isOfAgents = (type: string): boolean => type.startsWith('agent.') || type.startsWith('cairn.model.');
const types = eventTypes.filter(isOfAgents);
const folder = import.meta.dirname;
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !/\.(test|kit|contract)\.ts$/.test(path),
);

test('the engine names no row of agents: drivers and the catalogue say what a row is', () => {
  expect(types.length).toBeGreaterThan(8);
  expect(sources.length).toBeGreaterThan(100);
  const named = sources.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8');
    return types.filter((type) => text.includes(`'${type}'`)).map((type) => `${path} names ${type}`);
  });
  expect(named).toEqual([]);
});
