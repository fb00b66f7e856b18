import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { asks, nodeStarted, type Said, viewAfter } from './fold-kit.kit.ts';

const forked = (more: JsonObject = {}, gapMs = 0): Said => [
  'cairn.run.forked',
  { sourceRunId: 'run_a', fromSeq: 1, mode: 'branch', ...more },
  gapMs,
];

const start: Said = [
  'run.started',
  {
    workflowId: 'wf',
    contextId: 'ctx_a',
    inputs: { a: 1, b: 2 },
    variables: { c: 3 },
    configurable: { model: 'm', temperature: 1 },
    metadata: { m: 1 },
    tags: ['old'],
    toolScopes: ['tool:x'],
  },
];

test('a branch has the state of its source and what its overlay changes', () => {
  const overlay = { inputs: { a: 9 }, configurable: { model: 'n' }, metadata: { k: 2 }, tags: ['new'] };
  expect(viewAfter(start, forked({ contextId: 'ctx_b', toolScopes: [], overlay }))).toMatchObject({
    status: 'running',
    contextId: 'ctx_b',
    inputs: { a: 9, b: 2 },
    variables: { a: 9, b: 2, c: 3 },
    configurable: { model: 'n', temperature: 1 },
    metadata: { m: 1, k: 2 },
    tags: ['new'],
    toolScopes: [],
  });
});

test.each([
  ['paused', ['run.paused', {}] as Said],
  ['being cancelled', ['cairn.cancel.requested', {}] as Said],
])('a branch of a run that was %s goes on', (_, held) => {
  expect(viewAfter(start, held, forked()).status).toBe('running');
});

test('a question that is open at the cut has as much time left as it had there', () => {
  const view = viewAfter(start, nodeStarted('n'), ...asks('n', 'i', { timeoutMs: 1_000 }), forked({}, 60_000));
  const open = view.interrupts.i;
  expect(open?.expiresAt).toBe((open?.requestedAt ?? 0) + 61_000);
  expect(view.status).toBe('waiting-approval');
});

test('children that were forked with the run have their new ids', () => {
  const dispatched: Said = ['node.dispatched', { childRunId: 'run_a.0', childWorkflowId: 'c', childStatus: 'running' }];
  const ended: Said = ['node.dispatched', { childRunId: 'run_a.1', childWorkflowId: 'c', childStatus: 'running' }];
  const view = viewAfter(start, dispatched, ended, forked({ children: { 'run_a.0': 'run_b.0' } }));
  expect(view.childRuns.map(({ runId }) => runId)).toEqual(['run_b.0', 'run_a.1']);
});
