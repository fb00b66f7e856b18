/** Does what the guide to the first agent says, in its order: writes its files, types its commands, compares what they print. */
import { expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../packages/host/src/server/config/config.ts';
import { guideBlocks, Reader } from './page-reader.ts';

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
