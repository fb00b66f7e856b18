/** Does what the guide to the first workflow says, from an empty folder: init, edit, dev, votes, kill -9, answer, test. */
import { expect, onTestFinished, test } from 'vitest';
import { guideBlocks, Reader } from './page-reader.ts';

const MAX_LINES = 80;

const blocks = guideBlocks('first-workflow.md');
const code = blocks.filter(({ language }) => language === 'ts');
const commands = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.trim().split('\n'));

test('the guide works as it is written', async () => {
  const reader = new Reader();
  onTestFinished(() => reader.leave());
  for (const block of blocks) await reader.follow(block);
  expect(blocks.filter(({ language }) => language === 'text')).toHaveLength(4);
}, 120_000);

test('a new user writes at most 80 lines of code', () => {
  const lines = code.flatMap(({ text }) => text.trimEnd().split('\n'));
  expect(code.map(({ file }) => file)).toEqual(['app.ts', 'app.test.ts']);
  expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
});

test('the path has everything it promises', () => {
  const text = code.map((block) => block.text).join('');
  for (const part of ['ask({', 'requiredApprovals: 2', 'core.subWorkflow', 'defineAgent('])
    expect(text).toContain(part);
  const order = [
    'npx cairn init ~/refunds',
    'npm run dev',
    '--as ada',
    '--as ben',
    'kill -9',
    'npm run dev',
    '"the parcel',
  ];
  let from = -1;
  for (const command of order) {
    const at = commands.findIndex((line, index) => index > from && line.includes(command));
    expect(at, command).toBeGreaterThan(from);
    from = at;
  }
});
