/** Types the commands of `docs/reference/verify.md` in order, and holds the page to what it says they print. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { sampleFolder } from '../../packages/host/src/log/sqlite/verify/damaged-folder.kit.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/verify.md'), 'utf8');

/** `…` is any text on the line. */
const pattern = (text: string): RegExp =>
  new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}$`);

test('every command of the page prints what the page says', async () => {
  const folder = await sampleFolder();
  writeFileSync(join(folder, 'host.key'), `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  const blocks = [...page.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);
  const steps = blocks.flatMap((block) => block.split(/^\$ cairn /m).slice(1));
  expect(steps.length).toBe(4);
  for (const step of steps) {
    const [command = '', ...printed] = step.trimEnd().split('\n');
    const { code, out } = await typed(command.split(' '), { cwd: folder, env: { CAIRN_DATA: folder } });
    expect([command, code, out.trimEnd()]).toEqual([command, 0, expect.stringMatching(pattern(printed.join('\n')))]);
  }
});
