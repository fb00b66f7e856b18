import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { hostHeapFlags } from '../../bin/heap.mjs';
import { quickStart } from '../../test/kit/quick-start.ts';

const bin = fileURLToPath(new URL('../../bin/cairn.mjs', import.meta.url));

interface Running {
  readonly process: ChildProcess;
  /** Resolves with stdout once it has a whole line. */
  readonly firstLine: Promise<string>;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'cairn-cli-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

function cairn(cwd: string, args: readonly string[], env: Record<string, string> = {}): Running {
  const running = started(cwd, args, env);
  onTestFinished(() => void running.process.kill('SIGKILL'));
  return running;
}

function started(cwd: string, args: readonly string[], env: Record<string, string> = {}): Running {
  const outer = { PATH: process.env.PATH ?? '', ...quickStart };
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { ...outer, ...env } });
  let out = '';
  let err = '';
  const line = Promise.withResolvers<string>();
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
    if (out.includes('\n')) line.resolve(out);
  });
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
  });
  const ended = once(child, 'close').then(([code]: (number | null)[]) => {
    line.reject(new Error(`cairn ended with ${code}: ${err}`));
    return { code: code ?? null, out, err };
  });
  line.promise.catch(() => undefined);
  return { process: child, firstLine: line.promise, ended };
}

/** The folder of a development host that several tests use. */
let served: string;
let dev: Running;

beforeAll(async () => {
  served = await mkdtemp(join(tmpdir(), 'cairn-cli-'));
  dev = started(served, ['dev', '--port', '0']);
  await dev.firstLine;
});

afterAll(async () => {
  dev.process.kill('SIGKILL');
  await dev.ended;
  await rm(served, { recursive: true, force: true });
});

test("help teaches with examples, and the version is the package's", async () => {
  const cwd = await folder();
  const help = await cairn(cwd, ['--help']).ended;
  expect(help).toMatchObject({ code: 0, err: '' });
  for (const word of ['cairn dev', 'cairn run hello --input name=Ada', 'Exit codes:']) expect(help.out).toContain(word);
  expect(await cairn(cwd, ['--version']).ended).toMatchObject({ code: 0, out: '0.0.0\n' });
});

test('dev prints one ready line, serves with the key it made, and stops cleanly at Ctrl-C', async () => {
  const cwd = await folder();
  const host = cairn(cwd, ['dev', '--port', '0']);
  const line = await host.firstLine;
  expect(line).toMatch(/^cairn ready http:\/\/127\.0\.0\.1:\d+\n$/);
  const url = line.trim().split(' ')[2] ?? '';
  const file = join(cwd, '.cairn', 'key');
  const key = (await readFile(file, 'utf8')).trim();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = '{"workflowId":"hello","inputs":{"name":"Ada"}}';
  const created = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  expect(created.status).toBe(201);
  const { eventsUrl, statusUrl }: Record<string, string> = await created.json();
  await (await fetch(url + eventsUrl, { headers: { ...headers, accept: 'text/event-stream' } })).text();
  const run = await (await fetch(url + statusUrl, { headers })).json();
  expect(run).toMatchObject({ status: 'completed', variables: { greeting: 'Hello, Ada!' } });
  const args = execFileSync('ps', ['-o', 'args=', '-p', `${host.process.pid}`], { encoding: 'utf8' });
  for (const flag of hostHeapFlags) expect(args).toContain(flag);
  host.process.kill('SIGINT');
  const { code, out, err } = await host.ended;
  expect([code, out]).toEqual([0, line]);
  expect(err).toContain(`key      in ${join('.cairn', 'key')}`);
  expect(err).not.toContain(key);
  expect(existsSync(join(cwd, '.cairn', 'host.json'))).toBe(false);

  const again = cairn(cwd, ['dev', '--port', '0']);
  await again.firstLine;
  expect((await readFile(file, 'utf8')).trim()).toBe(key);
  again.process.kill('SIGTERM');
  expect((await again.ended).code).toBe(0);
});

test('dev takes an edited workflow under the same version', async () => {
  for (const delayMs of [1, 2]) {
    await writeFile(join(served, 'nap.json'), JSON.stringify(nap(delayMs)));
    const added = await cairn(served, ['workflows', '--add', 'nap.json']).ended;
    expect(added).toMatchObject({ code: 0, out: 'nap 1 is registered\n' });
  }
  const shown = await cairn(served, ['workflows', 'nap', '--json']).ended;
  expect(JSON.parse(shown.out)).toEqual(nap(2));
});

