import type { JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { AgentScript, type AgentScriptOptions, agentId } from './agent-script.kit.ts';
import { SCHEMA_ROUNDS } from './repairs.ts';

const solo = agentId('solo');

/** An agent that is asked how sure it is. */
const unsure = (more: AgentScriptOptions = {}, confidence: object = {}): AgentScript =>
  new AgentScript({ agents: { solo: { manifest: { confidence } } }, ...more });

const decides = (run: AgentScript, confidence: unknown, decision: unknown = 'refund') =>
  run.calls(['openwop_decide', { decision, ...(confidence === undefined ? {} : { confidence }) }]);

describe('a decision', () => {
  test('ends the invocation, and what was decided with its confidence is the output', () => {
    const run = decides(unsure(), 0.9);
    expect(run.story().slice(4)).toEqual([
      'provider.usage',
      'agent.reasoned',
      'agent.decided',
      'agent.invocation.completed',
      'node.completed',
    ]);
    expect(run.last('agent.decided')).toEqual({ agentId: solo, decision: 'refund', confidence: 0.9 });
    expect(run.last('agent.invocation.completed')).toMatchObject({ outcome: 'completed', confidence: 0.9 });
    expect(run.outputs).toEqual({ content: 'refund', decision: 'refund', confidence: 0.9, agentId: solo });
  });

  test('waits for the tools of the same turn, and is the only one of its turn', () => {
    const run = unsure().calls(
      ['openwop_look'],
      ['openwop_decide', { decision: 1 }, 'b'],
      ['openwop_decide', { decision: 2 }, 'c'],
    );
    expect(run.last('agent.toolReturned')).toMatchObject({ toolId: 'openwop:decide', status: 'error' });
    expect(run.types()).not.toContain('agent.decided');
    run.result('openwop:look');
    expect(run.outputs).toMatchObject({ decision: 1 });
  });

  test('without a decision in it is refused, and the model may try again', () => {
    const run = unsure().calls(['openwop_decide', { confidence: 1 }]);
    expect(run.last('agent.toolReturned').error).toMatchObject({
      message: expect.stringContaining('decision is missing'),
    });
    expect(decides(run, 1).status).toBe('completed');
  });
});

describe('handing on', () => {
  const pair = (more: object = {}, schemas: object = {}) =>
    new AgentScript({
      agents: {
        first: { manifest: { toolAllowlist: ['openwop:handoff'] } },
        second: { manifest: { description: 'Does the rest.', ...more }, ...schemas },
      },
    });
  const handsOn = (run: AgentScript, more: object = {}) =>
    run.calls(['openwop_handoff', { agentId: agentId('second'), message: 'Your turn.', reason: 'skill', ...more }]);

  test('between nodes is told where another agent goes on, and only there', () => {
    const run = new AgentScript({ agents: { first: {}, second: {} }, next: ['first', 'second'] }).says().says();
    const at = run.types().lastIndexOf('node.started');
    expect(run.types().slice(at, at + 3)).toEqual(['node.started', 'agent.handoff', 'agent.invocation.started']);
    const [one, other] = [agentId('first'), agentId('second')];
    expect(run.all('agent.handoff')).toEqual([
      {
        fromAgentId: one,
        toAgentId: other,
        from: { agentId: one, name: 'first', version: '1.0.0' },
        to: { agentId: other, name: 'second', version: '1.0.0' },
      },
    ]);
    expect(run.request.messages).toHaveLength(1);
    expect(run.says().status).toBe('completed');
  });

  test('closes the bracket of the one and opens that of the other, with the message as task', () => {
    const run = handsOn(pair());
    expect(run.story().slice(4)).toEqual([
      'provider.usage',
      'agent.reasoned',
      'agent.decided',
      'agent.handoff',
      'agent.invocation.completed',
      'agent.invocation.started',
      'agent.promptResolved',
      'cairn.model.requested',
    ]);
    const [one, other] = [agentId('first'), agentId('second')];
    expect(run.last('agent.handoff')).toEqual({
      fromAgentId: one,
      toAgentId: other,
      from: { agentId: one, name: 'first', version: '1.0.0' },
      to: { agentId: other, name: 'second', version: '1.0.0' },
      reason: 'skill',
      context: { message: 'Your turn.' },
    });
    expect(run.all('agent.invocation.completed')[0]).toMatchObject({ outcome: 'handed-off', agentId: one });
    expect(run.last('agent.invocation.started')).toMatchObject({ invocationId: 'a#0.0/1', agentId: other });
    expect(run.request).toMatchObject({
      agentId: other,
      system: 'You are second.',
      messages: [{ role: 'user', text: 'Your turn.' }],
      turnIndex: 0,
    });
    run.says({ text: 'All done.' });
    expect(run.outputs).toEqual({ content: 'All done.', agentId: other });
    expect(run.last('node.started').agent).toMatchObject({ agentId: one });
    expect(run.last('node.completed')).toMatchObject({
      agent: { agentId: one, name: 'first', version: '1.0.0' },
      handedTo: { agentId: other, name: 'second', version: '1.0.0' },
    });
    expect(run.state.view.agent).toMatchObject({ agentId: other });
  });

  test('names nobody in the end of a node whose agent finished it itself', () => {
    const run = pair().says({ text: 'All done.' });
    expect(run.last('node.completed')).toMatchObject({ agent: { agentId: agentId('first') } });
    expect(run.last('node.completed')).not.toHaveProperty('handedTo');
  });

  test('is offered with the colleagues of the pack, and only to who lists it', () => {
    const offered = pair().request.tools.find(({ toolId }) => toolId === 'openwop:handoff');
    expect(offered?.inputSchema).toMatchObject({ properties: { agentId: { enum: [agentId('second')] } } });
    expect(offered?.description).toContain('Does the rest.');
    const silent = new AgentScript({ agents: { first: {}, second: {} } });
    expect(silent.request.tools.map(({ toolId }) => toolId)).not.toContain('openwop:handoff');
  });

  test('takes data along, which the other is told and must take', () => {
    const schemas = { taskSchema: { type: 'object', required: ['message', 'n'] } };
    const run = handsOn(pair({}, schemas));
    expect(run.last('agent.toolReturned')).toMatchObject({ toolId: 'openwop:handoff', status: 'error' });
    expect(run.last('agent.toolReturned').error).toMatchObject({ message: expect.stringContaining('another task') });
    handsOn(run, { task: { n: 1 } });
    expect(run.request.messages[0]).toEqual({ role: 'user', text: 'Your turn.\n\n{"n":1}' });
  });

  test.each([
    ['somebody of another pack', { agentId: 'community.other.x.y' }],
    ['itself', { agentId: agentId('first') }],
    ['nobody', { agentId: null }],
    ['without a message', { message: '' }],
  ])('to %s is refused, and nothing changes hands', (_whom, wrong) => {
    const run = handsOn(pair(), wrong);
    expect(run.last('agent.toolReturned')).toMatchObject({ status: 'error' });
    expect(run.types()).not.toContain('agent.handoff');
    expect(run.request.agentId).toBe(agentId('first'));
  });

  test('back and forth is bounded by the turns of the node', () => {
    const both = { manifest: { toolAllowlist: ['openwop:handoff'] } };
    const run = new AgentScript({ agents: { first: both, second: both }, config: { limits: { maxTurns: 5 } } });
    for (let i = 0; i < 5; i++) {
      const to = run.request.agentId === agentId('first') ? 'second' : 'first';
      run.calls(['openwop_handoff', { agentId: agentId(to), message: 'You.' }]);
    }
    expect(run.error.code).toBe('loop_limit_exceeded');
    const started = run.all('agent.invocation.started').length;
    expect(run.all('agent.invocation.completed')).toHaveLength(started);
  });
});

describe('schemas', () => {
  const returnSchema = {
    type: 'object',
    required: ['n'],
    properties: { n: { type: 'number' } },
    additionalProperties: false,
  };
  const structured = (config: JsonObject = {}) => new AgentScript({ agents: { solo: { returnSchema } }, config });

  test('a task off its schema fails the node before the agent sees anything', () => {
    const taskSchema = { type: 'object', required: ['topic'] };
    const run = new AgentScript({ agents: { solo: { taskSchema } } });
    expect(run.error).toMatchObject({ code: 'handoff_task_schema_violation', retryable: false });
    expect(run.types().filter((type) => type.startsWith('agent.') || type.startsWith('cairn.model'))).toEqual([]);
  });

  test('the model is asked for JSON, and the result is that value', () => {
    const run = structured();
    expect(run.request.responseSchema).toEqual(returnSchema);
    run.says({ text: '```json\n{"n":1}\n```' });
    expect(run.outputs).toMatchObject({ result: { n: 1 } });
    expect(run.last('agent.decided').decision).toEqual({ n: 1 });
    expect(run.last('agent.invocation.completed').schemaValidated).toBe(true);
  });

  test('a result off its schema is repaired once, with what is wrong', () => {
    const run = structured().says({ text: '{"m":1}' });
    const note = run.request.messages.at(-1) as { text: string };
    expect(note).toMatchObject({ role: 'user', text: expect.stringContaining('required shape') });
    expect(note.text).toContain('n');
    run.says({ text: '{"n":2}' });
    expect(run.outputs).toMatchObject({ result: { n: 2 } });
  });

  test('a node that allows no correction fails at the first result off its schema', () => {
    const config = { outputSchema: returnSchema, retryOnInvalidJson: 0 };
    const run = new AgentScript({ type: 'core.ai.structuredOutput', config }).says({ text: '{"m":1}' });
    expect(run.error.code).toBe('handoff_return_schema_violation');
    expect(run.all('cairn.model.requested')).toHaveLength(1);
  });

  test('no node allows more corrections than discovery says', () => {
    const config = { outputSchema: returnSchema, retryOnInvalidJson: SCHEMA_ROUNDS };
    expect(() => new AgentScript({ type: 'core.ai.structuredOutput', config })).toThrow(
      /config\.retryOnInvalidJson \(node a\): must be at most 1, because a result is checked 2 times at most/,
    );
  });

  test.each(['{"m":1}', 'n is 1', '', '[1'])(
    'a result that stays off its schema (%j) fails the node and is stored nowhere',
    (text) => {
      const run = structured().says({ text }).says({ text });
      expect(run.error.code).toBe('handoff_return_schema_violation');
      expect(run.last('agent.invocation.completed')).toMatchObject({ outcome: 'failed', schemaValidated: false });
      expect(run.types()).not.toContain('agent.decided');
      expect(run.all('cairn.model.requested')).toHaveLength(2);
    },
  );

  test('a result that is nested without end is off every schema', () => {
    const run = new AgentScript({ agents: { solo: { returnSchema: {} } } }).says({
      text: '['.repeat(9_000) + ']'.repeat(9_000),
    });
    expect(run.request.messages.at(-1)).toMatchObject({ text: expect.stringContaining('levels deep') });
  });

  test('a decision off the schema is repaired as well', () => {
    const run = new AgentScript({ agents: { solo: { returnSchema, manifest: { confidence: {} } } } });
    decides(run, 1, { m: 1 });
    expect(run.types()).not.toContain('agent.decided');
    expect(run.request.messages.slice(-2)).toMatchObject([
      { role: 'tool', isError: true },
      { role: 'user', text: expect.stringContaining('required shape') },
    ]);
    expect(decides(run, 1, { n: 1 }).outputs).toMatchObject({ result: { n: 1 } });
  });

  test('a repair that no turn is left for fails by the turns', () => {
    const run = structured({ limits: { maxTurns: 1 } }).says({ text: 'no' });
    expect(run.error.code).toBe('loop_limit_exceeded');
  });
});
