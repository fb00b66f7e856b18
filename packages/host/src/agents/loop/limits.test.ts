import { describe, expect, test } from 'vitest';
import { AgentScript, agentId, testLoopOptions } from './agent-script.kit.ts';

test('what no model reads is not said to one, and the run is not made to carry it', () => {
  const run = new AgentScript();
  for (let turn = 0; turn < 12 && run.status === 'running'; turn++) {
    run.calls(...Array.from({ length: 5 }, () => ['openwop_look'] as const));
    for (let i = 0; i < 5; i++) run.result('openwop:look', 'x'.repeat(230_000));
  }
  expect(run.error).toMatchObject({ code: 'model_call_failed', details: { class: 'context_length' } });
  expect(run.error.message).toContain('more than 8000000 characters');
  expect(run.all('agent.toolReturned')).toHaveLength(35);
});

describe('budgets stop before the next call', () => {
  test('turns of the model: 16 when nobody says otherwise', () => {
    const run = new AgentScript();
    for (let i = 0; i < 16; i++) run.calls(['openwop_look']).result('openwop:look');
    expect(run.all('cairn.model.requested')).toHaveLength(16);
    expect(run.story().slice(-3)).toEqual(['cap.breached', 'agent.invocation.completed', 'node.failed']);
    expect(run.last('cap.breached')).toEqual({ kind: 'loop-iterations', limit: 16, observed: 17 });
    expect(run.error).toMatchObject({ code: 'loop_limit_exceeded', retryable: false });
    expect(run.last('run.failed')).toMatchObject({ failedNodeId: 'a', error: { code: 'loop_limit_exceeded' } });
  });

  test('tool calls: a turn that asks for more than are left gets none', () => {
    const run = new AgentScript({ config: { limits: { maxToolCalls: 2 } } });
    run.calls(['openwop_look']).result('openwop:look');
    run.calls(['openwop_look', {}, 'x'], ['openwop_save', {}, 'y']);
    expect(run.all('agent.toolCalled')).toHaveLength(1);
    expect(run.last('cap.breached')).toMatchObject({ kind: 'budget-tool-calls', limit: 2, observed: 3 });
    expect(run.error).toMatchObject({ code: 'budget_exhausted', details: { whose: 'node' } });
  });

  test.each([
    ['the node', { config: { limits: { maxTokens: 20 } }, configurable: { budget: { maxTokens: 1000 } } }, 'node'],
    ['the run', { config: { limits: { maxTokens: 1000 } }, configurable: { budget: { maxTokens: 20 } } }, 'run'],
  ])('tokens: the stricter limit of node and run, here that of %s', (_who, options, whose) => {
    const run = new AgentScript(options).calls(['openwop_look']).result('openwop:look');
    expect(run.types()).not.toContain('cap.breached');
    run.calls(['openwop_look']).result('openwop:look');
    expect(run.last('cap.breached')).toMatchObject({ kind: 'budget-tokens', limit: 20, observed: 30 });
    expect(run.error.details).toMatchObject({ whose });
    expect(run.all('cairn.model.requested')).toHaveLength(2);
  });

  test('tokens that are spent exactly count as used up', () => {
    const run = new AgentScript({ config: { limits: { maxTokens: 15 } } })
      .calls(['openwop_look'])
      .result('openwop:look');
    expect(run.last('cap.breached')).toMatchObject({ limit: 15, observed: 16 });
  });

  test('cost, by the prices of the model', () => {
    const run = new AgentScript({ config: { provider: 'dear', limits: { maxCostUsd: 0.5 } } });
    run.says({ toolCalls: [{ id: '1', name: 'openwop_look', input: {} }], costUsd: 0.75 }).result('openwop:look');
    expect(run.last('provider.usage')).toMatchObject({ costEstimateUsd: 0.75, currency: 'USD' });
    expect(run.last('cap.breached')).toMatchObject({ kind: 'budget-cost', limit: 0.5, observed: 0.75 });
    expect(run.error.code).toBe('budget_exhausted');
  });

  test('a limit of no money makes no call at all', () => {
    const run = new AgentScript({ config: { provider: 'dear', limits: { maxCostUsd: 0 } } });
    expect(run.error.code).toBe('budget_exhausted');
    expect(run.types()).not.toContain('cairn.model.requested');
    expect(run.types()).not.toContain('agent.invocation.started');
  });

  test.each([
    ['a limit of cost where no price is known', { config: { limits: { maxCostUsd: 1 } } }, /price of scripted\/small/],
    ['a budget of cost where no price is known', { configurable: { budget: { maxCostUsd: 1 } } }, /price of scripted/],
    ['a budget that is no object', { configurable: { budget: [] } }, /must be an object/],
    ['a budget this host does not keep', { configurable: { budget: { maxRetries: 1 } } }, /maxRetries is not known/],
    ['a budget that is no number', { configurable: { budget: { maxTokens: '5' } } }, /must be a whole number/],
  ])('%s is refused before the run begins', (_what, options, message) => {
    const begun = () => new AgentScript(options as never);
    expect(begun).toThrow(expect.objectContaining({ code: 'validation_error' }));
    expect(begun).toThrow(message);
  });

  test('a colleague whose price is not known does not begin where cost is limited', () => {
    const agents = { solo: { manifest: { toolAllowlist: ['openwop:handoff'] } }, dear: {} };
    const loopOptions = {
      models: {
        find: (() => {
          let found = 0;
          const { models } = testLoopOptions();
          return ({ selection }: Parameters<typeof models.find>[0]) =>
            models.find({ selection: { ...selection, provider: found++ < 3 ? 'dear' : 'scripted' } });
        })(),
      },
    };
    const run = new AgentScript({ agents, config: { limits: { maxCostUsd: 1 } }, loopOptions });
    run.calls(['openwop_handoff', { agentId: agentId('dear'), message: 'You do it.' }]);
    expect(run.error).toMatchObject({ code: 'config_validation_failed' });
    expect(run.all('agent.invocation.started')).toHaveLength(1);
  });

  test('a model that is not configured fails the node at its start', () => {
    const run = new AgentScript({ configurable: { 'ai.provider': 'nowhere' } });
    expect(run.error).toMatchObject({ code: 'model_not_configured' });
    expect(run.types()).not.toContain('agent.invocation.started');
  });
});

