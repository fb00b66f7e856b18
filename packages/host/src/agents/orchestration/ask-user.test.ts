import type { JsonObject, OrchestratorDecision } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { RunScript } from '../../../test/kit/run-script.ts';
import { dispatch } from '../../engine/nodes/dispatch.ts';
import { createNodeTypeRegistry } from '../../engine/nodes/node-types.ts';
import { testLoopOptions } from '../loop/agent-script.kit.ts';
import { over, supervised } from './supervised-run.kit.ts';
import { createSupervisor } from './supervisor.ts';

const nodeTypes = createNodeTypeRegistry(
  [],
  [createSupervisor(testLoopOptions({ isConformanceHost: true })), dispatch],
);
const question: OrchestratorDecision = { kind: 'ask-user', prompt: 'Which city?' };
const asking = (config: JsonObject = {}, plan: readonly OrchestratorDecision[] = [question, over]) =>
  new RunScript(supervised(plan, config), { nodeTypes });
const says = (content: string): JsonObject => ({ operation: 'exchange', turn: { content } });
const rowsOf = (run: RunScript, type: string) => run.events.filter((event) => event.type === type);
const answerOf = (run: RunScript) => run.all('node.completed').find(({ nodeId }) => nodeId === 'dispatch')?.outputs;

describe.each(['conversation', 'auto', undefined] as const)('asked by way of %s', (askUserRouting) => {
  const config: JsonObject = askUserRouting === undefined ? {} : { askUserRouting };

  test('the user answers with one turn of a conversation that the supervisor opened', () => {
    const run = asking(config);
    expect(run.status).toBe('waiting-approval');
    expect(run.types()).not.toContain('clarification.requested');
    const [decided] = rowsOf(run, 'runOrchestrator.decided');
    const [suspended] = rowsOf(run, 'node.suspended');
    expect(suspended?.cause).toBe(decided?.seq);
    expect(rowsOf(run, 'conversation.opened')[0]).toMatchObject({
      cause: suspended?.seq,
      payload: { agentId: decided?.payload.agentId, initialTurn: { role: 'agent', content: 'Which city?' } },
    });
    run.answers('dispatch', says('Bern'), 'ada');
    expect(answerOf(run)).toEqual({ answer: 'Bern' });
    expect(run.status).toBe('completed');
  });
});

test('the conversation is closed with the turn that is the answer, which stands in its channel once', () => {
  const run = asking().answers('dispatch', says('Bern'), 'ada');
  const types = [
    'conversation.exchanged',
    'channel.written',
    'interrupt.resolved',
    'conversation.closed',
    'node.resumed',
  ];
  const from = run.types().indexOf('conversation.exchanged');
  expect(run.types().slice(from, from + 5)).toEqual(types);
  expect(run.last('conversation.closed')).toMatchObject({
    turnIndex: 1,
    reason: 'answered',
    outcome: 'Bern',
    turnCount: 1,
  });
  expect(rowsOf(run, 'node.resumed')[0]?.cause).toBe(rowsOf(run, 'conversation.closed')[0]?.seq);
  expect(run.last('interrupt.resolved')).toMatchObject({ resolvedBy: 'ada' });
  expect(run.state.view.channels.conversation?.value).toHaveLength(2);
});

test.each<[string, JsonObject, unknown]>([
  ['its outcome', { operation: 'close', turn: { content: 'never mind' }, outcome: 'Basel' }, 'Basel'],
  ['what was said last', { operation: 'close', turn: { content: 'Basel' } }, 'Basel'],
  ['nothing, when nothing was said', { operation: 'close' }, null],
])('a conversation that the user closes answers with %s', (_, value, answer) => {
  const run = asking().answers('dispatch', value);
  expect(answerOf(run)).toEqual({ answer });
  expect(run.all('conversation.closed')).toHaveLength(1);
  expect(run.status).toBe('completed');
});

test('asked twice, the user is in two conversations', () => {
  const run = asking({}, [question, question, over])
    .answers('dispatch', says('Bern'))
    .answers('dispatch', says('Basel'));
  expect(run.all('conversation.opened').map(({ conversationId }) => conversationId)).toEqual([
    'run_1:dispatch:0',
    'run_1:dispatch:1.0',
  ]);
  expect(run.status).toBe('completed');
});

test('a run that is cancelled closes the conversation', () => {
  const run = asking().cancels();
  expect(run.last('conversation.closed')).toMatchObject({ reason: 'stopped', outcome: null });
  expect(run.status).toBe('cancelled');
});

test('asked by way of clarification, the user answers a question', () => {
  const run = asking({ askUserRouting: 'clarification' });
  expect(run.status).toBe('waiting-input');
  expect(run.types().some((type) => type.startsWith('conversation.'))).toBe(false);
  run.answers('dispatch', { answers: { answer: 'Bern' } });
  expect(answerOf(run)).toEqual({ answer: 'Bern' });
  expect(run.status).toBe('completed');
});

test.each(['clarification', 'conversation'] as const)(
  'a decision that a person edited to a question by way of %s is asked, whatever they said of the first one',
  (askUserRouting) => {
    const unsure: OrchestratorDecision = { kind: 'terminate', confidence: 0.2 };
    const run = asking({ askUserRouting }, [unsure, over]);
    run.answers('dispatch', { action: 'edit-accept', editedArtifactData: question as JsonObject });
    expect(run.status).toMatch(/^waiting-/);
    run.answers('dispatch', askUserRouting === 'clarification' ? { answers: { answer: 'Bern' } } : says('Bern'));
    expect(answerOf(run)).toEqual({ answer: 'Bern' });
    expect(run.status).toBe('completed');
  },
);

test('a workflow that could not keep the conversation is not registered', () => {
  const variables = [{ name: 'conversation', type: 'string' as const }];
  const refused = () => new RunScript({ ...supervised([question]), variables }, { nodeTypes });
  expect(refused).toThrow(/conversation is a variable/);
  const other = { ...supervised([question, over], { askUserRouting: 'clarification' }), variables };
  expect(new RunScript(other, { nodeTypes }).status).toBe('waiting-input');
});
