import type { Runs } from '@cairn/client';
import type { RunSnapshot } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { checkAll, checkRun } from './check-chains.ts';

const last = async <Item>(items: AsyncIterable<Item>): Promise<Item | undefined> => {
  let found: Item | undefined;
  for await (const item of items) found = item;
  return found;
};

/** Two pages a run; the first event of `run_b` is damaged. */
const calls: Pick<Runs, 'chain' | 'all'> = {
  async *all() {
    for (const runId of ['run_a', 'run_b']) yield { runId, workflowId: 'w', status: 'completed' } as RunSnapshot;
  },
  chain: async (runId, { after } = {}) => ({
    runId,
    checked: 2,
    retired: 1,
    problems: runId === 'run_b' && after === undefined ? [{ sequence: 0, message: 'changed' }] : [],
    hash: '',
    next: after === undefined ? 1 : null,
  }),
};

test('a run is checked to its end, page by page', async () => {
  const { signal } = new AbortController();
  expect(await last(checkRun(calls, 'run_a', signal))).toEqual({
    runs: 1,
    events: 4,
    retired: 2,
    problems: [],
    isComplete: true,
  });
});

test('all runs are checked, and damage names its run', async () => {
  const { signal } = new AbortController();
  expect(await last(checkAll(calls, signal))).toEqual({
    runs: 2,
    events: 8,
    retired: 4,
    problems: [{ runId: 'run_b', sequence: 0, message: 'changed' }],
    isComplete: true,
  });
});
