/** A process that a test starts has the host of the sources, from the bundle of this test run. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quickStart } from './quick-start.ts';

const root = join(import.meta.dirname, '../../../..');

/** What a module of this checkout says in a process of its own. */
function said<Answer>(script: string): Answer {
  const args = ['--conditions=@cairn/source', '--input-type=module', '-e', `console.log(JSON.stringify(${script}))`];
  const answer: Answer = JSON.parse(
    execFileSync(process.execPath, args, { cwd: root, env: { ...quickStart }, encoding: 'utf8' }),
  );
  return answer;
}

test.each(['@cairn/protocol', '@cairn/client', '@cairn/client/context', '@cairn/host'])(
  '%s has all exports of its sources, from the bundle',
  async (name) => {
    const [url, names] = said<[string, string[]]>(
      `[import.meta.resolve('${name}'), Object.keys(await import('${name}'))]`,
    );
    expect(url).toContain('/node_modules/.cache/test-bundle/');
    expect(names.sort()).toEqual(Object.keys(await import(name)).sort());
  },
);

test('modules of the bundle are the same for all who import them', () => {
  const script = `(await import('@cairn/host')).TerminalError === (await import('@cairn/protocol')).TerminalError`;
  expect(said(script)).toBe(true);
});

test('what is no entry comes from the sources', () => {
  expect(said(`import.meta.resolve('./packages/host/src/lru-map.ts')`)).toMatch(/src\/lru-map\.ts$/);
});
