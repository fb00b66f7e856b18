import type { JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { AgentScript, type AgentScriptOptions, agentId } from './agent-script.kit.ts';

const solo = agentId('solo');

/** An agent that is asked how sure it is. */
const unsure = (more: AgentScriptOptions = {}, confidence: object = {}): AgentScript =>
  new AgentScript({ agents: { solo: { manifest: { confidence } } }, ...more });

const decides = (run: AgentScript, confidence: unknown, decision: unknown = 'refund') =>
  run.calls(['openwop_decide', { decision, ...(confidence === undefined ? {} : { confidence }) }]);

describe('escalation', () => {
  test.each([
    ['stated exactly at the threshold', 0.7, {}],
    ['not stated', undefined, {}],
    ['at the threshold of the manifest', 0.4, { manifest: 0.4 }],
    ['at the threshold of the run, above it in the manifest', 0.4, { manifest: 0.9, run: 0.4 }],
    ['0 where the run asks for 0', 0, { run: 0 }],
  ])(
    'a confidence that is %s leads to nothing',
    (_what, confidence, { manifest, run }: { manifest?: number; run?: number }) => {
      const configurable = run === undefined ? {} : { configurable: { escalationThreshold: run } };
      const played = decides(
        unsure(configurable, manifest === undefined ? {} : { defaultThreshold: manifest }),
        confidence,
      );
      expect(played.status).toBe('completed');
      expect(played.types()).not.toContain('interrupt.requested');
      expect(played.types()).not.toContain('cap.breached');
    },
  );

  describe.each([
    ['above 1', 1.5],
    ['below 0', -1],
    ['text', '0.2'],
    ['null', null],
    ['an object', { high: true }],
  ])('a confidence that is %s', (_what, confidence) => {
    test('is sent back, and a decision that then states one goes on', () => {
      const run = decides(unsure(), confidence);
      expect(run.last('agent.toolReturned')).toMatchObject({
        toolId: 'openwop:decide',
        status: 'error',
        error: {
          code: 'tool_invalid_arguments',
          error: 'tool_invalid_arguments',
          message: expect.stringContaining(
            `confidence must be a number from 0 to 1, and is ${JSON.stringify(confidence)}`,
          ),
        },
      });
      expect(run.types()).not.toContain('agent.decided');
      expect(decides(run, 0.9).outputs).toMatchObject({ decision: 'refund', confidence: 0.9 });
    });

    test('is never taken as sure when it is repeated: the decision is held', () => {
      const run = decides(decides(unsure(), confidence), confidence);
      expect(run.status).toBe('waiting-approval');
      expect(run.last('agent.decided')).toEqual({
        agentId: solo,
        decision: 'refund',
        invalidConfidence: confidence,
      });
      const held = { agentId: solo, threshold: 0.7, observed: 0, decision: 'refund' };
      expect(run.last('interrupt.requested')).toMatchObject({
        kind: 'low-confidence',
        data: held,
        resumeSchema: { description: expect.stringContaining('is no number from 0 to 1') },
      });
      const approved = run.answers('a', { action: 'approve' });
      expect(approved.outputs).toMatchObject({ decision: 'refund' });
      expect(approved.outputs).not.toHaveProperty('confidence');
    });
  });

  test('a threshold of 0 does not let a confidence pass that is none', () => {
    const run = decides(unsure({ configurable: { escalationThreshold: 0 } }), 'high');
    expect(decides(run, 'high').status).toBe('waiting-approval');
  });

  test.each([
    ['a decision without one', (run: AgentScript) => decides(run, undefined)],
    ['a plain answer', (run: AgentScript) => run.says({ text: 'refund' })],
  ])('after a refused confidence, %s is held too', (_what, then) => {
    const run = then(decides(unsure(), 1.5));
    expect(run.status).toBe('waiting-approval');
    expect(run.answers('a', { action: 'edit', decision: 'repair' }).outputs).toMatchObject({ content: 'repair' });
  });

  test('a handoff beside a refused confidence does not go ahead', () => {
    const run = new AgentScript({
      agents: { solo: { manifest: { confidence: {}, toolAllowlist: ['openwop:handoff'] } }, second: {} },
    });
    const both = (confidence: unknown) =>
      run.calls(
        ['openwop_decide', { decision: 'refund', confidence }],
        ['openwop_handoff', { agentId: agentId('second'), message: 'Pay it.' }],
      );
    both(2);
    expect(run.types()).not.toContain('agent.handoff');
    expect(both(2).status).toBe('waiting-approval');
    expect(run.answers('a', { action: 'approve' }).types()).toContain('agent.handoff');
  });

  test('where the operator suppresses escalation, a repeated confidence that is none passes and is recorded', () => {
    const run = decides(unsure({ loopOptions: { lowConfidence: 'suppress' } }), 1.5);
    expect(decides(run, 1.5).status).toBe('completed');
    expect(run.last('cap.breached')).toMatchObject({ kind: 'confidence-escalation-suppressed', observed: 0 });
  });

  test.each([
    ['default', {}, {}, 0.7],
    ['manifest', {}, { defaultThreshold: 0.9 }, 0.9],
    ['run-option', { configurable: { escalationThreshold: 0.8 } }, { defaultThreshold: 0.1 }, 0.8],
  ] as const)(
    'below the threshold of the %s it is held: decided, suspended, asked',
    (rule, more, confidence, threshold) => {
      const run = decides(unsure(more, confidence), 0.69);
      expect(run.story().slice(6)).toEqual(['agent.decided', 'node.suspended', 'interrupt.requested']);
      expect(run.status).toBe('waiting-approval');
      const held = { agentId: solo, threshold, observed: 0.69, decision: 'refund' };
      expect(run.last('node.suspended')).toMatchObject({
        reason: 'low-confidence',
        kind: 'low-confidence',
        rule,
        ...held,
      });
      expect(run.last('interrupt.requested')).toMatchObject({ kind: 'low-confidence', data: held });
      expect(Object.keys(run.last('interrupt.requested').data as JsonObject)).toEqual(Object.keys(held));
    },
  );

  test('approved, the decision is the output as it stood', () => {
    const run = decides(unsure(), 0.1).answers('a', { action: 'approve' });
    expect(run.outputs).toMatchObject({ decision: 'refund', confidence: 0.1 });
    expect(run.last('agent.invocation.completed')).toMatchObject({ outcome: 'escalated', confidence: 0.1 });
    expect(run.all('agent.decided')).toHaveLength(1);
  });

  test.each([
    ['edited', { action: 'edit', decision: 'repair' }],
    ['ratified as a bare value', 'repair'],
  ])('%s, the decision is what the human says', (_how, answer) => {
    expect(decides(unsure(), 0.1).answers('a', answer).outputs).toMatchObject({ decision: 'repair' });
  });

  test('edited while it hands the work on, the colleague hears what was changed', () => {
    const run = new AgentScript({
      agents: { solo: { manifest: { confidence: {}, toolAllowlist: ['openwop:handoff'] } }, second: {} },
    });
    run.calls(
      ['openwop_decide', { decision: 'refund', confidence: 0.1 }],
      ['openwop_handoff', { agentId: agentId('second'), message: 'Pay it.' }],
    );
    run.answers('a', { action: 'edit', decision: 'repair' });
    expect(run.request.agentId).toBe(agentId('second'));
    expect(run.request.messages).toMatchObject([
      { role: 'user', text: expect.stringMatching(/^Pay it\.\s+.*repair$/) },
    ]);
  });

  test('rejected, the agent hears why and goes on', () => {
    const run = decides(unsure(), 0.1).answers('a', { action: 'reject', feedback: 'Look at the date.' });
    expect(run.status).toBe('running');
    expect(run.request.messages.slice(-2)).toEqual([
      { role: 'tool', callId: 'call_0', name: 'openwop_decide', output: 'A person rejected this.', isError: true },
      { role: 'user', text: 'A person rejected your decision: Look at the date.' },
    ]);
    expect(decides(run, 0.95, 'repair').outputs).toMatchObject({ decision: 'repair', confidence: 0.95 });
    expect(run.all('agent.invocation.started')).toHaveLength(1);
  });

  test('rejected again and again, it ends with its turns', () => {
    const run = unsure({ config: { limits: { maxTurns: 3 } } });
    for (let i = 0; i < 3; i++) decides(run, 0.1).answers('a', { action: 'reject' });
    expect(run.error.code).toBe('loop_limit_exceeded');
  });

  test('rejected for good, the node fails', () => {
    const run = decides(unsure(), 0.1).answers('a', { action: 'reject', feedback: 'Never.', final: true });
    expect(run.error).toMatchObject({ code: 'decision_rejected', message: expect.stringContaining('Never.') });
    expect(run.last('agent.invocation.completed').outcome).toBe('failed');
  });

  test.each([
    ['an edit without a decision', { action: 'edit' }],
    ['an unknown field', { action: 'approve', verdict: 'yes' }],
    ['feedback that is no text', { action: 'reject', feedback: 1 }],
  ])('an answer that is %s is refused, and the question stays open', (_what, answer) => {
    const run = decides(unsure(), 0.1);
    expect(() => run.answers('a', answer as never)).toThrow(/does not fit/);
    expect(run.status).toBe('waiting-approval');
  });

  test('an edited decision must have the shape that the agent would need', () => {
    const returnSchema = { $ref: '#/$defs/q', $defs: { q: { type: 'object', required: ['queue'] } } };
    const run = new AgentScript({ agents: { solo: { manifest: { confidence: {} }, returnSchema } } });
    decides(run, 0.1, { queue: 'x' });
    expect(() => run.answers('a', { action: 'edit', decision: { line: 1 } })).toThrow(/does not fit/);
    expect(run.answers('a', { action: 'edit', decision: { queue: 'y' } }).outputs).toMatchObject({
      result: { queue: 'y' },
      decision: { queue: 'y' },
    });
  });

  test('suppressed by the operator, it passes and the log says so', () => {
    const run = decides(unsure({ loopOptions: { lowConfidence: 'suppress' } }), 0.5);
    expect(run.status).toBe('completed');
    expect(run.last('cap.breached')).toEqual({
      kind: 'confidence-escalation-suppressed',
      limit: 0.7,
      observed: 0.5,
      nodeId: 'a',
    });
    expect(run.last('agent.invocation.completed').outcome).toBe('completed');
  });

  test('survives a crash while the decision is held', () => {
    const run = decides(unsure(), 0.1).crashes().answers('a', { action: 'approve' });
    expect(run.status).toBe('completed');
    expect(run.all('cairn.model.requested')).toHaveLength(1);
  });
});
