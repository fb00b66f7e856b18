import { describe, expect, it } from 'vitest';
import { CANARY, eventsOf, nodeStarted, type Said, START_AT, someRun, started } from '../run-history.kit.ts';
import { runSpans } from './run-spans.ts';
import type { SpanDoc } from './span-model.ts';

const spansOf = (...said: readonly Said[]): readonly SpanDoc[] => runSpans(someRun, eventsOf(said));

/** Each span under its parent, as indented names. */
function tree(spans: readonly SpanDoc[], parent: string | null = null, depth = 0): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const isBelow = ({ parentSpanId }: SpanDoc) =>
    parent === null ? parentSpanId === null || !known.has(parentSpanId) : parentSpanId === parent;
  return spans
    .filter(isBelow)
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...tree(spans, span.spanId, depth + 1)]);
}

const one = (spans: readonly SpanDoc[], name: string): SpanDoc => {
  const found = spans.filter((span) => span.name === name);
  expect(found).toHaveLength(1);
  return found[0] as SpanDoc;
};

const step = (more = {}) => ({ nodeId: 'a', callId: 'c', step: 'shop.charge', attempt: 1, safety: 'read', ...more });

describe('the spans of a run', () => {
  it('are the run, its nodes, their attempts, and below those calls and questions', () => {
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['cairn.step.requested', step()],
      ['cairn.step.returned', { nodeId: 'a', callId: 'c', attempt: 1, outcome: 1 }, 30],
      ['node.completed', { nodeId: 'a' }, 5],
      nodeStarted('gate'),
      ['interrupt.requested', { nodeId: 'gate', interruptId: 'i', kind: 'approval' }],
      ['interrupt.resolved', { nodeId: 'gate', interruptId: 'i' }, 1_000],
      ['node.completed', { nodeId: 'gate' }],
      ['run.completed', {}],
    );
    expect(tree(spans)).toEqual([
      'openwop.run',
      '  openwop.node.type.a',
      '    openwop.node.type.a.attempt',
      '      openwop.activity.shop.charge',
      '  openwop.node.type.gate',
      '    openwop.node.type.gate.attempt',
      '    openwop.interrupt',
    ]);
    const call = one(spans, 'openwop.activity.shop.charge');
    expect(Date.parse(call.endedAt ?? '') - Date.parse(call.startedAt)).toBe(30);
    expect(call).toMatchObject({ kind: 'client', status: { code: 'ok' } });
    expect(one(spans, 'openwop.run')).toMatchObject({
      startedAt: new Date(START_AT).toISOString(),
      endedAt: new Date(START_AT + 1_035).toISOString(),
      status: { code: 'ok' },
    });
  });

  it('show the turns and tools of an agent as calls, by provider and by tool, with who made them', () => {
    const turn = {
      nodeId: 'a',
      callId: 'a/m0',
      attempt: 1,
      safety: 'read',
      agentId: 'core.a.b',
      provider: 'acme',
      model: 'm-1',
    };
    const tool = {
      nodeId: 'a',
      callId: 'a/t0',
      agentId: 'core.a.b',
      toolName: 'openwop:time',
      inputs: { zone: CANARY },
    };
    const piece: Said = ['output.chunk', { nodeId: 'a', runId: 'r', chunk: CANARY, isLast: false }];
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['cairn.model.requested', turn],
      ...Array.from({ length: 300 }, () => piece),
      [
        'cairn.model.returned',
        {
          nodeId: 'a',
          callId: 'a/m0',
          attempt: 1,
          turn: { text: CANARY, model: 'm-1-2026', usage: { inputTokens: 5, outputTokens: 7 } },
        },
        20,
      ],
      ['agent.toolCalled', tool],
      ['agent.toolReturned', { ...tool, error: { code: 'tool_failed', message: CANARY }, status: 'error' }, 5],
      ['node.completed', { nodeId: 'a' }],
      ['run.completed', {}],
    );
    expect(tree(spans).slice(3)).toEqual(['      openwop.activity.acme', '      openwop.activity.openwop:time']);
    const agent = { 'gen_ai.agent.id': 'core.a.b' };
    expect(one(spans, 'openwop.activity.acme')).toMatchObject({
      attributes: {
        ...agent,
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'acme',
        'gen_ai.request.model': 'm-1',
        'gen_ai.response.model': 'm-1-2026',
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.usage.output_tokens': 7,
      },
      status: { code: 'ok' },
    });
    expect(one(spans, 'openwop.activity.openwop:time')).toMatchObject({
      attributes: { ...agent, 'gen_ai.tool.name': 'openwop:time' },
      status: { code: 'error', message: 'tool_failed' },
    });
    // Pieces of text would crowd out what else is noted.
    const noted = one(spans, 'openwop.node.type.a.attempt').events.map(
      ({ attributes }) => attributes['openwop.event_type'],
    );
    expect(noted).toEqual(expect.arrayContaining(['agent.toolCalled', 'agent.toolReturned']));
    expect(noted).not.toContain('output.chunk');
    expect(JSON.stringify(spans)).not.toContain(CANARY);
  });

  it('show the turn of an agent that a question is put to, and its tokens; a function that answers has none', () => {
    const asked = (callId: string) =>
      step({ callId, step: 'cairn.coordinator', routes: 'i', agentId: 'core.a.above', level: 1 });
    const usage = { provider: 'acme', model: 'm-1', inputTokens: 30, outputTokens: 5 };
    const returned = { nodeId: 'a', attempt: 1 };
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['cairn.step.requested', asked('c1'), 1],
      ['cairn.step.returned', { ...returned, callId: 'c1', outcome: { forward: true, usage } }],
      ['cairn.step.requested', asked('c2'), 1],
      ['cairn.step.returned', { ...returned, callId: 'c2', outcome: { answer: CANARY } }],
      ['cairn.step.requested', step({ callId: 'c3' }), 1],
      ['cairn.step.returned', { ...returned, callId: 'c3', outcome: { usage } }],
    );
    const attributes = spans
      .filter(({ name }) => name.startsWith('openwop.activity.'))
      .map((span) =>
        Object.fromEntries(Object.entries(span.attributes).filter(([name]) => name.startsWith('gen_ai.'))),
      );
    expect(attributes).toEqual([
      {
        'gen_ai.agent.id': 'core.a.above',
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'acme',
        'gen_ai.request.model': 'm-1',
        'gen_ai.usage.input_tokens': 30,
        'gen_ai.usage.output_tokens': 5,
      },
      { 'gen_ai.agent.id': 'core.a.above' },
      {},
    ]);
    expect(JSON.stringify(spans)).not.toContain(CANARY);
  });

  it('say what the protocol names, and nothing else in its namespace', () => {
    const tags = ['red', 'blue'];
    const metadata = { team: 'x', count: 3, deep: { secret: 1 }, long: 'y'.repeat(1_000) };
    const spans = spansOf(started({ tags, metadata, scopeId: 'order-7' }), nodeStarted('gate', 2), [
      'interrupt.requested',
      { nodeId: 'gate', interruptId: 'i', kind: 'approval' },
    ]);
    const common = {
      'openwop.run_id': 'run_some',
      'openwop.workflow_id': 'wf',
      'openwop.tenant_id': 't',
      'openwop.scope_id': 'order-7',
    };
    expect(one(spans, 'openwop.run').attributes).toEqual({
      ...common,
      'openwop.protocol_version': '1.0',
      'openwop.run.tag.0': 'red',
      'openwop.run.tag.1': 'blue',
      'openwop.run.metadata.team': 'x',
      'openwop.run.metadata.count': 3,
      'openwop.run.metadata.long': `${'y'.repeat(255)}…`,
    });
    expect(one(spans, 'openwop.node.type.gate').attributes).toEqual({
      ...common,
      'openwop.node_id': 'gate',
      'openwop.node_type': 'type.gate',
      'openwop.node_attempt': 2,
      'openwop.event_seq': 2,
    });
    expect(one(spans, 'openwop.interrupt').attributes).toEqual({
      ...common,
      'openwop.node_id': 'gate',
      'openwop.interrupt_kind': 'approval',
      'openwop.interrupt_id': 'i',
      'openwop.interrupt_count': 1,
    });
  });

  it('that are open have no end', () => {
    const spans = spansOf(started(), nodeStarted('a'), ['cairn.step.requested', step()]);
    expect(spans.map(({ endedAt }) => endedAt)).toEqual([null, null, null, null]);
  });

  it('give each attempt a span of its own, and the node one over all', () => {
    const lastError = { code: 'node_timeout', message: CANARY };
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['node.retried', { nodeId: 'a', attempt: 1, lastError }, 10],
      nodeStarted('a', 1, 50),
      ['node.failed', { nodeId: 'a', error: lastError }, 20],
      ['run.failed', { error: lastError }],
    );
    const attempts = spans.filter(({ name }) => name === 'openwop.node.type.a.attempt');
    expect(attempts.map(({ attributes }) => attributes['openwop.node_attempt'])).toEqual([0, 1]);
    expect(attempts.map(({ status }) => status)).toEqual(
      Array.from({ length: 2 }, () => ({ code: 'error', message: 'node_timeout' })),
    );
    const node = one(spans, 'openwop.node.type.a');
    expect(Date.parse(node.endedAt ?? '') - Date.parse(node.startedAt)).toBe(80);
    expect(node.attributes).toMatchObject({ 'openwop.node_attempt': 1, 'error.type': 'node_timeout' });
  });

  it('show a call that was asked for again as interrupted, and the second beside it', () => {
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['cairn.step.requested', step()],
      ['cairn.step.requested', step({ attempt: 2 }), 100],
      ['cairn.step.returned', { nodeId: 'a', callId: 'c', attempt: 2, error: { code: 'x_failed', message: 'm' } }, 10],
    );
    const calls = spans.filter(({ name }) => name === 'openwop.activity.shop.charge');
    expect(calls.map(({ status }) => status.message)).toEqual(['step_interrupted', 'x_failed']);
  });

  it('count the questions of a node, and tell one that ran out of time', () => {
    const ask = (interruptId: string): Said => ['interrupt.requested', { nodeId: 'a', interruptId, kind: 'custom' }];
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ask('i'),
      ['interrupt.resolved', { nodeId: 'a', interruptId: 'i', reason: 'timeout' }, 9],
      ask('j'),
      ['node.cancelled', { nodeId: 'a' }],
    );
    const asked = spans.filter(({ name }) => name === 'openwop.interrupt');
    expect(asked.map(({ attributes }) => attributes['openwop.interrupt_count'])).toEqual([1, 2]);
    expect(asked.map(({ status }) => status)).toEqual([{ code: 'error', message: 'timeout' }, { code: 'unset' }]);
    expect(asked.every(({ endedAt }) => endedAt !== null)).toBe(true);
  });

  it('close a question that is asked again under the same id', () => {
    const ask: Said = ['interrupt.requested', { nodeId: 'a', interruptId: 'i', kind: 'custom' }, 10];
    const asked = spansOf(started(), nodeStarted('a'), ask, ask).filter(({ name }) => name === 'openwop.interrupt');
    expect(asked.map(({ endedAt }) => endedAt === null)).toEqual([false, true]);
  });

  it('carry limits that were met and what models cost', () => {
    const usage = { nodeId: 'a', provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, costEstimateUsd: 0.25 };
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['provider.usage', usage],
      ['provider.usage', { ...usage, currency: 'EUR' }],
      ['cap.breached', { kind: 'node-executions', limit: 3, observed: 4 }],
    );
    const cost = {
      'openwop.cost.tokens.input': 6,
      'openwop.cost.tokens.output': 8,
      'openwop.cost.tokens.total': 14,
      'openwop.cost.usd': 0.25,
      'openwop.cost.currency': 'USD',
      'openwop.cost.estimated': true,
      'openwop.cost.provider': 'p',
    };
    expect(one(spans, 'openwop.node.type.a').attributes).toMatchObject(cost);
    expect(one(spans, 'openwop.run').attributes).toMatchObject({
      ...cost,
      'openwop.cap_kind': 'node-executions',
      'openwop.cap_limit': 3,
      'openwop.cap_observed': 4,
    });
  });

  it('put a bill that names no node under way on the run alone', () => {
    const usage = { provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4 };
    const spans = spansOf(
      started(),
      nodeStarted('a'),
      ['provider.usage', usage],
      ['provider.usage', { ...usage, nodeId: 'z' }],
    );
    expect(one(spans, 'openwop.run').attributes['openwop.cost.tokens.total']).toBe(14);
    expect(one(spans, 'openwop.node.type.a').attributes['openwop.cost.tokens.total']).toBeUndefined();
  });

  it('note every event in the span it belongs to, up to a bound', () => {
    const lines: readonly Said[] = Array.from({ length: 200 }, () => [
      'log.appended',
      { nodeId: 'a', message: CANARY },
    ]);
    const spans = spansOf(started(), nodeStarted('a'), ...lines);
    expect(one(spans, 'openwop.run').events).toEqual([
      {
        name: 'openwop.event.append',
        at: new Date(START_AT).toISOString(),
        attributes: { 'openwop.event_type': 'run.started', 'openwop.event_seq': 0 },
      },
    ]);
    expect(one(spans, 'openwop.node.type.a.attempt').events).toHaveLength(128);
  });

  it('are in the trace of the request that created the run, below its span', () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const run = one(spansOf(started({ traceparent })), 'openwop.run');
    expect(run).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7' });
    const alone = one(spansOf(started({ traceparent: 'garbage' })), 'openwop.run');
    expect(alone.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(alone).toMatchObject({ parentSpanId: null });
    expect(alone.spanId).toBe(run.spanId);
  });

  it('are none before the run has started', () => {
    expect(spansOf()).toEqual([]);
    expect(spansOf(['node.started', { nodeId: 'a', typeId: 'x' }])).toEqual([]);
  });
});
