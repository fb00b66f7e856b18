import type { ContextId, FoldEvent, RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import { type Family, Meter } from './meter.ts';
import { MetricFeed } from './metric-feed.ts';
import { anyHistory, CANARY, eventsOf, nodeStarted, type Said, someRun, started } from './run-history.kit.ts';

/** Appends these events of one run in one commit. */
async function append(store: Store, events: readonly FoldEvent[], runId = someRun): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  const rows = events.map(({ at, type, nodeId, payload }) => {
    const audience = 'client' as const;
    return { at, type, nodeId, audience, payload: JSON.stringify(payload), task: null };
  });
  const create = { tenant: 't', contextId: `ctx_${runId}` as ContextId, originRunId: runId };
  await store.log.append({ runId, rows, ...(first.seq === 0 ? { create } : {}) });
}

function feeding(store: Store, maxOpenNodes?: number): { readonly meter: Meter; readonly feed: MetricFeed } {
  const meter = new Meter();
  const report = ({ error }: { readonly error?: unknown }) => {
    throw error;
  };
  const feed = new MetricFeed({ store, recorder: meter, report, nextTurn: setImmediate }, maxOpenNodes);
  onTestFinished(() => feed.close());
  feed.lookClosely();
  return { meter, feed };
}

/** Lets what reads the store meanwhile come to its end. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** All figures: counters by their sum, histograms by their count, sum and buckets. */
function figures(families: readonly Family[]): Record<string, unknown> {
  return Object.fromEntries(
    families.flatMap(({ instrument, points }) =>
      points.map(({ attributes, value }) => [
        `${instrument.name} ${Object.values(attributes).join(' ')}`.trim(),
        typeof value === 'number' ? value : [value.count, Math.round(value.sum * 1000)],
      ]),
    ),
  );
}

async function measured(...said: readonly Said[]): Promise<Record<string, unknown>> {
  const store = inMemoryStore();
  const { meter } = feeding(store);
  await append(store, eventsOf(said));
  return figures(meter.read());
}

