/** Keeps the page of the command line true: it is what a newcomer sees who types every verb against a real host. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cairnCommand } from '../../packages/host/src/cli/program.ts';
import type { Terminal } from '../../packages/host/src/cli/terminal.ts';
import { cliPage } from './cli-page.ts';
import { sections } from './cli-sections.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/cli.md'), 'utf8');

test('the page is fresh (npm run docs:cli)', async () => {
  expect(page).toBe(await cliPage());
  // It starts three hosts, one after the other, which takes long on a busy machine.
}, 60_000);

test('the page has every verb there is', () => {
  const verbs = cairnCommand({ version: '0', env: {} } as Terminal).commands.map((command) => command.name());
  expect(sections.map(({ verb }) => verb).sort()).toEqual(verbs.sort());
});
