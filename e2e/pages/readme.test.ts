/** Runs what the README prints, as printed: the first commands a reader tries have to work. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const run = promisify(execFile);

function blocks(language: string): readonly string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');
}

let folder: string;
let host: ChildProcess;
let url: string;

/** A line of a block in the README, on the host of this test. */
const shell = async (command: string): Promise<string> =>
  (await run('sh', ['-c', command.replaceAll('http://127.0.0.1:4700', url)], { cwd: folder })).stdout;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-readme-'));
  const bin = join(root, 'packages/host/bin/cairn.mjs');
  const started = spawn(process.execPath, [bin, 'dev', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  host = started;
  const [line] = await new Promise<readonly string[]>((resolve, reject) => {
    createInterface(started.stdout).once('line', (first) => resolve([first]));
    started.once('close', (code) => reject(new Error(`The host ended with ${code} before it served.`)));
  });
  url = line?.replace('cairn ready ', '') ?? '';
});

afterAll(async () => {
  const ended = new Promise((resolve) => host.once('close', resolve));
  host.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

test('the host prints the ready line that the README shows', () => {
  const [shown] = blocks('text');
  expect(shown?.replace(':4700', '')).toBe(`cairn ready ${url.replace(/:\d+$/, '')}\n`);
});

test('the first curl starts a run, the next ones watch it to its end and read its result', async () => {
  const [create = '', follow = ''] = blocks('sh').filter((block) => block.startsWith('curl'));
  const { runId } = JSON.parse(await shell(create)) as { readonly runId: string };
  const [watch = '', read = ''] = follow.replaceAll('RUN_ID', runId).trim().split('\n');
  const events = await shell(watch);
  expect(events).toMatch(/^event: run\.started$/m);
  expect(events).toMatch(/^event: run\.completed$/m);
  expect(JSON.parse(await shell(read))).toMatchObject({ status: 'completed', variables: { greeting: 'Hello, Ada!' } });
});

test('the example in code prints what the README says', async () => {
  const [program = ''] = blocks('ts');
  const output = blocks('text').at(-1);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'example.ts'), program);
  const { stdout } = await run(process.execPath, ['--conditions=@cairn/source', 'example.ts'], { cwd: folder });
  expect(stdout).toBe(output);
});

test('every npm script that the pages name exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const pages = ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md'].map((page) =>
    readFileSync(join(root, page), 'utf8'),
  );
  const named = pages.flatMap((page) => [...page.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)]);
  expect(named.length).toBeGreaterThan(10);
  for (const [, script, short] of named) expect(Object.keys(scripts)).toContain(script ?? short);
});
