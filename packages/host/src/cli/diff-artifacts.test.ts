/** The artifacts of two runs in `cairn diff`, against a real host. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Desk, type DeskWork, deskKeys } from '../server/artifacts/desk.kit.ts';
import { typed } from './recording-terminal.kit.ts';
import { widthOf } from './render/table.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

const writes =
  (name: string, content: string | Uint8Array): DeskWork =>
  async ({ file }) => {
    const open = file(name);
    await open.write(content);
    await open.close();
    return null;
  };

async function diff(a: DeskWork, b: DeskWork, ...more: readonly string[]) {
  const [one, other] = [await desk.ran(a), await desk.ran(b)];
  const env = { CAIRN_URL: desk.url, CAIRN_KEY: deskKeys.ann };
  return typed(['diff', one.runId, other.runId, ...more], { env, columns: 100 });
}

test('a changed artifact is shown as a table of both versions and its changed lines', async () => {
  const { code, out } = await diff(writes('report.md', 'one\ntwo\n'), writes('report.md', 'one\n2'));
  expect(code).toBe(1);
  const page = out.slice(out.indexOf('artifacts  '), out.indexOf('\ntotals'));
  expect(
    page
      .replaceAll(/[0-9a-f]{12}$/gm, 'HASH')
      .trimEnd()
      .split('\n'),
  ).toEqual([
    'artifacts  1 differ, 0 are the same',
    '  ~ report.md',
    '         VERSION  SIZE     TYPE           SHA256',
    '      a  1        8 bytes  text/markdown  HASH',
    '      b  1        5 bytes  text/markdown  HASH',
    '      @@ -1,2 +1,2 @@',
    '        one',
    '      - two',
    '      + 2',
    '      \\ no line break at the end',
  ]);
});

test('binary content says only its size and hash; what an artifact holds cannot control the terminal', async () => {
  const binary = await diff(writes('x.bin', Buffer.from([0, 1])), writes('x.bin', Buffer.from([0, 2])));
  expect(binary.out).toContain('binary content: compared by its hash');
  const control = '\u001b]0;owned\u0007\u001b[2J';
  const hostile = await diff(writes('a', 'x\n'), writes('a', `${control}\r\n`));
  expect(hostile.out).toContain('\\u001b]0;owned');
  expect(hostile.out).not.toContain('\u001b');
  for (const line of hostile.out.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(100);
});

test('--json has the artifacts as data', async () => {
  const { out } = await diff(writes('a.txt', 'x\n'), writes('b.txt', 'x\n'), '--json');
  expect(JSON.parse(out).stateDiff.cairn.artifacts).toMatchObject({
    changed: 2,
    entries: [
      { key: 'a.txt', op: 'removed' },
      { key: 'b.txt', op: 'added' },
    ],
  });
});
