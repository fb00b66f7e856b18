import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { RunHead } from '../../log/ports/event-log.ts';
import { fork1, forkOf } from '../../log/ports/fork-samples.kit.ts';
import { creation, row, runA, runB } from '../../log/ports/samples.kit.ts';
import { lastSharedSeq } from './shared-rows.ts';

test.each([1, 37, 100])('a fork at %i shares the rows before its cut, found with a few reads', async (fromSeq) => {
  const { log } = inMemoryStore();
  await log.append(creation(runA, { rows: Array.from({ length: 100 }, () => row('source')) }));
  await log.fork(forkOf(runA, fromSeq));
  await log.append({ runId: fork1, rows: Array.from({ length: 50 }, () => row('own')) });
  let reads = 0;
  const read = log.read.bind(log);
  log.read = (range) => {
    reads += 1;
    return read(range);
  };
  const head = async (runId: RunId): Promise<RunHead> => present(await log.head(runId));
  expect(await lastSharedSeq(log, await head(runA), await head(fork1))).toBe(fromSeq - 1);
  expect(await lastSharedSeq(log, await head(fork1), await head(runA))).toBe(fromSeq - 1);
  expect(reads).toBeLessThanOrEqual(4 * 8);
});

test('runs that began apart share nothing, although their rows are equal', async () => {
  const { log } = inMemoryStore();
  await log.append(creation(runA));
  await log.append(creation(runB));
  const heads = [present(await log.head(runA)), present(await log.head(runB))] as const;
  expect(await lastSharedSeq(log, ...heads)).toBe(-1);
});
