import { type RunId, TerminalError } from '@cairn/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OperatorNotice } from '../engine/ports.ts';
import { defineStep } from '../engine/workflow/define-step.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import type { ConfigInput } from '../server/config/config.ts';
import { createHostOver, type Host } from '../server/create-host.ts';
import { chain } from '../server/sample-workflows.kit.ts';
import { loaded } from './otlp.ts';
import { otlpReceiver } from './otlp-receiver.kit.ts';

const key = 'a-key-of-sixteen-or-more';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';

const charge = defineStep({ name: 'charge', safety: 'read', run: async () => ({ paid: true }) });
const workflow = chain('order', { typeId: charge.typeId });

interface Started {
  readonly host: Host;
  readonly notices: OperatorNotice[];
}

async function hostWith(otel: ConfigInput['otel'], store: Store = inMemoryStore()): Promise<Started> {
  const notices: OperatorNotice[] = [];
  const host = await createHostOver(store, {
    config: { port: 0, hostId: 'eu-1', keys: [{ key, tenant: 't' }], otel },
    steps: [charge],
    workflows: [workflow],
    report: (notice) => void notices.push(notice),
  });
  onTestFinished(() => host.close());
  return { host, notices };
}

/** Starts a run over HTTP and waits for its end. */
async function runOrder({ host }: Started): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const traced = { ...headers, traceparent: `00-${traceId}-${parent}-01` };
  const body = JSON.stringify({ workflowId: 'order' });
  const created = await fetch(`${host.url}/v1/runs`, { method: 'POST', headers: traced, body });
  expect(created.status).toBe(201);
  const { runId } = (await created.json()) as { runId: string };
  for (;;) {
    const answer = await fetch(`${host.url}/v1/runs/${runId}/events/poll?timeout=5`, { headers });
    if (((await answer.json()) as { isTerminal: boolean }).isTerminal) return runId;
  }
}

describe.each(['http/json', 'http/protobuf'] as const)('over %s', (protocol) => {
  it('a collector gets the spans of a run, in the trace of its creator', async () => {
    const receiver = await otlpReceiver();
    const store = inMemoryStore();
    const started = await hostWith({ endpoint: receiver.url, protocol, headers: { 'x-team': 'blue' } }, store);
    const runId = (await runOrder(started)) as RunId;
    const rows = await store.log.read({ runId, after: -1, limit: 100 });
    await started.host.close();
    const { spans } = receiver;
    expect(spans.map(({ name }) => name)).toEqual([
      `openwop.activity.${charge.typeId}`,
      `openwop.node.${charge.typeId}.attempt`,
      `openwop.node.${charge.typeId}`,
      'openwop.run',
    ]);
    const [call, attempt, node, run] = spans;
    expect(spans.every((span) => span.traceId === traceId)).toBe(true);
    expect([call?.parentSpanId, attempt?.parentSpanId, node?.parentSpanId, run?.parentSpanId]).toEqual([
      attempt?.spanId,
      node?.spanId,
      run?.spanId,
      parent,
    ]);
    // INTERNAL is 1 on the wire, SERVER 2, CLIENT 3.
    expect(spans.map(({ kind }) => kind)).toEqual([3, 1, 1, 2]);
    expect(spans.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
    expect(run?.attributes).toMatchObject({
      'openwop.run_id': runId,
      'openwop.workflow_id': 'order',
      'openwop.tenant_id': 't',
    });
    expect(node?.attributes['openwop.node_attempt']).toBe(0);
    expect(run?.events[0]).toMatchObject({
      name: 'openwop.event.append',
      attributes: { 'openwop.event_type': 'run.started', 'openwop.event_seq': 0 },
    });
    expect([run?.startMs, run?.endMs]).toEqual([rows[0]?.at, rows.at(-1)?.at]);
    expect(receiver.requests[0]?.headers).toMatchObject({
      'x-team': 'blue',
      'content-type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
    });
    expect(receiver.resources[0]).toMatchObject({ 'service.name': 'cairn', 'service.instance.id': 'eu-1' });
  });

  it('a collector gets the metrics, at the latest when the host stops', async () => {
    const receiver = await otlpReceiver();
    const started = await hostWith({ endpoint: receiver.url, protocol });
    await runOrder(started);
    await started.host.close();
    const found = (name: string) => receiver.metrics.find((metric) => metric.name === name);
    const ofRun = { 'openwop.workflow_id': 'order', 'openwop.tenant_id': 't' };
    expect(found('openwop.run.created')).toEqual({
      name: 'openwop.run.created',
      unit: '{run}',
      kind: 'sum',
      points: [{ attributes: ofRun, value: 1 }],
    });
    expect(found('openwop.run.duration')).toMatchObject({
      unit: 's',
      kind: 'histogram',
      points: [{ attributes: { 'openwop.run_status': 'completed', ...ofRun }, value: { count: 1 } }],
    });
    const histogram = found('openwop.run.duration')?.points[0]?.value as { readonly buckets: readonly number[] };
    expect(histogram.buckets.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(found('openwop.run.active')).toMatchObject({
      kind: 'gauge',
      points: [{ attributes: { 'openwop.tenant_id': 'all' }, value: 0 }],
    });
    expect(found('openwop.queue.depth')?.points[0]?.value).toBe(0);
    expect(found('openwop.run.backlog')?.points[0]?.value).toMatchObject({ count: 1 });
    expect(Number(found('process.memory.usage')?.points[0]?.value)).toBeGreaterThan(1_000_000);
  });
});

describe('a collector in trouble', () => {
  it('that nobody answers for does not slow runs, and is told of once for spans', async () => {
    const receiver = await otlpReceiver();
    await receiver.close();
    const started = await hostWith({ endpoint: receiver.url, headers: { authorization: 'top-secret-token' } });
    for (let i = 0; i < 5; i += 1) await runOrder(started);
    await started.host.close();
    const warnings = started.notices.filter(({ level }) => level === 'warn');
    expect(warnings.length).toBeLessThanOrEqual(2);
    expect(JSON.stringify(started.notices)).not.toContain('top-secret-token');
  });

  it('gets what it missed after the host was started again', async () => {
    const store = inMemoryStore();
    const away = await otlpReceiver(() => 503);
    // The same store, open, in two lives of the host.
    const kept: Store = { ...store, close: async () => undefined };
    const first = await hostWith({ endpoint: away.url }, kept);
    const runId = await runOrder(first);
    await first.host.close();
    expect(away.spans).toEqual([]);
    const back = await otlpReceiver();
    const second = await hostWith({ endpoint: back.url }, kept);
    await runOrder(second);
    await second.host.close();
    const runs = back.spans
      .filter(({ name }) => name === 'openwop.run')
      .map(({ attributes }) => attributes['openwop.run_id']);
    expect(runs).toHaveLength(2);
    expect(runs[0]).toBe(runId);
  });
});

describe('exporters that are not installed', () => {
  it('are named when they are configured', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const loading = loaded(() => Promise.reject(missing));
    await expect(loading).rejects.toThrow(TerminalError);
    await expect(loading).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('not installed'),
      hint: expect.stringContaining('optional dependencies'),
    });
  });

  it('are not blamed for another error', async () => {
    const broken = new SyntaxError('odd');
    await expect(loaded(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});
