import type { JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { answerDrafts } from '../../engine/core/answers/answers.ts';
import { asked } from '../tools/questions.ts';
import type { PersonQuestion } from '../tools/tool.ts';
import { AgentScript } from './agent-script.kit.ts';

const ask = (prompt: string, more: object = {}): PersonQuestion => ({ kind: 'ask', name: prompt, prompt, ...more });
const suspended = (question: PersonQuestion, ordinal = 0) => ({ kind: 'suspended' as const, ordinal, question });

describe('a tool that asks somebody', () => {
  test('ends its call, asks, and is entered again with the answer on record', () => {
    const run = new AgentScript().calls(['openwop_look']).tool('openwop:look', suspended(ask('Which?')));
    expect(run.last('cairn.step.returned')).toEqual({
      nodeId: 'a',
      callId: 'a#0.0/t0.0',
      attempt: 1,
      suspended: { ordinal: 0, question: ask('Which?') },
    });
    expect(run.status).toBe('waiting-input');
    expect(run.state).toMatchObject({ calls: {}, awaitedCalls: 0 });
    expect(run.last('interrupt.requested').data).toEqual({ questions: [{ id: 'answer', question: 'Which?' }] });
    run.answers('a', { answers: { answer: 'blue' } });
    expect(run.last('cairn.step.requested')).toMatchObject({ step: 'cairn.tool', callId: 'a#0.0/t0.0', attempt: 2 });
    expect(run.inputOf(run.toolCall('openwop:look')).records).toEqual([
      { ordinal: 0, kind: 'ask', name: 'Which?', outcome: 'blue' },
    ]);
    run.result('openwop:look', 'blue it is');
    expect(run.all('agent.toolCalled')).toHaveLength(1);
    expect(run.all('agent.toolReturned')).toHaveLength(1);
    const returned = run.event('agent.toolReturned');
    expect(returned.cause).toBe(run.event('agent.toolCalled').seq);
    expect(run.says().status).toBe('completed');
  });

  test('an answer off its schema is refused, and the question stays', () => {
    const question = ask('How many?', { schema: { type: 'number' } });
    const run = new AgentScript().calls(['openwop_look']).tool('openwop:look', suspended(question));
    expect(() => run.answers('a', { answers: { answer: 'two' } })).toThrow(/does not fit/);
    expect(run.answers('a', { answers: { answer: 2 } }).status).toBe('running');
  });

  test('a question for the user is answered by the user who started the run, and by nobody else', () => {
    const run = new AgentScript()
      .calls(['openwop_look'])
      .tool('openwop:look', suspended(ask('Sure?', { requireUser: true })));
    expect(run.faces.at(-2)).toMatchObject({ kind: 'input-required', requireUser: true });
    const yes = { answers: { answer: true } };
    const { workflow, state } = run;
    const by = (who: object) => () => answerDrafts({ state, workflow }, { nodeId: 'a', value: yes, ...who }, run.now);
    expect(by({ principal: 'somebody-else' })).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(by({ tokenId: 'tok_1' })).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(run.answers('a', yes).status).toBe('running');
  });

  test('a choice is shown as one, and takes only what it offers', () => {
    const { question } = asked({
      prompt: 'Which?',
      options: ['red', { value: { id: 7 }, label: 'Blue', description: 'as the sky' }],
    });
    const run = new AgentScript().calls(['openwop_look']).tool('openwop:look', suspended(question));
    expect(run.faces.at(-2)).toMatchObject({
      kind: 'input-required',
      inputType: 'selection',
      options: [
        { value: 'red', label: 'red' },
        { value: { id: 7 }, label: 'Blue', description: 'as the sky' },
      ],
    });
    expect(() => run.answers('a', { answers: { answer: 'green' } })).toThrow(/does not fit/);
    expect(run.answers('a', { answers: { answer: { id: 7 } } }).status).toBe('running');
  });

  test('asks as often as the host allows; the call that asks once more fails, and the model goes on', () => {
    const run = new AgentScript({ loopOptions: { clarificationRounds: 3 } });
    for (let i = 0; i < 3; i += 1) {
      run.calls(['openwop_look']).tool('openwop:look', suspended(ask(`Which ${i}?`)));
      run.answers('a', { answers: { answer: 'blue' } }).result('openwop:look');
    }
    run.calls(['openwop_look']).tool('openwop:look', suspended(ask('Which, once more?')));
    expect(run.all('clarification.requested')).toHaveLength(3);
    expect(run.last('cap.breached')).toEqual({ kind: 'clarification', limit: 3, observed: 4, nodeId: 'a' });
    expect(run.last('agent.toolReturned')).toMatchObject({
      status: 'error',
      error: { code: 'clarification_limit_exceeded', error: 'clarification_limit_exceeded' },
    });
    expect(run.status).toBe('running');
    expect(run.says({ text: 'Blue, then.' }).status).toBe('completed');
  });

  test('questions that wait for their turn count', () => {
    const run = new AgentScript({ loopOptions: { clarificationRounds: 1 } });
    run.calls(['openwop_look', {}, 'x'], ['openwop_save', {}, 'y']);
    run.tool('openwop:save', suspended(ask('Sure?'))).tool('openwop:look', suspended(ask('Which?')));
    expect(run.all('clarification.requested')).toHaveLength(1);
    expect(run.last('agent.toolReturned')).toMatchObject({ error: { code: 'clarification_limit_exceeded' } });
  });

  test('one question at a time: the second is asked once the first is answered', () => {
    const run = new AgentScript().calls(['openwop_look', {}, 'x'], ['openwop_save', {}, 'y']);
    run.tool('openwop:save', suspended(ask('Sure?'))).tool('openwop:look', suspended(ask('Which?')));
    const asked = () =>
      run.all('interrupt.requested').map(({ data }) => (data as { questions: JsonObject[] }).questions[0]?.question);
    expect(asked()).toEqual(['Sure?']);
    run.answers('a', { answers: { answer: true } });
    expect(asked()).toEqual(['Sure?', 'Which?']);
    run.answers('a', { answers: { answer: 'blue' } });
    expect(run.inputOf(run.toolCall('openwop:save')).records).toMatchObject([{ name: 'Sure?', outcome: true }]);
    expect(run.inputOf(run.toolCall('openwop:look')).records).toMatchObject([{ name: 'Which?', outcome: 'blue' }]);
  });

  test('nobody answers in time: the tool is told so, and decides itself what that means', () => {
    const run = new AgentScript().calls(['openwop_look']);
    run.tool('openwop:look', suspended(ask('Which?', { timeoutMs: 5_000 }))).passes(5_000);
    expect(run.inputOf(run.toolCall('openwop:look')).records).toEqual([
      {
        ordinal: 0,
        kind: 'ask',
        name: 'Which?',
        error: { code: 'interrupt_timeout', message: 'Nobody answered in time.', retryable: false },
      },
    ]);
  });

  test('a sign-in waits for an event, and what came of it is the answer', () => {
    const question: PersonQuestion = {
      kind: 'signIn',
      name: 'github',
      prompt: 'Sign in.',
      authType: 'oauth2',
      provider: 'github',
      scopes: ['repo'],
      authUrl: 'https://example.org/login',
    };
    const run = new AgentScript().calls(['openwop_look']).tool('openwop:look', suspended(question));
    expect(run.status).toBe('waiting-external');
    expect(run.faces.at(-2)).toMatchObject({ kind: 'auth-required', authType: 'oauth2', provider: 'github' });
    const value = { provider: 'github', credentialRef: 'cred_1', scopes: ['repo'] };
    // Only the host knows what came of it: an answer could name the credential of somebody else.
    const forged = expect.objectContaining({ code: 'forbidden' });
    expect(() => run.answers('a', { eventPayload: value })).toThrow(forged);
    const request = { nodeId: 'a', value, completesSignIn: true };
    expect(() => answerDrafts(run, { ...request, principal: 'bob' }, run.now)).toThrow(forged);
    run.write(answerDrafts(run, request, run.now).drafts);
    run.settle();
    expect(run.last('connector.authorized')).toEqual(value);
    expect(run.inputOf(run.toolCall('openwop:look')).records).toMatchObject([
      { kind: 'signIn', name: 'github', outcome: value },
    ]);
  });

  test('its steps are kept among its records, the first result of each', () => {
    const run = new AgentScript().calls(['openwop_look']);
    const step = { nodeId: 'a', callId: 'a#0.0/t0.0.0', attempt: 1, of: 'a#0.0/t0.0', ordinal: 0, name: 'fetch' };
    run
      .fact('cairn.step.returned', { ...step, outcome: 7 }, 'a')
      .fact('cairn.step.returned', { ...step, outcome: 8 }, 'a');
    const failed = {
      ...step,
      ordinal: 1,
      name: 'post',
      error: { code: 'tool_failed', message: 'No.', retryable: false },
    };
    run.fact('cairn.step.returned', failed, 'a');
    expect(run.inputOf(run.toolCall('openwop:look')).records).toEqual([
      { ordinal: 0, kind: 'step', name: 'fetch', outcome: 7 },
      { ordinal: 1, kind: 'step', name: 'post', error: failed.error },
    ]);
  });
});

describe('a holder that is lost', () => {
  test('asks again for a model turn as the next attempt, and what was seen of it ends first', () => {
    const run = new AgentScript().crashes();
    expect(run.story().slice(-3)).toEqual(['cairn.model.requested', 'cairn.model.abandoned', 'cairn.model.requested']);
    expect(run.modelCall).toMatchObject({ callId: 'a#0.0/m0', attempt: 2 });
    expect(run.request.turnIndex).toBe(0);
    expect(run.says().status).toBe('completed');
  });

  test('has a person look at a turn under which ten in a row were lost', () => {
    const run = new AgentScript();
    for (let i = 0; i < 11; i++) run.crashes();
    expect(run.last('interrupt.requested').data).toMatchObject({
      payload: { step: 'cairn.model', model: 'scripted/small' },
    });
    run.answers('a', { action: 'retry' });
    expect(run.says().status).toBe('completed');
  });

  test('asks again for a tool that reads without telling of another call', () => {
    const run = new AgentScript().calls(['openwop_look']).crashes();
    expect(run.toolCall('openwop:look').attempt).toBe(2);
    run.result('openwop:look');
    expect(run.all('agent.toolCalled')).toHaveLength(1);
    expect(run.event('agent.toolReturned').cause).toBe(run.event('agent.toolCalled').seq);
  });

  test('never repeats what is recorded: only the open one of two calls runs again', () => {
    const run = new AgentScript().calls(['openwop_look', {}, 'x'], ['openwop_web', {}, 'y']).result('openwop:look', 1);
    run.crashes();
    expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0.0/t0.1' }]);
  });

  test.each([
    ['used', { action: 'use', result: 'by hand' }, { output: 'by hand', isError: false }],
    [
      'given up',
      { action: 'fail' },
      { output: { error: expect.objectContaining({ code: 'step_interrupted' }) }, isError: true },
    ],
  ])('a write is put to a human; %s, the model goes on with it', (_how, verdict, told) => {
    const run = new AgentScript().calls(['openwop_save']).crashes();
    expect(run.status).toBe('waiting-input');
    expect(run.last('interrupt.requested').data).toMatchObject({
      payload: { tool: 'openwop:save', agentId: expect.any(String), inputs: {} },
    });
    run.answers('a', verdict);
    expect(run.request.messages.at(-1)).toMatchObject(told);
  });

  test('a write that a human wants once more is the next attempt', () => {
    const run = new AgentScript().calls(['openwop_save']).crashes().answers('a', { action: 'retry' });
    expect(run.toolCall('openwop:save').attempt).toBe(2);
  });

  test('a question of a tool waits until the question about a lost write is answered', () => {
    const run = new AgentScript().calls(['openwop_look', {}, 'x'], ['openwop_save', {}, 'y']).crashes();
    run.tool('openwop:look', suspended(ask('Which?')));
    expect(run.all('interrupt.requested')).toHaveLength(1);
    run.answers('a', { action: 'use', result: 1 });
    expect(run.all('interrupt.requested')).toHaveLength(2);
    run.answers('a', { answers: { answer: 'blue' } });
    expect(run.inputOf(run.toolCall('openwop:look')).records).toMatchObject([{ outcome: 'blue' }]);
  });

  test('waits out the rest of a wait between attempts', () => {
    const run = new AgentScript().fails().crashes().passes(1_000);
    expect(run.modelCall.attempt).toBe(2);
  });

  test('a pause that cuts a turn short has it asked for again once the run goes on', () => {
    const run = new AgentScript().pauses('immediate');
    expect(run.status).toBe('paused');
    run.resumes();
    expect(run.modelCall.attempt).toBe(2);
    expect(run.says().status).toBe('completed');
  });
});

describe('a node that is ended from outside', () => {
  const closed = (run: AgentScript) => {
    const started = run.all('agent.invocation.started').map(({ invocationId }) => invocationId);
    expect(run.all('agent.invocation.completed').map(({ invocationId }) => invocationId)).toEqual(started);
    expect(run.all('agent.toolReturned')).toHaveLength(run.all('agent.toolCalled').length);
    return run.last('agent.invocation.completed').outcome;
  };

  test('with its run closes the turn of the model and the bracket', () => {
    const run = new AgentScript().cancels();
    expect(run.status).toBe('cancelled');
    expect(closed(run)).toBe('failed');
    expect(run.last('cairn.model.abandoned')).toMatchObject({ callId: 'a#0.0/m0', attempt: 1, reason: 'stopped' });
    expect(run.story().slice(-2)).toEqual(['agent.invocation.completed', 'node.cancelled']);
  });

  test('out of time closes its calls, also those that wait for somebody', () => {
    const run = new AgentScript({ settings: { timeoutMs: 1_000 } }).calls(
      ['openwop_look', {}, 'x'],
      ['openwop_save', {}, 'y'],
    );
    run.tool('openwop:look', suspended(ask('Which?'))).passes(1_000);
    expect(run.error).toMatchObject({ code: 'node_timeout', retryable: false });
    expect(closed(run)).toBe('failed');
    expect(run.all('agent.toolReturned').map(({ callId, error }) => [callId, (error as JsonObject).code])).toEqual([
      ['a#0.0/t0.0', 'tool_canceled'],
      ['a#0.0/t0.1', 'tool_canceled'],
    ]);
    expect(run.state.calls).toEqual(new Map());
  });

  test('out of time after it has changed something is not tried again by itself', () => {
    const settings = { timeoutMs: 1_000, retry: { maxAttempts: 2, backoffMs: 1 } };
    const wrote = new AgentScript({ settings }).calls(['openwop_save']).result('openwop:save').passes(1_000);
    expect(wrote.error).toMatchObject({ code: 'node_timeout', retryable: false });
    const looked = new AgentScript({ settings }).calls(['openwop_look']).result('openwop:look').passes(1_000);
    expect(looked.last('node.retried')).toMatchObject({ attempt: 1 });
  });

  test('before it has begun anything has nothing to close', () => {
    const run = new AgentScript({ configurable: { 'ai.provider': 'nowhere' } });
    expect(run.types()).not.toContain('agent.invocation.completed');
  });
});
