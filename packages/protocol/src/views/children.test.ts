import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { nodeStarted, type Said, started, viewAfter } from './fold-kit.kit.ts';
import { runSnapshot } from './snapshot.ts';

const dispatched = (childRunId: string): Said => [
  'node.dispatched',
  { childRunId, childWorkflowId: 'kid', childStatus: 'running' },
];

const ended = (childRunId: string, status: string): Said => [
  'cairn.step.returned',
  { nodeId: 'n', callId: childRunId, attempt: 1, childRunId, outcome: { status, variables: {} } },
];

test('runs that were started are shown with how they ended, once each', () => {
  const view = viewAfter(
    started,
    nodeStarted('n'),
    dispatched('r.0'),
    dispatched('r.1'),
    dispatched('r.1'),
    ended('r.0', 'failed'),
  );
  expect(runSnapshot(view).childRuns).toEqual([
    { runId: 'r.0', workflowId: 'kid', status: 'failed' },
    { runId: 'r.1', workflowId: 'kid', status: 'running' },
  ]);
});

test('of many the oldest that have ended are no longer shown, and all that go on are', () => {
  const rows = [
    dispatched('r.0'),
    ...Array.from({ length: 150 }, (_, n) => n + 1).flatMap((n) => {
      const id = `r.${n}`;
      return [dispatched(id), ended(id, 'completed')];
    }),
  ];
  const { childRuns } = viewAfter(started, nodeStarted('n'), ...rows);
  expect(childRuns).toHaveLength(100);
  expect(childRuns[0]).toMatchObject({ runId: 'r.0', status: 'running' });
  expect(childRuns.at(-1)).toMatchObject({ runId: 'r.150' });
});

test('a run that has ended before it is told that it began has ended', () => {
  const view = viewAfter(started, nodeStarted('n'), ended('r.0', 'completed'), dispatched('r.0'));
  expect(view.childRuns).toEqual([{ runId: 'r.0', workflowId: 'kid', status: 'completed' }]);
});

test('a row of a step that is no child, or of a child that never came to be, changes nothing', () => {
  const step: Said = ['cairn.step.returned', { nodeId: 'n', callId: 'n#0', attempt: 1, outcome: { status: 'failed' } }];
  const never: Said = [
    'cairn.step.returned',
    { nodeId: 'n', callId: 'c', attempt: 1, childRunId: 'r.9', error: { code: 'not_found', message: 'no' } },
  ];
  const view = viewAfter(started, nodeStarted('n'), dispatched('r.0'), step, never);
  expect(view.childRuns).toMatchObject([{ runId: 'r.0', status: 'running' }]);
});

test('the first supervisor is that of the run for good', () => {
  const supervisor = (nodeId: string, agent?: JsonObject): Said => [
    'node.started',
    { nodeId, typeId: 'core.orchestrator.supervisor', ...(agent === undefined ? {} : { agent }) },
  ];
  const named = viewAfter(
    started,
    supervisor('a', { agentId: 'core.x.boss' }),
    supervisor('b', { agentId: 'core.x.other' }),
  );
  expect(runSnapshot(named).runOrchestrator).toEqual({ agentId: 'core.x.boss' });
  expect(viewAfter(started, supervisor('a')).runOrchestrator).toEqual({ agentId: 'host:orchestrator:a' });
  expect(runSnapshot(viewAfter(started, nodeStarted('n')))).not.toHaveProperty('runOrchestrator');
});
