/** `cairn diff` against a real host. */
import { expect, test } from 'vitest';
import { widthOf } from './render/table.ts';
import { servedCli } from './served-cli.kit.ts';

async function twoSums(inputs: readonly [string, string]) {
  const { cairn } = await servedCli();
  const ids: string[] = [];
  for (const n of inputs) ids.push(JSON.parse((await cairn(['run', 'sum', '-i', `n=${n}`, '--json'])).out).runId);
  return { cairn, a: ids[0] ?? '', b: ids[1] ?? '' };
}

test('diff names the first divergence, what differs and the totals, and exits with 1', async () => {
  const { cairn, a, b } = await twoSums(['1', '2']);
  const { code, out } = await cairn(['diff', a, b]);
  expect(code).toBe(1);
  expect(out).toContain(`✓ a  ${a}  completed`);
  expect(out).toMatch(/^first divergence\n {2}a at event 0: run\.started\n {2}b at event 0: run\.started$/m);
  expect(out).toMatch(/^ {4}inputs\.n\n {6}- 1\n {6}\+ 2$/m);
  expect(out).toMatch(/^decisions {2}\d+ differ, \d+ are the same$/m);
  expect(out).toMatch(/^totals\n +A +B +CHANGE\n {2}events +\d+ +\d+$/m);
});

test('diff of equal runs says so and exits with 0', async () => {
  const { cairn, a, b } = await twoSums(['1', '1']);
  const { code, out } = await cairn(['diff', a, b]);
  expect([code, out.includes('The runs did the same.')]).toEqual([0, true]);
});

test('diff --json is the answer of the host, and lines keep to the screen', async () => {
  const { cairn, a, b } = await twoSums(['1', '2']);
  const { out } = await cairn(['diff', a, 'last', '--json', '--limit', '1']);
  expect(JSON.parse(out)).toMatchObject({ a, b, divergedAtSeq: 0, stateDiff: { inputs: [{ path: 'n', a: 1, b: 2 }] } });
  const narrow = await cairn(['diff', a, b], { columns: 40 });
  for (const line of narrow.out.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(40);
});

test('diff refuses what is no run', async () => {
  const { cairn, a } = await twoSums(['1', '2']);
  expect((await cairn(['diff', a, 'run_none'])).code).toBe(3);
  expect((await cairn(['diff', a])).code).toBe(2);
});
