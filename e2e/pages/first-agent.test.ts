/** Does what the guide to the first agent says, in its order: writes its files, types its commands, compares what they print. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../packages/host/src/server/config/config.ts';
import { guideBlocks, Reader, root } from './page-reader.ts';

const run = promisify(execFile);
const blocks = guideBlocks('first-agent.md');

test('the guide works as it is written', async () => {
  const reader = new Reader();
  onTestFinished(() => reader.leave());
  for (const block of blocks) await reader.follow(block);
  expect(blocks.filter(({ language }) => language === 'text')).toHaveLength(3);
}, 90_000);

test('the configuration of the guide is one', () => {
  const { text = '' } = blocks.find(({ file }) => file === 'cairn.json') ?? {};
  const config = parseConfig(JSON.parse(text), 'cairn.json', { CAIRN_KEY: 'a-key-for-this-guide' });
  expect(config.models.default).toBe('local/your-model');
});

test('the program of the guide has no type error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'desk.ts'), blocks.find(({ file }) => file === 'desk.ts')?.text ?? '');
  const config = {
    extends: join(root, 'tsconfig.check.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: ['desk.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json'], { cwd: folder }).catch(({ stdout }) =>
    expect.fail(String(stdout)),
  );
}, 60_000);
