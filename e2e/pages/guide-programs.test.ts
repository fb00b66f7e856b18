/** The guides that consist of one program: it prints what the guide shows. All run in one process, which is quicker. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quickStart } from '../../packages/host/test/kit/quick-start.ts';
import { guideBlocks } from './page-reader.ts';

const root = join(import.meta.dirname, '../..');
const guides = ['tool', 'human-in-the-loop', 'sign-in', 'artifacts', 'cross-host', 'embed'] as const;

/** Imports each program, after a line with its name. A program ends when everything it waits for is done. */
const runner = "for (const file of process.argv.slice(1)) { console.log('\\0' + file); await import(file); }";

const programs = guides.map((guide) => {
  const blocks = guideBlocks(`${guide}.md`);
  const program = blocks.find(({ language, file }) => language === 'ts' && file !== undefined);
  return {
    guide,
    file: program?.file ?? '',
    text: program?.text ?? '',
    command: blocks.find(({ language }) => language === 'sh')?.text.trim(),
    shown: blocks.find(({ language }) => language === 'text')?.text,
  };
});

const printed = new Map<string, string>();
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-guides-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const { file, text } of programs) writeFileSync(join(folder, file), text);
  const files = programs.map(({ file }) => join(folder, file));
  const args = ['--conditions=@cairn/source', '--input-type=module', '-e', runner, ...files];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...quickStart },
  });
  for (const part of stdout.split('\0').slice(1)) {
    const end = part.indexOf('\n');
    printed.set(part.slice(folder.length + 1, end), part.slice(end + 1));
  }
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(programs)('the program of the guide $guide prints what the guide shows', ({ file, command, shown }) => {
  expect(command).toBe(`npx node --conditions=@cairn/source ${file}`);
  expect(printed.get(file)).toBe(shown);
});
