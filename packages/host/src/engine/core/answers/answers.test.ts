import type { Json, JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { RunScript, step, workflowOf } from '../../../../test/kit/run-script.ts';
import type { NodeOptions } from '../../workflow/define-workflow.ts';
import { canceledDraft } from '../interrupts.ts';
import { answerDrafts } from './answers.ts';

const gate = (config: JsonObject = {}, type = 'core.approvalGate'): NodeOptions => ({ type, config });
const asked = (config?: JsonObject, type?: string) => new RunScript(workflowOf({ g: gate(config, type) }));
const codeOf = (run: RunScript, value: Json, principal?: string) => {
  try {
    answerDrafts(run, { nodeId: 'g', value, principal }, run.now);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'taken';
};

describe('an approval', () => {
  test('suspends its node with the rows of the wire, in order', () => {
    const run = asked({ title: 'Ship?', actions: ['accept', 'edit'] });
    expect(run.types().slice(-3)).toEqual(['interrupt.requested', 'approval.requested', 'node.suspended']);
    expect(run.status).toBe('waiting-approval');
    expect(run.last('interrupt.requested')).toMatchObject({
      kind: 'approval',
      key: 'run_1:g:0',
      data: { title: 'Ship?', artifactId: 'g', actions: ['accept', 'edit-accept'] },
    });
    expect(run.last('approval.requested')).toMatchObject({ actions: ['accept', 'edit'] });
  });

  test('goes on by approved when accepted', () => {
    const run = new RunScript(
      workflowOf({ g: gate(), yes: 'core.noop', no: 'core.noop' }, [
        { from: 'g', to: 'yes', port: 'approved' },
        { from: 'g', to: 'no', port: 'rejected' },
      ]),
    );
    run.answers('g', { action: 'accept', decidedBy: 'mallory' }, 'ada');
    expect(run.types().slice(6, 10)).toEqual([
      'interrupt.resolved',
      'approval.received',
      'node.resumed',
      'node.completed',
    ]);
    expect(run.last('approval.received')).toMatchObject({ action: 'accept', decidedBy: 'ada' });
    expect(run.last('interrupt.resolved')).toMatchObject({ resolvedBy: 'ada', kind: 'approval' });
    expect(run.started()).toEqual(['g', 'yes']);
    expect(run.skipped()).toEqual(['no']);
  });

  test('fails the run when rejected and no edge leaves by rejected', () => {
    const run = asked().answers('g', { decision: 'rejected' }, 'ada');
    expect(run.last('run.failed').error).toMatchObject({ code: 'approval_rejected' });
    expect(run.last('approval.received')).toMatchObject({ action: 'reject' });
  });

  test('goes on by rejected where an edge leaves by it', () => {
    const run = new RunScript(workflowOf({ g: gate(), no: 'core.noop' }, [{ from: 'g', to: 'no', port: 'rejected' }]));
    run.answers('g', { action: 'reject', feedback: 'not yet' });
    expect(run.started()).toEqual(['g', 'no']);
    expect(run.state.outputs.g).toMatchObject({ action: 'reject', approved: false, feedback: 'not yet' });
  });

  test('refuses an action it does not offer, and stays open', () => {
    const run = asked({ actions: ['accept'] });
    expect(codeOf(run, { action: 'reject' })).toBe('validation_error');
    expect(codeOf(run, { action: 'dance' })).toBe('validation_error');
    expect(codeOf(run, 'accept')).toBe('validation_error');
    expect(run.status).toBe('waiting-approval');
  });

  test('that nobody answers in time counts as rejected', () => {
    const run = asked({ timeoutMs: 1_000 });
    run.passes(1_000);
    expect(run.last('interrupt.resolved')).toMatchObject({ outcome: 'rejected', reason: 'timeout' });
    expect(run.last('approval.received')).toMatchObject({ action: 'timeout' });
    expect(run.last('run.failed').error).toMatchObject({ code: 'approval_timeout' });
    expect(codeOf(run, { action: 'accept' })).toBe('interrupt_expired');
  });

  test('refuses an answer that comes after its time, even before its timer has fired', () => {
    const run = asked({ timeoutMs: 1_000 });
    run.now += 1_000;
    expect(codeOf(run, { action: 'accept' })).toBe('interrupt_expired');
  });
});

describe('a gate of several', () => {
  const three = { requiredApprovals: 3, rejectionPolicy: 'majority', approversList: [] };

  test('stays open until enough have accepted', () => {
    const run = asked(three).answers('g', { action: 'accept' }, 'ada').answers('g', { action: 'accept' }, 'ben');
    expect(run.status).toBe('waiting-approval');
    expect(run.all('interrupt.resolved')).toHaveLength(0);
    expect(run.all('approval.received')).toHaveLength(2);
    run.answers('g', { action: 'accept' }, 'cy');
    expect(run.status).toBe('completed');
    expect(run.all('approval.received')).toHaveLength(3);
  });

  test('takes one vote of each', () => {
    const run = asked({ ...three, actions: ['accept', 'reject', 'edit-accept'] });
    run.answers('g', { action: 'accept' }, 'ada');
    expect(codeOf(run, { action: 'reject' }, 'ada')).toBe('conflict');
    expect(codeOf(run, { action: 'accept', feedback: 'With a reason.' }, 'ada')).toBe('conflict');
    expect(codeOf(run, { action: 'edit-accept', editedArtifactData: 1 }, 'ada')).toBe('conflict');
  });

  test('takes the same vote of the same principal again, and nothing changes', () => {
    const vote = { action: 'accept', feedback: 'Good.' };
    const run = asked(three).answers('g', vote, 'ada');
    const before = run.types();
    expect(run.answers('g', vote, 'ada').types()).toEqual(before);
    expect(run.answers('g', { action: 'accept' }, 'ben').status).toBe('waiting-approval');
    expect(run.answers('g', { action: 'accept' }, 'cy').status).toBe('completed');
  });

  test('is rejected by a majority, or by one where a veto counts', () => {
    const run = asked(three).answers('g', { action: 'reject' }, 'ada');
    expect(run.status).toBe('waiting-approval');
    run.answers('g', { action: 'reject' }, 'ben');
    expect(run.status).toBe('failed');
    expect(asked({ requiredApprovals: 3 }).answers('g', { action: 'reject' }, 'ada').status).toBe('failed');
  });

  test('is rejected once the approvals it needs cannot come together', () => {
    const config = { requiredApprovals: 3, rejectionPolicy: 'majority', approversList: ['ada', 'ben', 'cy'] };
    expect(asked(config).answers('g', { action: 'reject' }, 'ada').status).toBe('failed');
  });

  test('is for its approvers only', () => {
    const run = asked({ approversList: ['ada'] });
    expect(codeOf(run, { action: 'accept' }, 'mallory')).toBe('forbidden');
    expect(codeOf(run, { action: 'accept' })).toBe('forbidden');
    expect(codeOf(run, { action: 'accept' }, 'ada')).toBe('taken');
  });
});

describe('a clarification', () => {
  const questions = [
    { id: 'q1', question: 'Colour?' },
    { id: 'q2', question: 'How many?', schema: { type: 'integer' } },
  ];
  const clarification = () => asked({ questions }, 'core.clarificationGate');

  test('takes a map or a list of answers, and puts them out', () => {
    const run = clarification().answers(
      'g',
      {
        answers: [
          { id: 'q1', answer: 'blue' },
          { id: 'q2', answer: 2 },
        ],
      },
      'ada',
    );
    expect(run.last('clarification.resolved')).toMatchObject({ answers: { q1: 'blue', q2: 2 }, answeredBy: 'ada' });
    expect(run.last('run.completed').outputs).toEqual({ answers: { q1: 'blue', q2: 2 } });
  });

  test('refuses an answer that is missing, unknown or breaks its schema, and stays open', () => {
    const run = clarification();
    expect(codeOf(run, { answers: { q1: 'blue' } })).toBe('validation_error');
    expect(codeOf(run, { answers: { q1: 'blue', q2: 2, q3: 1 } })).toBe('validation_error');
    expect(codeOf(run, { answers: { q1: 'blue', q2: 'two' } })).toBe('validation_error');
    expect(run.status).toBe('waiting-input');
  });

  test('fails its node when it is rejected, with the reason', () => {
    const run = clarification();
    expect(codeOf(run, { action: 'reject', feedback: 7 })).toBe('validation_error');
    run.answers('g', { action: 'reject', feedback: 'not now' }, 'ada');
    expect(run.last('interrupt.resolved')).toMatchObject({
      outcome: 'rejected',
      resolvedBy: 'ada',
      resumeValue: { action: 'reject', feedback: 'not now' },
    });
    const error = { code: 'input_rejected', message: 'The question was rejected: not now', retryable: false };
    expect(run.last('run.failed')).toMatchObject({ error });
  });
});

describe('a generic interrupt', () => {
  test.each([
    ['the bare payload', { id: 1, ok: true }, { id: 1, ok: true }],
    ['the payload under its name', { eventPayload: { id: 1, ok: true } }, { id: 1, ok: true }],
    ['a bare payload that has such a field', { id: 1, eventPayload: 2 }, { id: 1, eventPayload: 2 }],
  ])('of an outside event takes %s', (_form, value, eventPayload) => {
    const data = { eventType: 'paid', correlation: { id: 1 } };
    const run = asked({ kind: 'external-event', data }, 'core.interrupt').answers('g', value);
    expect(run.last('interrupt.resolved').resumeValue).toEqual({ eventPayload });
    expect(run.status).toBe('completed');
  });

  test('of an outside event waits outside and puts out what came', () => {
    const data = { eventType: 'paid', correlation: { id: 1 } };
    const run = asked({ kind: 'external-event', data, timeoutMs: 60_000 }, 'core.interrupt');
    expect(run.status).toBe('waiting-external');
    expect(codeOf(run, { eventPayload: { id: 2, ok: true } })).toBe('validation_error');
    expect(codeOf(run, { eventPayload: 'paid' })).toBe('validation_error');
    expect(codeOf(run, { id: 2, ok: true })).toBe('validation_error');
    run.answers('g', { eventPayload: { id: 1, ok: true } });
    expect(run.last('run.completed').outputs).toEqual({ eventPayload: { id: 1, ok: true } });
    expect(run.state.timers).toEqual({});
  });

  test('can be answered by its own id, so that an answer sent twice never meets the next question', () => {
    const run = asked({ kind: 'custom', data: { customKind: 'x' } }, 'core.interrupt');
    run.answers('int_0_g', { n: 1 });
    expect(run.status).toBe('completed');
    expect(codeOf(run, { n: 1 })).toBe('interrupt_already_resolved');
  });

  test('checks a custom answer against its own schema', () => {
    const resumeSchema = { type: 'object', required: ['n'] };
    const run = asked({ kind: 'custom', data: { customKind: 'x' }, resumeSchema }, 'core.interrupt');
    expect(codeOf(run, { m: 1 })).toBe('validation_error');
    expect(run.answers('g', { n: 1 }).last('run.completed').outputs).toEqual({ n: 1 });
  });
});

describe('an answer nobody waits for', () => {
  test('is not found where nothing was asked', () => {
    const run = new RunScript(workflowOf({ g: step('read') }));
    expect(codeOf(run, 1)).toBe('interrupt_not_found');
  });

  test('is too late once another was taken', () => {
    const run = asked().answers('g', { action: 'accept' });
    expect(codeOf(run, { action: 'accept' })).toBe('interrupt_already_resolved');
  });

  test('is told when the run was cancelled meanwhile', () => {
    const run = asked().fact('cairn.cancel.requested', {});
    expect(codeOf(run, { action: 'accept' })).toBe('interrupt_cancelled');
  });

  test('is told when the run failed meanwhile', () => {
    const run = new RunScript(workflowOf({ g: gate(), a: step('read') }, [])).throws('a', { retryable: false });
    expect(codeOf(run, { action: 'accept' })).toBe('interrupt_already_resolved');
  });
});

test.each([
  ['core.approvalGate', { title: 'Pay?' }, 'node.failed'],
  ['core.conversationGate', { prompt: 'Pay?' }, 'node.completed'],
])('a question of a %s that was closed without its node is no approval', (type, config, end) => {
  const run = new RunScript(workflowOf({ gate: { type, config }, pay: step('write') }));
  const [{ interruptId = '', seq = 0 } = {}] = Object.values(run.state.view.interrupts);
  run.write([canceledDraft(run.state, { nodeId: 'gate', interruptId, at: run.now, cause: seq })]);
  run.settle();
  expect(run.last(end)).toMatchObject({ nodeId: 'gate' });
  expect(run.all('node.completed')).not.toContainEqual(expect.objectContaining({ outputs: { approved: true } }));
});

test('an answer to one question never meets the next question of the same node', () => {
  const run = new RunScript(
    workflowOf({ l: { type: 'core.loop', config: { times: 2 } }, g: gate() }, [
      { from: 'l', to: 'g', port: 'body' },
      { from: 'g', to: 'l' },
    ]),
  );
  const interruptId = Object.keys(run.state.view.interrupts)[0];
  run.answers('g', { action: 'accept' });
  expect(run.status).toBe('waiting-approval');
  const again = () => answerDrafts(run, { interruptId, value: { action: 'accept' } }, run.now);
  expect(again).toThrow(expect.objectContaining({ code: 'interrupt_already_resolved' }));
});

test('a node whose own time is up no longer takes an answer', () => {
  const run = new RunScript(
    workflowOf({ g: { ...gate(), settings: { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 50 } } } }),
  );
  run.passes(100);
  expect(run.last('node.retried').lastError).toMatchObject({ code: 'node_timeout' });
  expect(codeOf(run, { action: 'accept' })).toBe('interrupt_expired');
  run.passes(50).answers('g', { action: 'accept' });
  expect(run.status).toBe('completed');
});
