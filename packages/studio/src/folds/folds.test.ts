import type { Json } from '@cairn/protocol';
import { typedEvent } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { CauseIndex } from './cause-index.ts';
import { causeTree } from './cause-layout.ts';
import type { ConversationItem } from './conversation/items.ts';
import { recordedRows } from './recorded-rows.kit.ts';
import { RunFold } from './run-fold.ts';
import { positionOf, type RunRow, rowOf } from './run-row.ts';

const foldOf = (rows: readonly RunRow[]): RunFold => {
  const fold = new RunFold();
  for (const row of rows) fold.take(row);
  return fold;
};

const itemsOf = <Kind extends ConversationItem['kind']>(fold: RunFold, kind: Kind) =>
  [...fold.conversation.items].filter((item): item is Extract<ConversationItem, { kind: Kind }> => item.kind === kind);

let next = 0;
const event = (type: string, payload: Json, nodeId?: string): RunRow => {
  next += 1;
  return typedEvent({ seq: next, at: next * 1_000, type, nodeId, cause: undefined, payload });
};

describe('the conversation', () => {
  test('has the texts, thoughts and tool calls of an agent, each once and whole', () => {
    const fold = foldOf(recordedRows('agent-with-tools'));
    expect(itemsOf(fold, 'text').map(({ text, isDone, agentId }) => [text, isDone, agentId])).toEqual([
      ['I roll.', true, 'host:player'],
      ['I rolled ; that is all.', true, 'host:player'],
    ]);
    expect(itemsOf(fold, 'thought').map(({ text }) => text)).toEqual([
      'Two dice, and one that is none.',
      'Done rolling.',
    ]);
    expect(itemsOf(fold, 'tool').map(({ status, tool }) => [status, tool])).toEqual([
      ['ok', 'acme.dice:roll'],
      ['ok', 'acme.dice:roll'],
      ['failed', 'acme.dice:roll'],
    ]);
  });

  test('shows a question until it is answered, and then by whom', () => {
    const rows = recordedRows('newsroom');
    const asked = rows.findIndex(({ type }) => type === 'interrupt.requested');
    const open = foldOf(rows.slice(0, asked + 1));
    expect(itemsOf(open, 'question')).toMatchObject([{ status: 'open', of: 'approval' }]);
    expect(open.totals.status).toBe('waiting-approval');
    const end = foldOf(rows);
    expect(itemsOf(end, 'question')).toMatchObject([{ status: 'answered', answeredBy: 'ann' }]);
    expect(end.totals.status).toBe('completed');
  });

  test('lists child runs with their ends, also for a reader without operator rows', () => {
    for (const audience of ['operator', 'client'] as const) {
      const fold = foldOf(recordedRows('newsroom', audience));
      expect(itemsOf(fold, 'child')).toMatchObject([{ childRunId: 'run_newsroom-0002.0', status: 'completed' }]);
    }
  });

  test('has what each step got and gave, and what the run returned', () => {
    const fold = foldOf([
      event('node.started', { nodeId: 'n', typeId: 'core.add', inputs: { a: 1 } }, 'n'),
      event('node.completed', { nodeId: 'n', outputs: { sum: 2 } }, 'n'),
      event('run.completed', { outputs: { total: 2 } }),
    ]);
    expect(itemsOf(fold, 'step')).toMatchObject([{ status: 'completed', inputs: { a: 1 }, outputs: { sum: 2 } }]);
    expect(itemsOf(fold, 'notice')).toMatchObject([{ title: 'Run completed', result: { total: 2 } }]);
  });

  test('drops the text of an attempt that was abandoned', () => {
    const chunk = (text: string, isLast = false) =>
      event('output.chunk', { nodeId: 'n', runId: 'run_a', chunk: text, isLast, channel: 'call_1' }, 'n');
    const fold = foldOf([
      chunk('Half a'),
      event('cairn.model.abandoned', { nodeId: 'n', callId: 'call_1', attempt: 1 }, 'n'),
      chunk('A whole one.'),
      chunk('', true),
    ]);
    expect(itemsOf(fold, 'text')).toMatchObject([{ text: 'A whole one.', attempts: 2, isDone: true }]);
    // After a stop, or in a fork, no other attempt writes there.
    fold.take(event('cairn.model.abandoned', { nodeId: 'n', callId: 'call_1', attempt: 2 }, 'n'));
    expect(itemsOf(fold, 'text')).toMatchObject([{ text: '', attempts: 3, isDone: true }]);
  });

  test('shows the progress of a call, and forgets it when the call is entered again', () => {
    const called = (attempt: number) =>
      event('agent.toolCalled', { agentId: 'a', toolName: 't', callId: 'c', attempt, rule: 'toolAllowlist: t' });
    const fold = foldOf([called(1), event('cairn.tool.progress', { callId: 'c', progress: 0.5, message: 'half' })]);
    expect(itemsOf(fold, 'tool')).toMatchObject([{ progress: { message: 'half' }, rule: 'toolAllowlist: t' }]);
    fold.take(called(2));
    expect(itemsOf(fold, 'tool')).toMatchObject([{ progress: null, attempts: 2, status: 'running' }]);
  });

  test('counts what an artifact has so far', () => {
    const piece = (index: number, complete: boolean) =>
      event('cairn.artifact.chunk', { artifactId: 'a', version: 2, index, complete, name: 'a.md', bytes: 10 });
    const fold = foldOf([piece(0, false), piece(1, true)]);
    expect(itemsOf(fold, 'artifact')).toMatchObject([{ name: 'a.md', version: 2, size: 20, isComplete: true }]);
  });
});

