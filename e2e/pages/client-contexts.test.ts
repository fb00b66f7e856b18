/** Type-checks the code of the page on conversations and of its guide, and runs the program of the page against a host as `npm start` gives it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/client-contexts.md'), 'utf8');
const run = promisify(execFile);

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');

/** The code of the guide; a browser test uses it. */
const guide = [
  ...readFileSync(join(root, 'docs/guides/chat-front-end.md'), 'utf8').matchAll(/```tsx chat\.tsx\n([\s\S]*?)```/g),
].map(([, code]) => code);

let folder: string;
let host: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-contexts-page-'));
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
    started.once('close', (code) => reject(new Error(`The host ended with ${code} before it served.`)));
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'example.ts'), blocks('ts').join('\n').replaceAll('http://127.0.0.1:4700', url));
  writeFileSync(join(folder, 'hooks.tsx'), blocks('tsx').join('\n'));
  writeFileSync(join(folder, 'guide.tsx'), guide.join('\n'));
  const config = {
    extends: join(root, 'tsconfig.check.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: ['example.ts', 'hooks.tsx', 'guide.tsx'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
});

afterAll(async () => {
  const ended = new Promise((resolve) => host.once('close', resolve));
  host.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

test('the code of the page and of the guide has no type error', async () => {
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json'], { cwd: folder }).catch(({ stdout }) =>
    expect.fail(String(stdout)),
  );
}, 60_000);

test('the program of the page prints what the page says', async () => {
  const { stdout } = await run(process.execPath, ['--conditions=@cairn/source', 'example.ts'], { cwd: folder });
  expect(stdout).toBe(blocks('text').join(''));
});

test('every call of a context is on the page', async () => {
  const { createClient } = await import('@cairn/client/context');
  const context = createClient({ url: 'http://127.0.0.1:4700' }).context('ctx_a');
  for (const call of [...Object.keys(context), ...Object.keys(context.artifacts)]) {
    expect(page, call).toMatch(new RegExp(`\\b${call}\\b`));
  }
});