const nap = (delayMs: number) => ({
  id: 'nap',
  name: 'Nap',
  version: '1',
  nodes: [{ id: 'n', typeId: 'core.delay', name: 'n', position: { x: 0, y: 0 }, config: { delayMs }, inputs: {} }],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
});

test('the other verbs find the host of dev from below its folder, and end with the code of the run', async () => {
  const below = join(served, 'below');
  await mkdir(below);
  const run = await cairn(below, ['run', 'hello', '--input', 'name=Ada']).ended;
  expect([run.code, JSON.parse(run.out)]).toEqual([0, { value: 'Hello, Ada!' }]);
  const waiting = await cairn(below, ['run', 'review']).ended;
  expect([waiting.code, waiting.out]).toEqual([5, '']);
});

test('who has read enough of the output ends the command quietly', async () => {
  const runId = (await cairn(served, ['run', 'review', '--detach']).ended).out.trim();
  const tail = cairn(served, ['tail', runId]);
  await tail.firstLine;
  tail.process.stdout?.destroy();
  await cairn(served, ['answer', runId, 'accept']).ended;
  expect(await tail.ended).toMatchObject({ code: 0, err: '' });
});

test('Ctrl-C ends a run that is watched with 130, and leaves it running', async () => {
  const runId = (await cairn(served, ['run', 'review', '--detach']).ended).out.trim();
  const tail = cairn(served, ['tail', runId]);
  await tail.firstLine;
  tail.process.kill('SIGINT');
  expect((await tail.ended).code).toBe(130);
});

test('every verb has help with an example', async () => {
  const cwd = await folder();
  const help = (await cairn(cwd, ['--help']).ended).out;
  const verbs = help.match(/^ {2}[a-z]+(?= )/gm)?.map((name) => name.trim()) ?? [];
  const { typed } = await import('./recording-terminal.kit.ts');
  expect(verbs).toContain('verify');
  for (const verb of verbs) {
    if (['cairn'].includes(verb)) continue;
    const { code, out } = await typed([verb, '--help']);
    expect([verb, code]).toEqual([verb, 0]);
    expect(out).toMatch(/Examples:\n {2}\S/);
  }
});

test('start serves what the file and the environment say', async () => {
  const cwd = await folder();
  await writeFile(join(cwd, 'cairn.json'), '{"port":0,"data":"db","keys":[{"keyEnv":"KEY","tenant":"t"}]}');
  const host = cairn(cwd, ['start'], { KEY: 'a-key-of-16-characters' });
  const url = (await host.firstLine).trim().split(' ')[2] ?? '';
  const reply = await fetch(`${url}/v1/runs`, { headers: { authorization: 'Bearer a-key-of-16-characters' } });
  expect(await reply.json()).toEqual({ runs: [], nextCursor: null });
  expect((await stat(join(cwd, 'db'))).isDirectory()).toBe(true);
  host.process.kill('SIGTERM');
  expect((await host.ended).code).toBe(0);
});

test.each([
  ['a misspelt command', ['strat'], 2, 'Did you mean start?'],
  ['a port that is none', ['dev', '--port', 'http'], 2, 'from 0 to 65535'],
  ['a configuration that is not there', ['start', '--config', 'missing.json'], 2, 'missing.json cannot be read'],
  ['a wrong key', ['start', '--config', 'wrong.json'], 2, 'Did you mean "port"?'],
  ['a configuration without keys', ['start', '--config', 'empty.json'], 2, 'has no keys'],
])('refuses %s with its exit code, on stderr', async (_name, args, code, message) => {
  const cwd = await folder();
  await writeFile(join(cwd, 'wrong.json'), '{"prot":1}');
  await writeFile(join(cwd, 'empty.json'), '{"port":0}');
  const ended = await cairn(cwd, args).ended;
  expect([ended.code, ended.out]).toEqual([code, '']);
  expect(ended.err).toContain(message);
  expect(ended.err).not.toContain('    at ');
});

test('refuses a data folder that another process uses', async () => {
  const second = await cairn(served, ['dev', '--port', '0']).ended;
  expect(second.code).toBe(1);
  expect(second.err).toContain('in use by another process');
});