describe('the timeline', () => {
  test('has a lane for the workflow, for each agent and for each child run', () => {
    const { timeline } = foldOf(recordedRows('newsroom'));
    expect(timeline.lanes.map(({ kind, name }) => [kind, name])).toEqual([
      ['agent', 'host:editor'],
      ['workflow', 'workflow'],
      ['child', 'run_newsroom-0002.0'],
      ['agent', 'host:writer'],
    ]);
    const waits = [...timeline.spans].filter(({ kind }) => kind === 'waiting');
    expect(waits.map(({ label, startAt, endAt }) => [label, (endAt ?? 0) - startAt])).toEqual([
      ['approval', 1_000],
      ['delay', 2_000],
    ]);
  });

  test('puts calls at the same time into rows of their own, and uses a row again', () => {
    const called = (callId: string) => event('agent.toolCalled', { agentId: 'a', toolName: 't', callId });
    const returned = (callId: string) => event('agent.toolReturned', { agentId: 'a', toolName: 't', callId });
    const { timeline } = foldOf([called('1'), called('2'), returned('1'), called('3'), returned('2'), returned('3')]);
    expect([...timeline.spans].map(({ row }) => row)).toEqual([0, 1, 0]);
    expect(timeline.lanes[0]?.rows).toBe(2);
  });

  test('shows a call that is entered again as two spans, the first of them failed', () => {
    const called = (attempt: number) =>
      event('agent.toolCalled', { agentId: 'a', toolName: 't', callId: 'c', attempt });
    const { timeline } = foldOf([called(1), called(2)]);
    expect([...timeline.spans]).toMatchObject([
      { attempt: 1, isFailed: true },
      { attempt: 2, isFailed: false, endAt: null },
    ]);
  });

  test('a hundred calls at the same time stay within the rows of a lane', () => {
    const rows = Array.from({ length: 100 }, (_, i) =>
      event('agent.toolCalled', { agentId: 'a', toolName: 't', callId: `${i}` }),
    );
    const { timeline } = foldOf(rows);
    expect(timeline.lanes[0]?.rows).toBe(32);
    expect(timeline.spans.length).toBe(100);
  });

  test('every span of a run that has ended has an end', () => {
    for (const story of ['newsroom', 'cancel', 'failure', 'agent-in-trouble']) {
      expect([...foldOf(recordedRows(story)).timeline.spans].filter(({ endSeq }) => endSeq === null)).toEqual([]);
    }
  });
});

