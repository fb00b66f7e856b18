import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { defineAgent } from '../agents/define-agent.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { typed } from './recording-terminal.kit.ts';
import { servedCli } from './served-cli.kit.ts';

const desk = defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Do it.' });

const verbs = (await typed(['--help'])).out.match(/^ {2}[a-z]+(?= )/gm)?.map((name) => name.trim()) ?? [];

/** What bash would offer for these words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await typed(['completion', 'bash']);
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const program = `${out}\nCOMP_WORDS=(${quoted})\nCOMP_CWORD=${words.length - 1}\n_cairn\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
}

test('bash completes verbs and the options of a verb', async () => {
  const withR = ['run', 'runs', 'resume', 'retention', 'retry', 'replay', 'restore'];
  expect(await offered('cairn', 'r')).toEqual(withR);
  expect(await offered('cairn', 'show', '--')).toEqual(['--url', '--key', '--as', '--json', '--at', '--help']);
  expect(await offered('cairn', 'pack', '')).toEqual(['init', 'lint', 'sign', 'verify', 'add', 'list', 'remove']);
  expect(await offered('cairn', 'pack', 'sign', '--k')).toEqual(['--key', '--key-id']);
  expect(await offered('cairn', 'nonsense', '--')).toEqual(['']);
});

test('bash completes the runs, workflows and agents of the host, and error codes', async () => {
  const { cairn, detached } = await servedCli(inMemoryStore(), { agents: [desk] });
  const runId = await detached('slow');
  const { out: script } = await typed(['completion', 'bash']);
  /** A `cairn` in the shell that answers with what the real command prints for these words. */
  const offers = async (...words: readonly string[]) => {
    const kinds = new RegExp(`^ {4}${words[1]}\\) .* words='(\\S*)' ;;$`, 'm').exec(script)?.[1] ?? '';
    const { out, err } = await cairn(['completion', 'bash', '--words', kinds]);
    expect(err).toBe('');
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const program = `cairn() { cat <<'END'\n${out}\nEND\n}\n${script}\nCOMP_WORDS=(${quoted})\nCOMP_CWORD=2\n_cairn\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
  };
  for (const verb of [
    'show',
    'tail',
    'answer',
    'cancel',
    'pause',
    'resume',
    'verify',
    'export',
    'diff',
    'checkpoint',
  ]) {
    expect(await offers('cairn', verb, 'run_')).toEqual([runId]);
    expect(await offers('cairn', verb, 'la')).toEqual(['last']);
  }
  expect(await offers('cairn', 'run', 'two')).toEqual(['two-gates']);
  expect(await offers('cairn', 'run', 'host')).toEqual(['host:desk']);
  expect(await offers('cairn', 'workflows', 'hel')).toEqual(['hello']);
  expect(await offers('cairn', 'agents', 'host')).toEqual(['host:desk']);
  expect(await offers('cairn', 'nodes', 'core.de')).toEqual(['core.delay']);
  expect(await offers('cairn', 'explain', 'interrupt_exp')).toEqual(['interrupt_expired']);
});

test('completion is silent without a host, and passes on no word that a shell would expand', async () => {
  expect(await typed(['completion', 'bash', '--words', 'run'])).toEqual({ code: 0, out: '', err: '' });
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ runs: [{ runId: '$(touch /tmp/x)' }, { runId: 'run_\u001b[2J' }, { runId: 'run_ok' }] }),
    );
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { CAIRN_URL: `http://127.0.0.1:${port}`, CAIRN_KEY: 'a-key-of-somebody' };
  expect((await typed(['completion', 'zsh', '--words', 'run'], { env })).out).toBe('run_ok\nlast');
});

test('zsh and fish ask the host for the same words', async () => {
  const zsh = (await typed(['completion', 'zsh'])).out;
  expect(zsh).toContain('show) _arguments');
  expect(zsh).toContain("'2:run:{compadd -- $(cairn completion zsh --words run 2>/dev/null)}'");
  expect(zsh).toContain('--words workflow\\|agent ');
  const fish = (await typed(['completion', 'fish'])).out;
  expect(fish).toContain(`from show' -a "(cairn completion fish --words 'run' 2>/dev/null)"`);
  expect(fish).toContain("--words 'workflow|agent'");
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
