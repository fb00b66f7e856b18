import type { RunSnapshot } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { conversationsOf } from './conversations.ts';

const run = (title: string, fields: Partial<RunSnapshot> = {}): RunSnapshot => ({
  runId: 'run_1',
  workflowId: 'agent-run-host-desk',
  contextId: 'ctx_a',
  status: 'completed',
  startedAt: '2026-01-01T00:00:00.000Z',
  summary: { title, agents: ['host:desk'], tokens: { input: 1, output: 1 }, usd: 0 },
  ...fields,
});

test('a conversation has the status of its newest message and the words of its oldest', () => {
  const found = conversationsOf([
    run('And now?', { status: 'running', startedAt: '2026-01-03T00:00:00.000Z' }),
    run('Another.', { contextId: 'ctx_b' }),
    run('Hello?'),
  ]);
  expect(found).toEqual([
    { contextId: 'ctx_a', title: 'Hello?', agent: 'desk', status: 'running', at: '2026-01-03T00:00:00.000Z' },
    expect.objectContaining({ contextId: 'ctx_b', title: 'Another.' }),
  ]);
});

test('workflows, child runs and runs without a context are no conversations', () => {
  const { contextId: _, ...nowhere } = run('');
  expect(conversationsOf([run('', { workflowId: 'hello' }), run('', { parentRunId: 'run_0' }), nowhere])).toEqual([]);
});