describe('the metrics of runs', () => {
  it('leave out nodes and calls until somebody looks, and know then what is open', async () => {
    const store = inMemoryStore();
    const meter = new Meter();
    const report = ({ error }: { readonly error?: unknown }) => {
      throw error;
    };
    const feed = new MetricFeed({ store, recorder: meter, report, nextTurn: setImmediate });
    onTestFinished(() => feed.close());
    const events = eventsOf([
      started(),
      nodeStarted('a', 0, 20),
      ['node.completed', { nodeId: 'a' }, 30],
      nodeStarted('b', 0, 5),
      ['node.completed', { nodeId: 'b' }, 40],
      ['run.completed', {}, 5],
    ]);
    await append(store, events.slice(0, 4));
    expect(figures(meter.read())).toEqual({ 'openwop.run.created wf t': 1, 'openwop.queue.enqueued t': 1 });
    feed.lookClosely();
    await append(store, events.slice(4));
    await settled();
    expect(figures(meter.read())).toEqual({
      'openwop.run.created wf t': 1,
      'openwop.queue.enqueued t': 1,
      'openwop.node.completed type.b completed': 1,
      'openwop.node.duration type.b completed': [1, 40],
      'openwop.run.completed completed wf t': 1,
      'openwop.run.duration completed wf t': [1, 100],
    });
  });

  it('count runs and nodes, and measure how long they took', async () => {
    const lastError = { code: 'x', message: 'm' };
    expect(
      await measured(
        started(),
        nodeStarted('a', 0, 20),
        ['node.retried', { nodeId: 'a', attempt: 1, lastError }, 10],
        nodeStarted('a', 1, 100),
        ['node.completed', { nodeId: 'a' }, 30],
        ['node.skipped', { nodeId: 'b' }],
        ['run.completed', {}, 5],
      ),
    ).toEqual({
      'openwop.run.created wf t': 1,
      'openwop.queue.enqueued t': 1,
      'openwop.run.backlog wf t': [1, 20],
      'openwop.node.attempts type.a': 1,
      'openwop.node.completed type.a completed': 1,
      'openwop.node.completed unknown skipped': 1,
      'openwop.node.duration type.a failed': [1, 10],
      'openwop.node.duration type.a completed': [1, 30],
      'openwop.run.completed completed wf t': 1,
      'openwop.run.duration completed wf t': [1, 165],
    });
  });

  it('count calls by whom they ask and how they end, also those that were interrupted or never came back', async () => {
    const step = (callId: string) => ({ nodeId: 'a', callId, step: 'shop.charge', attempt: 1, safety: 'read' });
    const found = await measured(
      started(),
      nodeStarted('a'),
      ['cairn.step.requested', step('c')],
      ['cairn.step.requested', step('c'), 50],
      ['cairn.step.returned', { nodeId: 'a', callId: 'c', attempt: 2, outcome: { error: 1 } }, 7],
      ['cairn.step.requested', step('d')],
      ['cairn.step.returned', { nodeId: 'a', callId: 'd', attempt: 1, error: { code: 'x', message: 'm' } }, 3],
      ['cairn.step.requested', step('e')],
      ['node.failed', { nodeId: 'a', error: { code: 'node_timeout', message: 'm' } }, 100],
    );
    expect(found).toMatchObject({
      'openwop.activity.invocations shop.charge success': 1,
      'openwop.activity.invocations shop.charge error': 3,
      'openwop.activity.duration shop.charge success': [1, 7],
      'openwop.activity.duration shop.charge error': [3, 153],
    });
  });

  it('measure how long people took, or that nobody answered', async () => {
    const ask = (interruptId: string): Said => ['interrupt.requested', { nodeId: 'a', interruptId, kind: 'approval' }];
    const found = await measured(
      started(),
      nodeStarted('a'),
      ask('i'),
      ['interrupt.resolved', { nodeId: 'a', interruptId: 'i', resumeValue: CANARY }, 60_000],
      ask('j'),
      ['interrupt.resolved', { nodeId: 'a', interruptId: 'j', reason: 'timeout' }, 5_000],
      ask('k'),
      ['node.cancelled', { nodeId: 'a' }, 1_000],
    );
    expect(found).toMatchObject({
      'openwop.interrupt.requested approval': 3,
      'openwop.interrupt.duration approval resolved': [1, 60_000],
      'openwop.interrupt.duration approval timeout': [1, 5_000],
      'openwop.interrupt.duration approval cancelled': [1, 1_000],
    });
  });

  it('count limits, tokens, costs and decisions', async () => {
    const usage = { provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4 };
    const decided = (kind: string): Said => ['runOrchestrator.decided', { agentId: 'x', decision: { kind } }];
    const found = await measured(
      started(),
      ['provider.usage', { ...usage, costEstimateUsd: 0.25 }],
      ['provider.usage', { ...usage, costEstimateUsd: 9, currency: 'EUR' }],
      ['cap.breached', { kind: 'node-executions', limit: 1, observed: 2 }],
      decided('next-worker'),
      decided('terminate'),
      ['run.failed', { error: { code: 'x', message: 'm' } }],
    );
    expect(found).toMatchObject({
      'openwop.activity.tokens p input': 6,
      'openwop.activity.tokens p output': 8,
      'openwop.cost.usd p true': 0.25,
      'openwop.cap.exceeded node-executions wf': 1,
      'openwop.orchestrator.decisions next-worker wf t': 1,
      'openwop.orchestrator.decisions terminate wf t': 1,
      'openwop.orchestrator.iterations wf t': [1, 2_000],
      'openwop.run.completed failed wf t': 1,
    });
  });

  it('never name a run, nor anything a run works on', async () => {
    const store = inMemoryStore();
    const { meter } = feeding(store);
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.uuid(), async (events, id) => {
        const runId = `run_${id}` as RunId;
        await append(store, events, runId);
        const text = JSON.stringify(meter.read());
        expect(text).not.toContain(id);
        expect(text).not.toContain(CANARY);
      }),
      { numRuns: 50 },
    );
  });

  test('two processes that share a run count, together, what one would have', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.nat(), async (events, at) => {
        const cut = 1 + (at % (events.length - 1));
        const whole = inMemoryStore();
        const alone = feeding(whole);
        await append(whole, events.slice(0, cut));
        await append(whole, events.slice(cut));
        const store = inMemoryStore();
        const before = feeding(store);
        await append(store, events.slice(0, cut));
        before.feed.close();
        const after = feeding(store);
        await append(store, events.slice(cut));
        await settled();
        expect(sum(figures(before.meter.read()), figures(after.meter.read()))).toEqual(figures(alone.meter.read()));
      }),
      { numRuns: 200 },
    );
  });

  it('are right for rows that come while their run is being read up', async () => {
    const store = inMemoryStore();
    const events = eventsOf([
      started(),
      nodeStarted('a'),
      ['node.completed', { nodeId: 'a' }, 9],
      ['run.completed', {}],
    ]);
    await append(store, events.slice(0, 2));
    const { meter } = feeding(store);
    await Promise.all([append(store, events.slice(2, 3)), append(store, events.slice(3))]);
    await settled();
    expect(figures(meter.read())).toEqual({
      'openwop.node.completed type.a completed': 1,
      'openwop.node.duration type.a completed': [1, 9],
      'openwop.run.completed completed wf t': 1,
      'openwop.run.duration completed wf t': [1, 9],
    });
  });

  it('hold few large rows of runs that are being read up, and count the others without', async () => {
    const store = inMemoryStore();
    const runs = Array.from({ length: 20 }, (_, i) => `run_${i}` as RunId);
    const text = 'x'.repeat(1_000_000);
    const events = eventsOf([started(), nodeStarted('a'), ['node.completed', { nodeId: 'a', outputs: { text } }, 9]]);
    for (const runId of runs) await append(store, events.slice(0, 2), runId);
    const reading = Promise.withResolvers<void>();
    const log = {
      ...store.log,
      read: async (range: Parameters<Store['log']['read']>[0]) => reading.promise.then(() => store.log.read(range)),
    };
    const { meter } = feeding({ ...store, log });
    for (const runId of runs) await append(store, events.slice(2), runId);
    expect(figures(meter.read())).toEqual({ 'openwop.node.completed unknown completed': 4 });
    reading.resolve();
    await settled();
    expect(figures(meter.read())).toMatchObject({ 'openwop.node.completed type.a completed': 16 });
    for (const runId of runs)
      await append(store, eventsOf([started(), ['node.completed', { nodeId: 'b' }]]).slice(1), runId);
    await settled();
    expect(figures(meter.read())).toMatchObject({ 'openwop.node.completed unknown completed': 24 });
  });

  it('know of a long run how long a question waited, and what it does not have to read for it', async () => {
    const store = inMemoryStore();
    const ask = (interruptId: string): Said => ['interrupt.requested', { nodeId: 'a', interruptId, kind: 'approval' }];
    const answer = (interruptId: string, gap: number): Said => [
      'interrupt.resolved',
      { nodeId: 'a', interruptId },
      gap,
    ];
    const events = eventsOf([
      started(),
      nodeStarted('a'),
      ask('early'),
      answer('early', 1),
      ask('i'),
      ask('j'),
      ...Array.from({ length: 400 }, (): Said => ['variable.changed', { name: 'v', next: 1 }]),
      answer('i', 5_000),
      ['run.cancelled', {}, 1_000],
    ]);
    const { length } = events;
    await append(store, events.slice(0, length - 2));
    const { meter } = feeding(store);
    await append(store, events.slice(length - 2, length - 1));
    await settled();
    await append(store, events.slice(length - 1));
    await settled();
    expect(figures(meter.read())).toEqual({
      'openwop.interrupt.duration approval resolved': [1, 5_000],
      'openwop.interrupt.duration approval cancelled': [1, 6_000],
      'openwop.run.completed cancelled wf t': 1,
      'openwop.run.duration cancelled wf t': [1, 6_001],
    });
  });

  it('remember runs with few open nodes in all, and read up one that was forgotten', async () => {
    const store = inMemoryStore();
    const { meter, feed } = feeding(store, 600);
    const first = eventsOf([started(), nodeStarted('a'), ['node.completed', { nodeId: 'a' }, 9]]);
    await append(store, first.slice(0, 2));
    for (let i = 0; i < 999; i += 1) await append(store, eventsOf([started(), nodeStarted('a')]), `run_${i}` as RunId);
    expect(feed.cachedRuns).toBeLessThanOrEqual(601);
    await append(store, first.slice(2));
    await settled();
    expect(figures(meter.read())).toMatchObject({ 'openwop.node.duration type.a completed': [1, 9] });
  });

  it('read up a run in a turn after its commit, because the writer waits in that one', async () => {
    const store = inMemoryStore();
    const [started_, ended] = [eventsOf([started()]), eventsOf([started(), ['run.completed', {}, 5]]).slice(1)];
    await append(store, started_);
    const later: (() => void)[] = [];
    let reads = 0;
    const read: typeof store.log.read = (range) => {
      reads += 1;
      return store.log.read(range);
    };
    const meter = new Meter();
    const watched = { log: { ...store.log, read }, runIndex: store.runIndex };
    const report = () => undefined;
    const feed = new MetricFeed({ store: watched, recorder: meter, report, nextTurn: (go) => void later.push(go) });
    onTestFinished(() => feed.close());
    await append(store, ended);
    expect([reads, later.length]).toEqual([0, 1]);
    later[0]?.();
    await settled();
    expect(reads).toBe(1);
    expect(figures(meter.read())).toMatchObject({ 'openwop.run.completed completed wf t': 1 });
  });

  it('remember a bounded number of runs, and read up one that was forgotten', async () => {
    const store = inMemoryStore();
    const { meter } = feeding(store);
    const first = eventsOf([started(), nodeStarted('a'), ['node.completed', { nodeId: 'a' }, 9]]);
    await append(store, first.slice(0, 2));
    for (let i = 0; i < 5_001; i += 1) await append(store, eventsOf([started()]), `run_${i}` as RunId);
    await append(store, first.slice(2));
    await settled();
    expect(figures(meter.read())).toMatchObject({
      'openwop.run.created wf t': 5_002,
      'openwop.node.duration type.a completed': [1, 9],
    });
  });
});

function sum(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const total = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const known = total[name];
    if (known === undefined) total[name] = value;
    else if (Array.isArray(known) && Array.isArray(value)) total[name] = known.map((part, i) => part + value[i]);
    else total[name] = Number(known) + Number(value);
  }
  return total;
}
