/** What the outside notices of forks: a replay tells nobody and asks nobody, a branch does both as any run does. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { otlpReceiver, type ReceivedSpan } from '../../telemetry/otlp-receiver.kit.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { receiver } from '../webhooks/receiver.kit.ts';
import { countingLook, desk } from './looking-desk.kit.ts';

const key = 'a-key-of-enough-characters';

interface Desk {
  readonly host: Host;
  readonly client: Client;
  /** How often the tool was called. */
  readonly calls: () => number;
}

/** An agent that looks something up, then a person who approves it. */
async function open(config: object = {}): Promise<Desk> {
  const { look, calls } = countingLook();
  const workflow = defineWorkflow({
    id: 'desk',
    version: '1',
    nodes: {
      work: { type: 'cairn.agent', agent: { agentId: 'host:desk' } },
      gate: { type: 'core.approvalGate', config: { title: 'Publish?' } },
    },
    edges: [{ from: 'work', to: 'gate' }],
  });
  const host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }], ...config },
    tools: [look],
    agents: [desk],
    workflows: [workflow],
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  return { host, client: createClient({ url: host.url ?? '', key }), calls };
}

/** A run that a person has approved. */
async function approved({ client }: Desk): Promise<string> {
  const { runId } = await client.runs.create({ workflowId: 'desk' });
  await client.runs.wait(runId);
  await client.runs.answer(runId, 'gate', { action: 'accept' });
  await client.runs.wait(runId);
  return runId;
}

async function replay({ client }: Desk, runId: string): Promise<string> {
  const fork = await client.runs.fork(runId, { mode: 'replay' });
  expect(await client.runs.wait(fork.runId)).toMatchObject({ status: 'completed' });
  return fork.runId;
}

/** A branch before the gate, which asks again. */
async function branch({ client }: Desk, runId: string): Promise<{ readonly runId: string; readonly fromSeq: number }> {
  const rows = await client.events.all(runId);
  const fromSeq = rows.find(({ type, nodeId }) => type === 'node.started' && nodeId === 'gate')?.sequence ?? 0;
  const fork = await client.runs.fork(runId, { mode: 'branch', fromSeq });
  expect(await client.runs.wait(fork.runId)).toMatchObject({ status: 'waiting-approval' });
  return fork;
}

test('webhooks hear nothing of a replay, and of a branch what it does itself', async () => {
  const outside = await receiver();
  const desk = await open({ egress: { allow: [outside.origin] } });
  const { client } = desk;
  const source = await approved(desk);
  const events = ['run.started', 'node.started', 'interrupt.requested', 'run.completed'];
  await client.webhooks.register({ url: outside.origin, events });
  const replayed = await replay(desk, source);
  const { runId, fromSeq } = await branch(desk, source);
  await client.runs.answer(runId, 'gate', { action: 'accept' });
  await client.runs.wait(runId);
  await outside.arrived(3);
  const heard = outside.received.map(({ body }) => [body.runId, (body.event as JsonObject).type]);
  expect(heard).toEqual([
    [runId, 'node.started'],
    [runId, 'interrupt.requested'],
    [runId, 'run.completed'],
  ]);
  expect(outside.received.map(({ body }) => Number((body.event as JsonObject).sequence) >= fromSeq)).toEqual([
    true,
    true,
    true,
  ]);
  expect(replayed).not.toBe(runId);
  expect(desk.calls()).toBe(1);
});

test('nobody is asked by a replay, and a branch asks for itself', async () => {
  const desk = await open();
  const { client } = desk;
  const source = await approved(desk);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const changes = client.inbox.watch({ signal: stop.signal })[Symbol.asyncIterator]();
  expect((await changes.next()).value).toMatchObject({ type: 'snapshot', entries: [] });
  await replay(desk, source);
  const { runId } = await branch(desk, source);
  expect((await changes.next()).value).toMatchObject({ type: 'added', entry: { runId, nodeId: 'gate' } });
  expect((await client.inbox.list()).entries.map((entry) => entry.runId)).toEqual([runId]);
  expect(await client.runs.get(source)).toMatchObject({ status: 'completed' });
});

test('the run span of a fork is in a trace of its own and links to that of its source', async () => {
  const collector = await otlpReceiver();
  const desk = await open({ otel: { endpoint: collector.url, protocol: 'http/json' } });
  const source = await approved(desk);
  const replayed = await replay(desk, source);
  const branched = await branch(desk, source);
  await desk.client.runs.answer(branched.runId, 'gate', { action: 'accept' });
  await desk.client.runs.wait(branched.runId);
  const again = await replay(desk, branched.runId);
  await desk.host.close();
  const of = (runId: string) => collector.spans.filter(({ attributes }) => attributes['openwop.run_id'] === runId);
  const runSpan = (runId: string): ReceivedSpan => {
    const [found, ...more] = of(runId).filter(({ name }) => name === 'openwop.run');
    if (found === undefined || more.length > 0) throw new Error(`${runId} has ${more.length + 1} run spans`);
    return found;
  };
  const lineage = (runId: string) => {
    const { attributes, links, parentSpanId } = runSpan(runId);
    const { 'openwop.replay.source_run_id': from, 'openwop.replay.from_seq': at } = attributes;
    return { from, at, mode: attributes['openwop.replay.mode'], links, parentSpanId };
  };
  const linkTo = (runId: string) => {
    const { traceId, spanId } = runSpan(runId);
    return { links: [{ traceId, spanId }], parentSpanId: '' };
  };
  expect(lineage(source)).toEqual({ links: [], parentSpanId: '' });
  expect(lineage(replayed)).toEqual({ from: source, at: 0, mode: 'replay', ...linkTo(source) });
  expect(lineage(branched.runId)).toEqual({ from: source, at: branched.fromSeq, mode: 'branch', ...linkTo(source) });
  expect(lineage(again)).toEqual({ from: branched.runId, at: 0, mode: 'replay', ...linkTo(branched.runId) });
  const ids = [source, replayed, branched.runId, again];
  expect(new Set(ids.map((id) => runSpan(id).traceId)).size).toBe(4);
  for (const { startMs, endMs, name } of collector.spans) expect(endMs, name).toBeGreaterThanOrEqual(startMs);
  expect(of(branched.runId).filter(({ name }) => name === 'openwop.node.cairn.agent')).toEqual([]);
  expect(JSON.stringify(collector.spans)).not.toContain('openwop.replay.diverged');
});

test('metrics count a branch as a run, and nothing that a replay repeats', async () => {
  const desk = await open();
  const figures = async () => {
    const response = await fetch(`${desk.host.url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
    const lines = (await response.text()).split('\n').filter((line) => /^openwop_/.test(line) && !/_bucket/.test(line));
    return Object.fromEntries(lines.map((line) => line.split(/ (?=[^ ]+$)/) as [string, string]));
  };
  await figures();
  const source = await approved(desk);
  const before = await figures();
  await replay(desk, source);
  expect(await figures()).toEqual(before);
  const { runId } = await branch(desk, source);
  await desk.client.runs.answer(runId, 'gate', { action: 'accept' });
  await desk.client.runs.wait(runId);
  const after = await figures();
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  const counted = (name: string) => changed.filter((line) => line.startsWith(name)).length;
  expect([counted('openwop_run_created'), counted('openwop_run_completed')]).toEqual([1, 1]);
  expect([counted('openwop_activity_tokens'), counted('openwop_interrupt_requested')]).toEqual([0, 1]);
});
