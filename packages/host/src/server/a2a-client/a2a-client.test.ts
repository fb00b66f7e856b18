/** A host whose workflows and agents call the agents of another Cairn host over A2A, of both versions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import type { InboxEntry, JsonObject, RunEventDoc } from '@cairn/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../../../test/kit/followed-run.ts';
import { present } from '../../../test/kit/present.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { BETA, keys, PeerHost } from '../a2a/peer.kit.ts';
import { createHost, type Host } from '../create-host.ts';

const key = 'a-key-of-enough-characters';
const bearer = `Bearer ${keys.beta}`;

const invoking = (id: string, peer: string) =>
  defineWorkflow({
    id,
    version: '1',
    nodes: { ask: { type: 'core.a2a.invoke', config: { peer }, inputs: { message: fixed('Say hello.') } } },
  });

const childOf = (id: string, workflowId: string) =>
  defineWorkflow({ id, version: '1', nodes: { below: { type: 'core.subWorkflow', config: { workflowId } } } });

const folder = mkdtempSync(join(tmpdir(), 'cairn-a2a-client-'));
const there = new PeerHost(['1.0']);
const older = new PeerHost(['0.3']);
let host: Host;
let client: Client;
/** The other host, as one of its own users sees it. */
let theirs: Client;

beforeAll(async () => {
  await Promise.all([there.start(), older.start()]);
  const at = (peer: PeerHost, agentId: string) => `${peer.url}/v1/a2a/${encodeURIComponent(agentId)}`;
  const headers = { authorization: { secret: 'beta' } };
  host = await createHost({
    config: {
      port: 0,
      data: folder,
      hostId: BETA,
      keys: [{ key, tenant: 'acme', principal: 'una' }],
      secrets: { beta: { value: bearer } },
      a2a: {
        peers: [
          { name: 'plain', url: at(there, 'host:plain'), headers },
          { name: 'desk', url: at(there, 'host:desk'), headers },
          { name: 'at-once', url: at(there, 'at-once'), headers },
          { name: 'old', url: at(older, 'host:plain'), headers },
        ],
      },
    },
    agents: [
      defineAgent({
        id: 'host:triage',
        persona: 'Triage',
        instructions: 'Hand it on.',
        tools: ['openwop:handoff'],
        rehearsal: { turns: [[{ handoff: { to: 'host:plain', message: 'Please.' } }]] },
      }),
    ],
    workflows: [...['plain', 'desk', 'at-once', 'old'].map((peer) => invoking(peer, peer)), childOf('above', 'desk')],
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
  theirs = createClient({ url: there.url, key: keys.ann });
});

afterAll(async () => {
  await host.close();
  await Promise.all([there.close(), older.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const returned = (events: readonly RunEventDoc[]): JsonObject =>
  (events.find(({ type }) => type === 'agent.toolReturned')?.payload ?? {}) as JsonObject;

const remoteOf = (events: readonly RunEventDoc[]): JsonObject => (returned(events).remote ?? {}) as JsonObject;

const started = async (workflowId: string): Promise<string> => (await client.runs.create({ workflowId })).runId;

/** The next question in the inbox of this host. */
async function asked(): Promise<InboxEntry> {
  for await (const change of client.inbox.watch()) {
    const [entry] = change.type === 'snapshot' ? change.entries : change.type === 'added' ? [change.entry] : [];
    if (entry !== undefined) return entry;
  }
  throw new Error('The inbox ended.');
}

afterEach(() => {
  there.work = async () => null;
});

test.for(['plain', 'old'])('a node calls the peer %s, and records which run it started there', async (workflowId) => {
  const runId = await started(workflowId);
  const events = await eventsOf(client, runId);
  expect(await client.runs.get(runId)).toMatchObject({ status: 'completed' });
  const { remote, outcome, contentTrust, transport } = returned(events);
  expect([outcome, contentTrust, transport]).toEqual(['Hello.', 'untrusted', 'http']);
  expect(remote).toMatchObject({ hostId: 'hosts.example.org/alpha' });
  const peer = workflowId === 'old' ? createClient({ url: older.url, key: keys.ann }) : theirs;
  expect(await peer.runs.get(String((remote as JsonObject).runId))).toMatchObject({ status: 'completed' });
});

test('the run there has the run here as its parent, and both are one trace', async () => {
  const traceparent = '00-c0ffee00c0ffee00c0ffee00c0ffee00-00f067aa0ba902b7-01';
  const response = await fetch(`${host.url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', traceparent },
    body: JSON.stringify({ workflowId: 'plain' }),
  });
  const { runId } = (await response.json()) as { runId: string };
  const events = await eventsOf(client, runId);
  const called = events.find(({ type }) => type === 'agent.toolCalled');
  const first = present((await eventsOf(theirs, String(remoteOf(events).runId)))[0]);
  expect(first).toMatchObject({ causationId: called?.eventId, payload: { causationHostId: BETA, transport: 'a2a' } });
  expect(String((first.payload as JsonObject).traceparent).slice(3, 35)).toBe('c0ffee00c0ffee00c0ffee00c0ffee00');
  const ancestry = await fetch(`${there.url}/v1/runs/${remoteOf(events).runId}/ancestry`, {
    headers: { authorization: `Bearer ${keys.ann}` },
  });
  expect(await ancestry.json()).toMatchObject({ parent: { runId, hostId: BETA, cause: 'a2a-message' } });
});

describe('an agent of kind peer', () => {
  test('is in the inventory, and works on a run of its own without any model', async () => {
    const agents = await client.agents.list();
    expect(agents.map(({ agentId }) => agentId)).toEqual(expect.arrayContaining(['host:plain', 'host:desk']));
    // The options of a run do not put a model in the place of the peer.
    const configurable = { 'ai.provider': 'scripted' };
    const { runId } = await client.runs.create({ agentId: 'host:plain', inputs: { message: 'Hi' }, configurable });
    const events = await eventsOf(client, runId);
    expect(events.at(-1)).toMatchObject({ type: 'run.completed', payload: { outputs: { content: 'Hello.' } } });
    expect(remoteOf(events)).toMatchObject({ hostId: 'hosts.example.org/alpha' });
  });

  test('goes on with one conversation there for one conversation here', async () => {
    const contexts: unknown[] = [];
    const first = await client.runs.create({ agentId: 'host:plain', inputs: { message: 'One' } });
    const again = { 'cairn.contextId': first.contextId ?? '' };
    const said = { agentId: 'host:plain', inputs: { message: 'Two' } };
    contexts.push(remoteOf(await eventsOf(client, first.runId)));
    contexts.push(remoteOf(await eventsOf(client, (await client.runs.create({ ...said, configurable: again })).runId)));
    contexts.push(remoteOf(await eventsOf(client, (await client.runs.create(said)).runId)));
    const runs = await Promise.all(contexts.map((remote) => theirs.runs.get(String((remote as JsonObject).runId))));
    const [one, two, other] = runs.map(({ contextId }) => contextId);
    expect([one === two, one === other]).toEqual([true, false]);
  });

  test('takes over the work of another agent', async () => {
    const { runId } = await client.runs.create({ agentId: 'host:triage', inputs: { message: 'Hi' } });
    const events = await eventsOf(client, runId);
    expect(events.find(({ type }) => type === 'agent.handoff')?.payload).toMatchObject({ toAgentId: 'host:plain' });
    expect(events.at(-1)).toMatchObject({ type: 'run.completed', payload: { outputs: { content: 'Hello.' } } });
  });
});

describe('a question of a peer', () => {
  test('is in the inbox with its path, and its answer travels back as one of this host', async () => {
    there.work = async (context) => await context.ask({ prompt: 'Which colour?', options: ['red', 'blue'] });
    const runId = await started('above');
    const entry = await asked();
    expect(entry).toMatchObject({
      title: 'The A2A peer desk asks: Which colour?',
      runId: `${runId}.0`,
      path: [
        { runId, nodeId: 'below' },
        { runId: `${runId}.0`, nodeId: 'ask' },
      ],
      remote: {
        peer: 'desk',
        hostId: 'hosts.example.org/alpha',
        taskId: expect.any(String),
        runId: expect.any(String),
      },
    });
    expect(entry.remote?.taskId).toBe(entry.remote?.runId);
    await client.runs.answer(entry.runId, entry.interruptId, { answers: { answer: 'blue' } });
    await eventsOf(client, runId);
    expect(await client.runs.get(runId)).toMatchObject({ status: 'completed' });
    const there1 = await eventsOf(theirs, String(entry.remote?.runId));
    const answer = there1.find(({ type }) => type === 'interrupt.resolved');
    expect(answer?.payload).toMatchObject({ resolvedBy: 'beta', resumeValue: { answers: { answer: 'blue' } } });
    expect(returned(there1)).toMatchObject({ outcome: 'blue' });
  });

  test('is one of two that are open at once: the other is asked after it', async () => {
    const runId = await started('at-once');
    for (const [question, answer] of [
      ['Which one?', 'Red.'],
      ['When?', 'Now.'],
    ] as const) {
      const entry = await asked();
      expect(entry.title).toBe(`The A2A peer at-once asks: ${question}`);
      await client.runs.answer(runId, entry.interruptId, { answers: { answer } });
    }
    await eventsOf(client, runId);
    expect(await client.runs.get(runId)).toMatchObject({ status: 'completed' });
  });

  test('that people here reject is rejected there, and the task goes on without an answer', async () => {
    there.work = async (context) => {
      try {
        return await context.ask({ prompt: 'Which colour?', options: ['red', 'blue'] });
      } catch (error) {
        return `Without: ${error instanceof Error ? error.message : ''}`;
      }
    };
    const runId = await started('desk');
    const entry = await asked();
    await client.runs.answer(runId, entry.interruptId, { action: 'reject', feedback: 'No colours.' });
    await eventsOf(client, runId);
    expect(await client.runs.get(runId)).toMatchObject({ status: 'completed' });
    const run = await eventsOf(theirs, String(entry.remote?.runId));
    const refusal = run.find(({ type }) => type === 'interrupt.resolved');
    const resumeValue = { action: 'reject', feedback: 'No colours.' };
    expect(refusal?.payload).toMatchObject({ outcome: 'rejected', resumeValue, resolvedBy: 'beta' });
    expect(returned(run)).toMatchObject({ outcome: 'Without: The question was rejected: No colours.' });
    expect(run.at(-1)?.type).toBe('run.completed');
  });

  test('that only the user there may answer is not answered by this host, which the other does not trust', async () => {
    there.work = async (context) => await context.ask({ prompt: 'Sure?', requireUser: true });
    const runId = await started('desk');
    const entry = await asked();
    expect(entry.data).toMatchObject({ contextType: 'cairn.require-user' });
    await client.runs.answer(runId, entry.interruptId, { answers: { answer: 'yes' } });
    const events = await eventsOf(client, runId);
    expect(returned(events)).toMatchObject({ error: { code: 'external_call_failed' } });
    const run = await eventsOf(theirs, String(entry.remote?.runId));
    const answers = run.filter(({ type }) => type === 'interrupt.resolved').map(({ payload }) => payload);
    expect(answers.filter((answer) => (answer as JsonObject).reason === undefined)).toEqual([]);
    expect(run.at(-1)?.type).toBe('run.cancelled');
  });
});

describe('cancel', () => {
  test('of a run here cancels the task there, while it works', async () => {
    const working = Promise.withResolvers<string>();
    there.work = (context) => {
      working.resolve(context.runId);
      return new Promise(() => undefined);
    };
    const runId = await started('desk');
    const theirRun = await working.promise;
    await client.runs.cancel(runId);
    expect((await eventsOf(client, runId)).at(-1)?.type).toBe('run.cancelled');
    const run = await eventsOf(theirs, theirRun);
    expect(run.at(-1)).toMatchObject({ type: 'run.cancelled', payload: { reason: 'cross_protocol_cancel' } });
  });

  test('of a run that waits for a person here cancels the task that asks', async () => {
    there.work = async (context) => await context.ask({ prompt: 'Well?' });
    const runId = await started('desk');
    const { remote } = await asked();
    await client.runs.cancel(runId);
    expect((await eventsOf(theirs, String(remote?.runId))).at(-1)?.type).toBe('run.cancelled');
  });

  test('of the task there ends the call here with a code', async () => {
    const working = Promise.withResolvers<string>();
    there.work = (context) => {
      working.resolve(context.runId);
      return new Promise(() => undefined);
    };
    const runId = await started('desk');
    await theirs.runs.cancel(await working.promise);
    const events = await eventsOf(client, runId);
    expect(events.at(-1)).toMatchObject({ type: 'run.failed', payload: { error: { code: 'remote_task_canceled' } } });
  });
});

test('a replay contacts nobody, while the peer is down, and writes the events of its source', async () => {
  there.work = async (context) => await context.ask({ prompt: 'Which colour?', options: ['red', 'blue'] });
  const runId = await started('desk');
  const entry = await asked();
  await client.runs.answer(runId, entry.interruptId, { answers: { answer: 'red' } });
  const source = await eventsOf(client, runId);
  await there.stop();
  const { fetch } = globalThis;
  const urls: string[] = [];
  globalThis.fetch = (input, init) => {
    urls.push(String(input));
    return fetch(input, init);
  };
  try {
    const fork = await client.runs.fork(runId, { mode: 'replay' });
    const replayed = await eventsOf(client, fork.runId);
    const shown = (events: readonly RunEventDoc[]) => events.map(({ type, payload }) => ({ type, payload }));
    expect(shown(replayed)).toEqual(shown(source));
  } finally {
    globalThis.fetch = fetch;
    await there.start();
  }
  expect(urls.filter((url) => !url.startsWith(host.url ?? ''))).toEqual([]);
});
