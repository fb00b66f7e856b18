import type { Json, JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { RunScript, type ScriptEvent, workflowOf } from '../../../test/kit/run-script.ts';
import type { NodeOptions } from '../workflow/define-workflow.ts';

const gate = (config: JsonObject = {}): NodeOptions => ({ type: 'core.conversationGate', config });
const held = (config: JsonObject = {}, more: Parameters<typeof workflowOf>[2] = {}) =>
  new RunScript(workflowOf({ talk: gate(config), after: 'core.noop' }, [{ from: 'talk', to: 'after' }], more));
const says = (content: Json, more: JsonObject = {}): JsonObject => ({
  operation: 'exchange',
  turn: { content, ...more },
});
const channel = (run: RunScript, name = 'conversation') =>
  (run.state.view.channels[name]?.value ?? []) as readonly JsonObject[];
const refusal = (run: RunScript, value: Json, principal?: string): string => {
  try {
    run.answers('talk', value, principal);
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
  return 'taken';
};
const rowOf = (run: RunScript, type: string): ScriptEvent =>
  run.events.find((event) => event.type === type) as ScriptEvent;

describe('a conversation', () => {
  test('opens with what its node says first, caused by the suspension of the node', () => {
    const run = held({ prompt: 'What shall we build?' });
    expect(run.types().slice(-4)).toEqual([
      'node.suspended',
      'conversation.opened',
      'interrupt.requested',
      'channel.written',
    ]);
    expect(run.status).toBe('waiting-approval');
    expect(run.last('node.suspended')).toMatchObject({ reason: 'conversation-input', kind: 'conversation.exchange' });
    const opened = rowOf(run, 'conversation.opened');
    expect(opened.cause).toBe(rowOf(run, 'node.suspended').seq);
    expect(opened.payload).toEqual({
      conversationId: 'run_1:talk:0',
      initialTurn: {
        messageId: 'run_1:talk:0:0:system',
        from: 'core.system',
        content: 'What shall we build?',
        ts: 1_000_000,
        role: 'system',
        turnIndex: 0,
      },
      capabilities: ['multi-turn'],
    });
    expect(run.last('interrupt.requested').data).toEqual({
      conversationId: 'run_1:talk:0',
      prompt: 'What shall we build?',
      turnIndex: 1,
    });
  });

  test('takes turns without resuming its node, each caused by the one before', () => {
    const run = held().answers('talk', says('a boat'), 'ada').answers('talk', says('a big one'), 'bob');
    expect(run.status).toBe('waiting-approval');
    expect(run.types()).not.toContain('node.resumed');
    const [first, second] = run.events.filter(({ type }) => type === 'conversation.exchanged');
    expect(first?.cause).toBe(rowOf(run, 'conversation.opened').seq);
    expect(second?.cause).toBe(first?.seq);
    expect(second?.payload).toEqual({
      conversationId: 'run_1:talk:0',
      turnIndex: 2,
      turn: {
        messageId: 'run_1:talk:0:2:user',
        from: 'user',
        content: 'a big one',
        ts: 1_000_000,
        role: 'user',
        turnIndex: 2,
        principal: 'bob',
      },
    });
    expect(channel(run).map(({ content }) => content)).toEqual(['talk', 'a boat', 'a big one']);
  });

  test('is closed by its last turn, and only then does its node go on, with the outcome', () => {
    const run = held().answers('talk', says('a boat'));
    run.answers('talk', { operation: 'close', turn: { content: 'agreed' }, outcome: { build: 'boat' } }, 'ada');
    const last = ['interrupt.resolved', 'conversation.closed', 'channel.written', 'node.resumed', 'node.completed'];
    expect(run.types().slice(run.types().indexOf('interrupt.resolved')).slice(0, 5)).toEqual(last);
    expect(rowOf(run, 'conversation.closed').cause).toBe(rowOf(run, 'conversation.exchanged').seq);
    expect(rowOf(run, 'node.resumed').cause).toBe(rowOf(run, 'conversation.closed').seq);
    expect(run.last('conversation.closed')).toEqual({
      conversationId: 'run_1:talk:0',
      turnIndex: 2,
      finalTurn: expect.objectContaining({ turnIndex: 2, content: 'agreed', principal: 'ada', from: 'user' }),
      outcome: { build: 'boat' },
      reason: 'closed',
      turnCount: 1,
    });
    expect(run.all('node.completed')[0]?.outputs).toEqual({
      conversationId: 'run_1:talk:0',
      outcome: { build: 'boat' },
      reason: 'closed',
      turnCount: 1,
    });
    expect(run.status).toBe('completed');
    expect(channel(run)).toHaveLength(3);
  });

  test('may be closed without a word; then the host has the last one', () => {
    const run = held().answers('talk', { operation: 'close' });
    expect(run.last('conversation.closed')).toMatchObject({
      turnIndex: 1,
      outcome: null,
      turnCount: 0,
      finalTurn: { role: 'system', from: 'core.system' },
    });
    expect(run.status).toBe('completed');
  });

  test('closes with no outcome when the time for all of it is over, whatever was said meanwhile', () => {
    const run = held({ timeoutMs: 1_000 }).passes(600).answers('talk', says('hello')).passes(399);
    expect(run.status).toBe('waiting-approval');
    run.passes(1);
    expect(run.last('conversation.closed')).toMatchObject({
      outcome: null,
      reason: 'timeout',
      turnIndex: 2,
      turnCount: 1,
      finalTurn: { role: 'system', content: 'The conversation timed out.' },
    });
    expect(run.types().filter((type) => type === 'node.resumed')).toHaveLength(1);
    expect(run.types().indexOf('conversation.closed')).toBeLessThan(run.types().indexOf('node.resumed'));
    expect(run.all('node.completed')[0]?.outputs).toMatchObject({ outcome: null, reason: 'timeout' });
    expect(run.status).toBe('completed');
  });

  test('that its node or its run does not outlive is closed, too', () => {
    const cancelled = held().answers('talk', says('hello')).cancels();
    expect(cancelled.last('conversation.closed')).toMatchObject({ outcome: null, reason: 'stopped', turnIndex: 2 });
    expect(channel(cancelled)).toHaveLength(3);
    const late = new RunScript(workflowOf({ talk: { ...gate(), settings: { timeoutMs: 50 } } })).passes(50);
    expect(late.last('conversation.closed')).toMatchObject({ reason: 'stopped' });
    expect(late.last('run.failed').error).toMatchObject({ code: 'node_timeout' });
  });

  test('shows whoever may answer the turn that is next and what was last asked', () => {
    const run = held({ prompt: 'Who goes?' });
    run.answers('talk', says('and you?', { role: 'agent', speakerId: 'host:cfo' }));
    const [open] = Object.values(run.state.view.interrupts);
    expect(open?.data).toMatchObject({ turnIndex: 2, prompt: 'and you?' });
    run.answers('talk', says('me'));
    expect(Object.values(run.state.view.interrupts)[0]?.data).toMatchObject({ turnIndex: 3, prompt: 'and you?' });
  });

  test('of another visit of the same node is another one', () => {
    const run = new RunScript(
      workflowOf({ talk: gate(), stay: 'core.noop', leave: 'core.noop' }, [
        { from: 'talk', to: 'stay' },
        { from: 'stay', to: 'talk', when: { type: 'expression', expression: 'true' } as never },
        { from: 'talk', to: 'leave' },
      ]),
    );
    run.answers('talk', { operation: 'close' });
    const ids = run.all('conversation.opened').map(({ conversationId }) => conversationId);
    expect(ids).toEqual(['run_1:talk:0', 'run_1:talk:1.0']);
  });

  test('goes on in another process as if nothing had happened', () => {
    const run = held().answers('talk', says('one')).crashes().answers('talk', says('two')).crashes();
    expect(run.all('conversation.exchanged').map(({ turnIndex }) => turnIndex)).toEqual([1, 2]);
    expect(run.all('conversation.opened')).toHaveLength(1);
  });

  test('with an agent is opened in its name', () => {
    const node = { ...gate({ prompt: 'How can I help?' }), agent: { agentId: 'local.desk.triage' } } as NodeOptions;
    const run = new RunScript(workflowOf({ talk: node }));
    expect(run.last('conversation.opened')).toMatchObject({
      agentId: 'local.desk.triage',
      openedBy: 'local.desk.triage',
      initialTurn: { role: 'agent', speakerId: 'local.desk.triage', from: 'local.desk.triage' },
    });
    expect(run.types().some((type) => type.startsWith('agent.'))).toBe(false);
  });
});

describe('a turn', () => {
  test('that is sent again is taken once, and answered as before', () => {
    const run = held().answers('talk', says('one', { turnIndex: 1 }), 'ada');
    const before = run.events.length;
    run.answers('talk', says('one', { turnIndex: 1 }), 'ada');
    run.answers('talk', says('two', { messageId: 'm2', ts: 5 }), 'ada');
    run.answers('talk', says('two', { messageId: 'm2', ts: 5 }), 'ada');
    run.answers('talk', says('one', { turnIndex: 1 }), 'ada');
    expect(run.events.length).toBe(before + 2);
    expect(channel(run).map(({ messageId }) => messageId)).toEqual([
      'run_1:talk:0:0:system',
      'run_1:talk:0:1:user',
      'm2',
    ]);
  });

  test('of a messageId that another one has is refused, whoever sends it', () => {
    const run = held().answers('talk', says('one', { messageId: 'm1' }), 'ada');
    expect(refusal(run, says('two', { messageId: 'm1' }), 'ada')).toContain('another message has the messageId "m1"');
    expect(refusal(run, says('one', { messageId: 'm1' }), 'bob')).toContain('validation_error');
    expect(refusal(run, says('one', { messageId: 'm1', turnIndex: 2 }), 'ada')).toContain('validation_error');
    expect(run.all('conversation.exchanged')).toHaveLength(1);
  });

  test('that ends the conversation has a messageId of its own, too', () => {
    const run = held().answers('talk', says('one', { messageId: 'm1' }));
    const close = (messageId: string): Json => ({ operation: 'close', turn: { content: 'bye', messageId } });
    expect(refusal(run, close('m1'))).toContain('another message has the messageId "m1"');
    expect(refusal(run, close('m2'))).toBe('taken');
    expect(channel(run).map(({ content }) => content)).toEqual(['talk', 'one', 'bye']);
  });

  test.each([
    ['nothing', null, 'the message'],
    ['no messageId', { from: 'a', content: 'x', ts: 1 }, 'messageId'],
    ['no sender', { messageId: 'm', content: 'x', ts: 1 }, 'from'],
    ['no content', { messageId: 'm', from: 'a', ts: 1 }, 'content'],
    ['a time that is text', { messageId: 'm', from: 'a', content: 'x', ts: '2026' }, 'ts'],
  ])('with %s is no message, and is not written', (_, value, named) => {
    const run = new RunScript(
      workflowOf({ note: { type: 'core.channelWrite', config: { channelName: 'c', reducer: 'message', value } } }),
    );
    expect(run.all('channel.written')).toEqual([]);
    const error = { code: 'config_validation_failed', message: expect.stringContaining(`${named}:`) };
    expect(run.all('run.failed')).toMatchObject([{ error }]);
  });

  test('is told from what others wrote to the channel of the conversation', () => {
    const write = (value: Json): NodeOptions => ({
      type: 'core.channelWrite',
      config: { channelName: 'conversation', reducer: 'message', value },
    });
    const run = new RunScript(
      workflowOf({ note: write({ messageId: 'm1', from: 'note', content: 'a note', ts: 1 }), talk: gate() }),
    );
    expect(refusal(run, says('x', { messageId: 'm1' }))).toContain('another message has the messageId "m1"');
    expect(refusal(run, says('x', { messageId: 'm2' }))).toBe('taken');
    expect(refusal(run, says('x', { messageId: 'm2' }))).toBe('taken');
    expect(run.all('conversation.exchanged')).toHaveLength(1);
  });

  test.each<[string, Json, string]>([
    ['with no operation', { turn: { content: 'x' } }, 'operation'],
    ['to start what is open', { operation: 'start', turn: { content: 'x' } }, 'operation'],
    ['with nothing in it', { operation: 'exchange', turn: {} }, 'content'],
    ['that is no object', 'hello', 'answer'],
    ['with an outcome', { ...says('x'), outcome: 1 }, 'close'],
    ['of another conversation', { ...says('x'), conversationId: 'run_2:talk:0' }, 'run_1:talk:0'],
    ['out of its turn', says('x', { turnIndex: 7 }), 'turnIndex 7 is not the next one, which is 1'],
    ['in the name of the host', says('x', { role: 'system' }), 'system'],
    ['of a person who says to be somebody else', says('x', { from: 'local.desk.triage' }), 'turn.from'],
    ['of an agent that does not say which', says('x', { role: 'agent', from: 'a.b' }), 'speakerId'],
    ['of an unknown role', says('x', { role: 'assistant' }), 'role'],
    ['with a messageId that is too long', says('x', { messageId: 'm'.repeat(257) }), 'messageId'],
  ])('%s is refused, and the conversation stays open', (_, value, reason) => {
    const run = held();
    const before = run.events.length;
    expect(refusal(run, value)).toMatch(/^validation_error: /);
    expect(refusal(run, value)).toContain(reason);
    expect(run.events.length).toBe(before);
    expect(refusal(run, says('still here'))).toBe('taken');
  });

  test('must fit the schema of the opening, the last one too', () => {
    const schema = { type: 'object', properties: { content: { type: 'string', maxLength: 5 } } };
    const run = held({ schema });
    expect(run.last('conversation.opened').schema).toEqual(schema);
    expect(refusal(run, says('too long'))).toMatch(/^validation_error: .*turn: /);
    expect(refusal(run, { operation: 'close', turn: { content: 'too long' } })).toMatch(/^validation_error/);
    expect(refusal(run, says('short'))).toBe('taken');
  });

  test('has whoever sent it by their credential, never by what it says', () => {
    const run = held().answers('talk', says('x', { principal: 'mallory' }), 'ada');
    expect(run.last('conversation.exchanged').turn).toMatchObject({ principal: 'ada' });
    expect(
      held()
        .answers('talk', says('x', { principal: 'mallory' }))
        .last('conversation.exchanged').turn,
    ).not.toHaveProperty('principal');
  });

  test('after the end is a validation_error while the run goes on, and too late once it is over', () => {
    const run = new RunScript(workflowOf({ talk: gate(), wait: 'core.approvalGate' }));
    run.answers('talk', { operation: 'close' });
    expect(run.status).toBe('waiting-approval');
    expect(refusal(run, says('one more thing'))).toMatch(/^validation_error: .*closed/);
    expect(refusal(run, { operation: 'close' })).toMatch(/^interrupt_already_resolved/);
    run.answers('wait', { action: 'accept' });
    expect(refusal(run, says('and another'))).toMatch(/^interrupt_already_resolved/);
  });
});

describe('a conversation of several', () => {
  const participants = [{ agentId: 'host:cfo', name: 'CFO' }, { agentId: 'host:cto' }];

  test('hears those on its roster and people, and nobody else', () => {
    const run = held({ participants });
    expect(run.last('conversation.opened').participants).toEqual(participants);
    expect(refusal(run, says('too dear', { role: 'agent', speakerId: 'host:cfo' }))).toBe('taken');
    expect(refusal(run, says('what about me?'))).toBe('taken');
    expect(refusal(run, says('buy!', { role: 'agent', speakerId: 'host:cmo' }))).toContain('host:cfo, host:cto');
    expect(refusal(run, { operation: 'close', turn: { content: 'x', role: 'agent', speakerId: 'host:cmo' } })).toMatch(
      /^validation_error/,
    );
    expect(run.all('conversation.exchanged')[0]?.turn).toMatchObject({ from: 'host:cfo', speakerId: 'host:cfo' });
  });

  test('of a group takes only what is said to the group', () => {
    const channels = { council: { reducer: 'message', options: { agentSharing: 'shared:council' } } } as never;
    const run = held({ channel: 'council' }, { channels });
    expect(channel(run, 'council')[0]).toMatchObject({ groupId: 'council' });
    expect(refusal(run, says('x'))).toContain('turn.groupId must be council');
    expect(refusal(run, says('x', { groupId: 'council' }))).toBe('taken');
    run.answers('talk', { operation: 'close' });
    expect(channel(run, 'council').every(({ groupId }) => groupId === 'council')).toBe(true);
  });
});

test('the outcome must fit the schema for it, and closing without one does, only if null does', () => {
  const run = held({ outcomeSchema: { type: 'object', required: ['build'] } });
  expect(run.last('interrupt.requested').data).toMatchObject({ outcomeSchema: { type: 'object' } });
  expect(refusal(run, { operation: 'close' })).toMatch(/^validation_error: .*outcome/);
  expect(refusal(run, { operation: 'close', outcome: { build: 1 } })).toBe('taken');
});

describe('a gate', () => {
  const many = Array.from({ length: 33 }, (_, index) => ({ agentId: `host:a${index}` }));
  test.each<[string, JsonObject, string]>([
    ['an unknown setting', { title: 'x' }, 'title'],
    ['another lifecycle', { lifecycle: 'forever' }, 'lifecycle'],
    ['a roster beyond the limit', { participants: many }, 'participants'],
    ['an empty roster', { participants: [] }, 'participants'],
    ['somebody twice', { participants: [{ agentId: 'host:a' }, { agentId: 'host:a' }] }, 'host:a twice'],
    ['a schema that is none', { schema: { type: 'nonsense' } }, 'config.schema'],
    ['a time that is none', { timeoutMs: 0 }, 'timeoutMs'],
    ['a mock of a host under test', { mockAutoResume: true }, 'hosts under test'],
    ['turns of a mock that is none', { turnCount: 3 }, 'mockAutoResume'],
  ])('with %s is not registered', (_, config, problem) => {
    expect(() => held(config)).toThrow(problem);
  });

  test('that cannot keep turns in its channel is not registered', () => {
    expect(() => held({}, { channels: { conversation: { reducer: 'append' } } as never })).toThrow(/need message/);
    expect(() => held({}, { variables: [{ name: 'conversation', type: 'string' }] as never })).toThrow(/a variable/);
    const access = { writers: ['after'] };
    expect(() => held({}, { channels: { conversation: { reducer: 'message', access } } as never })).toThrow(
      /may not write/,
    );
  });

  test('whose agent is not on its roster is not registered', () => {
    const node = { ...gate({ participants: [{ agentId: 'host:a' }] }), agent: { agentId: 'host:b' } } as NodeOptions;
    expect(() => new RunScript(workflowOf({ talk: node }))).toThrow(/host:b opens the conversation/);
  });

  test('takes its first words from its inputs', () => {
    const node = { ...gate({ prompt: 'x' }), inputs: { prompt: { type: 'static', value: 'Given' } } } as never;
    const run = new RunScript(workflowOf({ talk: node }));
    expect(run.last('interrupt.requested').data).toMatchObject({ prompt: 'Given' });
  });
});
