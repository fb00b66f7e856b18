/** Runs the programs of the client's pages against a host as `npm start` gives it. Their types are checked with the sources. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageCode } from '../../scripts/page-code.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const read = (path: string): string => readFileSync(join(root, 'docs', path), 'utf8');

const clientPage = read('reference/client.md');
const contextsPage = read('reference/client-contexts.md');
const programs = { 'client.ts': clientPage, 'contexts.ts': contextsPage };

let folder: string;
let host: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-client-pages-'));
  const started = spawn(process.execPath, [join(root, 'packages/host/bin/cairn.mjs'), 'dev', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  host = started;
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(started.stdout).on('line', (line) => {
      const found = /^cairn ready (http\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    started.once('close', (exit) => reject(new Error(`The host ended with ${exit} before it served.`)));
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [file, page] of Object.entries(programs)) {
    writeFileSync(join(folder, file), pageCode(page, 'ts').replaceAll('http://127.0.0.1:4700', url));
  }
});

afterAll(async () => {
  const ended = new Promise((resolve) => host.once('close', resolve));
  host.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

test.each(Object.entries(programs))('the program %s prints what its page says', async (file, page) => {
  const { stdout } = await run(process.execPath, ['--conditions=@cairn/source', file], { cwd: folder });
  expect(stdout).toBe(pageCode(page, 'text', ''));
});

test('every call of the client is on its page', async () => {
  const { createClient } = await import('@cairn/client');
  const client = createClient({ url: 'http://127.0.0.1:4700' });
  for (const [group, calls] of Object.entries(client)) {
    if (typeof calls === 'function') expect(clientPage).toContain(group);
    else
      for (const call of Object.keys(calls))
        expect(clientPage, `${group}.${call}`).toMatch(new RegExp(`\\.${call}\\b`));
  }
});

test('every call of a context is on its page', async () => {
  const { createClient } = await import('@cairn/client/context');
  const context = createClient({ url: 'http://127.0.0.1:4700' }).context('ctx_a');
  for (const call of [...Object.keys(context), ...Object.keys(context.artifacts)]) {
    expect(contextsPage, call).toMatch(new RegExp(`\\b${call}\\b`));
  }
});
