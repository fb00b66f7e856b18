import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { typed } from './recording-terminal.kit.ts';

const verbs = (await typed(['--help'])).out.match(/^ {2}[a-z]+(?= )/gm)?.map((name) => name.trim()) ?? [];

/** What bash would offer for these words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await typed(['completion', 'bash']);
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const program = `${out}\nCOMP_WORDS=(${quoted})\nCOMP_CWORD=${words.length - 1}\n_cairn\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
}

test('bash completes verbs and the options of a verb', async () => {
  expect(await offered('cairn', 'r')).toEqual(['run', 'runs', 'resume']);
  expect(await offered('cairn', 'show', '--')).toEqual(['--url', '--key', '--as', '--json', '--at', '--help']);
  expect(await offered('cairn', 'pack', '')).toEqual(['init', 'lint', 'sign', 'verify', 'add', 'list', 'remove']);
  expect(await offered('cairn', 'pack', 'sign', '--k')).toEqual(['--key', '--key-id']);
  expect(await offered('cairn', 'nonsense', '--')).toEqual(['']);
});

test.each(['bash', 'zsh', 'fish'])('the script for %s knows every verb of the help', async (shell) => {
  const { code, out } = await typed(['completion', shell]);
  expect(code).toBeNull();
  expect(verbs.length).toBeGreaterThan(14);
  for (const verb of verbs) expect(out).toMatch(new RegExp(`\\b${verb}\\b`));
});

test('another shell is refused by name', async () => {
  const { code, err } = await typed(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(err).toContain('Allowed choices are bash, zsh, fish');
});
