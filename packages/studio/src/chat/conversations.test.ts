import type { RunSnapshot } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { conversationsOf } from './conversations.ts';

const run = (fields: Partial<RunSnapshot>): RunSnapshot => ({
  runId: 'run_1',
  workflowId: 'agent-run-host-desk',
  contextId: 'ctx_a',
  status: 'completed',
  startedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});

test('a conversation has the status of its newest message and begins with its oldest', () => {
  const found = conversationsOf([
    run({ runId: 'run_3', status: 'running', startedAt: '2026-01-03T00:00:00.000Z' }),
    run({ runId: 'run_2', contextId: 'ctx_b' }),
    run({ runId: 'run_1' }),
  ]);
  expect(found).toEqual([
    {
      contextId: 'ctx_a',
      firstRunId: 'run_1',
      workflowId: 'agent-run-host-desk',
      status: 'running',
      at: '2026-01-03T00:00:00.000Z',
    },
    expect.objectContaining({ contextId: 'ctx_b', firstRunId: 'run_2' }),
  ]);
});

test('workflows, child runs and runs without a context are no conversations', () => {
  const { contextId: _, ...nowhere } = run({});
  expect(conversationsOf([run({ workflowId: 'hello' }), run({ parentRunId: 'run_0' }), nowhere])).toEqual([]);
});
