import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { foldSaid, nodeStarted, type Said, started, viewAfter } from './fold-kit.kit.ts';
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

test('a child costs the same however many others are open', () => {
  const looked = (open: number): number => {
    const view = viewAfter(started, nodeStarted('n'));
    let looks = 0;
    const count = () => {
      looks += 1;
      return undefined;
    };
    // Each look at the list, and each key that is listed, is counted.
    view.childRuns = new Proxy(view.childRuns, { get: (list, key) => count() ?? Reflect.get(list, key) });
    view.subtasks = new Proxy(view.subtasks, {
      getOwnPropertyDescriptor: (map, key) => count() ?? Reflect.getOwnPropertyDescriptor(map, key),
    });
    const rows = Array.from({ length: open }, (_, n) => dispatched(`r.${n}`));
    const last = [dispatched('r.last'), ended('r.last', 'completed'), ended('r.0', 'completed')];
    for (const row of rows) foldSaid(view, row);
    looks = 0;
    for (const row of last) foldSaid(view, row);
    return looks;
  };
  expect(looked(2_000)).toBe(looked(200));
});

test('the number of open children is right in a view that was copied, and after rows that come twice', () => {
  const view = viewAfter(started, nodeStarted('n'), dispatched('r.0'), dispatched('r.0'), dispatched('r.1'));
  const copy = structuredClone(view);
  for (const one of [view, copy]) {
    foldSaid(one, ended('r.1', 'completed'));
    foldSaid(one, ended('r.1', 'completed'));
    expect(one.taskStatus).toBe('waiting-subtask');
    foldSaid(one, ended('r.0', 'completed'));
    expect(one.taskStatus).toBe('working');
  }
});