describe('causes', () => {
  const indexOf = (rows: readonly RunRow[]): CauseIndex => {
    const index = new CauseIndex();
    for (const row of rows) index.take(row);
    return index;
  };

  test('lead from any event to the first, and from there to all its effects', () => {
    const rows = recordedRows('newsroom');
    const causes = indexOf(rows);
    expect(causes.ancestorsOf(16)).toEqual([13, 7, 5, 2, 0]);
    expect(causes.descendantsOf(28)).toContain(56);
    expect(causes.descendantsOf(28, 31)).toEqual([29, 30, 31]);
  });

  test('a cause that does not come before its effect is none', () => {
    const causes = indexOf([typedEvent({ seq: 3, at: 0, type: 'x.y', nodeId: undefined, cause: 3, payload: {} })]);
    expect(causes.ancestorsOf(3)).toEqual([]);
    expect(causes.descendantsOf(3)).toEqual([]);
  });

  test('are placed as a tree: no two events in one place, each right of its cause', () => {
    const rows = recordedRows('newsroom');
    const causes = indexOf(rows);
    const tree = causeTree({ causes, typeOf: (seq) => rows[seq]?.type, selected: 14, upTo: 56 });
    expect(new Set(tree.events.map(({ column, row }) => `${column}/${row}`)).size).toBe(tree.events.length);
    for (const { parent, column } of tree.events)
      if (parent >= 0) expect(tree.events[parent]?.column).toBeLessThan(column);
    expect(tree.events.filter(({ relation }) => relation === 'ancestor').map(({ seq }) => seq)).toEqual([0, 2, 5, 7]);
  });

  test('pieces of a text that led to nothing are one group', () => {
    const rows = recordedRows('newsroom');
    const tree = causeTree({ causes: indexOf(rows), typeOf: (seq) => rows[seq]?.type, selected: 43, upTo: 56 });
    expect(tree.events.filter(({ type }) => type === 'output.chunk').map(({ count }) => count)).toEqual([2, 1]);
  });
});

test('nodes have their status, visits and the outcomes of their edges', () => {
  const { nodes } = foldOf(recordedRows('newsroom'));
  expect(nodes.nodes.get('sign')).toMatchObject({ status: 'completed', visits: 1, attempts: 1 });
  expect(nodes.edges.get('sign-dry')).toBe('taken');
});

test('a fork takes no time between the events that it shares and its own', () => {
  const forked = { runId: 'run_b', sourceRunId: 'run_a', fromSeq: 2, mode: 'branch' };
  const first = event('run.started', { workflowId: 'w' });
  next += 3_600;
  const { totals } = foldOf([first, event('cairn.run.forked', forked), event('run.completed', {})]);
  expect((totals.endedAt ?? 0) - (totals.startedAt ?? 0) - totals.restedMs).toBe(1_000);
});

test('totals add up what models used', () => {
  const { totals } = foldOf(recordedRows('newsroom'));
  expect([totals.inputTokens, totals.outputTokens, totals.modelCalls, totals.childTokens]).toEqual([149, 27, 2, 183]);
});

test('an event of the wire is read with the causes of its own run as sequences', () => {
  const doc = { eventId: 'run_a:2', runId: 'run_a', sequence: 2, timestamp: '2026-01-05T09:00:00.000Z', payload: {} };
  const read = (causationId: string) =>
    rowOf({ ...doc, type: 'node.cancelled', payload: { nodeId: 'n' }, causationId }).cause;
  expect([read('run_a:1'), read('run_a.0:1'), read('run_ab:1'), read('elsewhere')]).toEqual([
    1,
    'run_a.0:1',
    'run_ab:1',
    'elsewhere',
  ]);
});

test('the position of a sequence is that of the last row at or before it', () => {
  const rows = [2, 5, 9].map((seq) =>
    typedEvent({ seq, at: 0, type: 'x.y', nodeId: undefined, cause: undefined, payload: {} }),
  );
  expect([1, 2, 4, 5, 100].map((seq) => positionOf(rows, seq))).toEqual([-1, 0, 0, 1, 2]);
});