describe('a call of the model that fails', () => {
  const attempts = (run: AgentScript) =>
    run.all('cairn.model.requested').map(({ callId, attempt }) => `${callId} ${attempt}`);

  test('is tried again as the next attempt of the same call, after a wait that grows', () => {
    const run = new AgentScript().fails();
    expect(attempts(run)).toEqual(['a#0.0/m0 1']);
    expect(run.last('cairn.error')).toMatchObject({ scope: 'llm', retryable: true, attempt: 1, retryAfterMs: 1_000 });
    run.passes(999);
    expect(attempts(run)).toHaveLength(1);
    run.passes(1);
    expect(attempts(run)).toEqual(['a#0.0/m0 1', 'a#0.0/m0 2']);
    run.fails().passes(1_999);
    expect(attempts(run)).toHaveLength(2);
    run.passes(1);
    expect(run.says().status).toBe('completed');
    expect(run.all('provider.usage')).toHaveLength(1);
  });

  test('waits as long as the provider asks for', () => {
    const run = new AgentScript().fails({ class: 'rate_limited', code: 'rate_limited', retryAfterMs: 60_000 });
    run.passes(59_999);
    expect(attempts(run)).toHaveLength(1);
    expect(attempts(run.passes(1))).toHaveLength(2);
  });

  test('gives up after five attempts, with the bracket closed', () => {
    const run = new AgentScript();
    for (let i = 0; i < 4; i++) run.fails().passes(60_000);
    run.fails();
    expect(run.error).toMatchObject({ code: 'model_call_failed', details: { class: 'overloaded' } });
    expect(run.error.message).toContain('after 5 attempts');
    expect(run.last('agent.invocation.completed').outcome).toBe('failed');
  });

  test.each([
    ['will not pass', { retryable: false, class: 'auth' as const }],
    ['asks for a longer wait than anybody has', { class: 'rate_limited' as const, retryAfterMs: 300_001 }],
  ])('that %s ends the node at once', (_what, failure) => {
    const run = new AgentScript().fails(failure);
    expect(run.status).toBe('failed');
    expect(run.types()).not.toContain('cairn.timer.set');
  });

  test('a filtered answer ends as a refusal', () => {
    const run = new AgentScript().fails({ class: 'content_filter', retryable: false });
    expect(run.error).toMatchObject({ code: 'model_refused' });
    expect(run.last('agent.invocation.completed').outcome).toBe('refused');
  });

  test('what readers saw of the attempt ends before the next one', () => {
    const chunk = { nodeId: 'a', runId: 'run_1', chunk: 'Ha', isLast: false, channel: 'c' };
    const run = new AgentScript().streams('output.chunk', chunk).fails({ class: 'network' });
    expect(run.last('cairn.model.abandoned')).toMatchObject({ callId: 'a#0.0/m0', attempt: 1, reason: 'network' });
    expect(run.passes(1_000).says({ chunks: 0 }).all('output.chunk')).toEqual([chunk]);
    expect(new AgentScript().fails().types()).not.toContain('cairn.model.abandoned');
  });

  test('an error that nobody classified is not tried again', () => {
    const run = new AgentScript();
    run.lands(run.modelCall.callId, { error: { code: 'node_execution_failed', message: 'Boom.' } });
    expect(run.last('cairn.model.returned').error).toMatchObject({ class: 'unknown', retryable: false });
    expect(run.error).toMatchObject({ code: 'node_execution_failed' });
  });
});

describe('another attempt of the node', () => {
  const settings = { retry: { maxAttempts: 2, backoffMs: 10 } };

  test('begins afresh, with calls of its own', () => {
    const run = new AgentScript({ settings }).says({ finish: 'error' }).passes(10);
    expect(run.modelCall.callId).toBe('a#0.1/m0');
    expect(run.last('agent.invocation.started').invocationId).toBe('a#0.1/0');
    expect(run.says().status).toBe('completed');
  });

  test('is not made once something was changed outside', () => {
    const run = new AgentScript({ settings }).calls(['openwop_save']).result('openwop:save').says({ finish: 'error' });
    expect(run.error).toMatchObject({ code: 'model_call_failed', retryable: false });
  });
});
