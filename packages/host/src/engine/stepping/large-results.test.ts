import { expect, test } from 'vitest';
import { bench, chain, heldStep } from '../../../test/kit/engine-bench.ts';
import { bodySize } from '../../log/ports/rows.ts';

test('large results that come at once are written in appends of bounded size, each once', async () => {
  const { store, node, begin, seen, types } = bench();
  const held = heldStep('work');
  const sizes: number[] = [];
  const engine = node('a', [held.step]);
  const fan = chain('core.parallel', ...Array.from({ length: 20 }, () => 'local.step.work'));
  const edges = fan.edges.map((edge) => ({ ...edge, sourceNodeId: 'n1' }));
  const runId = await begin(engine, { ...fan, edges });
  await held.called(20);
  store.log.follow(({ rows }) => sizes.push(rows.reduce((sum, row) => sum + bodySize(row), 0)));
  for (const call of held.calls) call.resolve({ text: 'x'.repeat(200_000) });
  // The parallel node has completed before.
  await seen(runId, 'node.completed', 21);
  const written = await types(runId);
  expect(written.filter((type) => type === 'node.completed')).toHaveLength(21);
  expect(written.filter((type) => type === 'cairn.step.returned')).toHaveLength(20);
  // Half a mebibyte, and one result with what follows from it.
  expect(Math.max(...sizes)).toBeLessThan(524_288 + 900_000);
  expect(sizes.length).toBeGreaterThan(5);
});
