/** A host that other hosts call: whom it believes about the cause of a call, and what it records of it. */
import { CAUSATION_KEY, type Json, type JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chunk, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { present } from '../../../test/kit/present.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import type { OperatorNotice } from '../../engine/ports.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { derivedTraceId, spanIdOf } from '../../telemetry/trace-context.ts';
import { createHostOver, type Host } from '../create-host.ts';

const keys = {
  nameless: 'nameless-key-0123456789-abcdefghij',
  beta: 'beta-key-0123456789-abcdefghijklmnop',
  gamma: 'gamma-key-0123456789-abcdefghijklmno',
  auditor: 'auditor-key-0123456789-abcdefghijklm',
  ann: 'ann-key-0123456789-abcdefghijklmnopq',
  stranger: 'stranger-key-0123456789-abcdefghijkl',
};

const leaf = defineWorkflow({ id: 'leaf', version: '1', nodes: { only: { type: 'core.noop' } } });
const top = defineWorkflow({
  id: 'top',
  version: '1',
  nodes: { below: { type: 'core.subWorkflow', config: { workflowId: 'leaf' } } },
});

const asks = defineWorkflow({
  id: 'asks',
  version: '1',
  nodes: { desk: { type: 'cairn.agent', agent: { agentId: 'host:desk' } } },
});
const forUser = defineWorkflow({
  id: 'for-user',
  version: '1',
  nodes: {
    ask: {
      type: 'core.clarificationGate',
      config: { questions: [{ id: 'q', question: 'Sure?' }], contextType: 'cairn.require-user' },
    },
  },
});
const asksBelow = defineWorkflow({
  id: 'asks-below',
  version: '1',
  nodes: { below: { type: 'core.subWorkflow', config: { workflowId: 'asks' } } },
});

let host: Host;
let model: Awaited<ReturnType<typeof fakeOpenAi>>;
const notices: OperatorNotice[] = [];

beforeAll(async () => {
  model = await fakeOpenAi(() => ({
    chunks: [
      chunk({ content: 'Done.' }),
      chunk({}, 'stop'),
      usageChunk({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }),
    ],
  }));
  host = await createHostOver(inMemoryStore(), {
    report: (notice) => void notices.push(notice),
    workflows: [leaf, top, asks, asksBelow, forUser],
    agents: [defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Answer.' })],
    config: {
      port: 0,
      hostId: 'hosts.example.org/alpha',
      peers: [
        { hostId: 'hosts.example.org/beta', url: 'https://beta.example.org' },
        { hostId: 'hosts.example.org/gamma', url: 'https://gamma.example.org', answersForUsers: true },
      ],
      keys: [
        { key: keys.beta, tenant: 't', principal: 'beta', peer: 'hosts.example.org/beta' },
        { key: keys.gamma, tenant: 't', principal: 'gamma', peer: 'hosts.example.org/gamma' },
        { key: keys.nameless, tenant: 't', peer: 'hosts.example.org/gamma' },
        { key: keys.ann, tenant: 't', principal: 'ann' },
        // Sees the rows of operators, too.
        { key: keys.auditor, tenant: 't', scopes: ['runs:read', 'runs:create', 'audit:read'] },
        { key: keys.stranger, tenant: 'other' },
      ],
      models: {
        providers: { local: { kind: 'openai-compatible', baseUrl: model.url } },
        default: 'local/small',
      },
      limits: { maxRunDepth: 3 },
    },
  });
});

afterAll(async () => {
  await host.close();
  await model[Symbol.asyncDispose]();
});

interface Ask {
  readonly key?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(method: string, path: string, { key = keys.auditor, body, headers = {} }: Ask = {}) {
  const response = await fetch(`${host.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const statement = {
  runId: 'run-on-beta',
  hostId: 'hosts.example.org/beta',
  eventId: 'ev-17-on-beta',
  wellKnownUrl: 'https://beta.example.org/.well-known/openwop',
};

const stated = (more: JsonObject = {}): JsonObject => ({ metadata: { [CAUSATION_KEY]: { ...statement, ...more } } });

async function begun(body: JsonObject, key = keys.beta, headers: Ask['headers'] = {}): Promise<string> {
  const { status, body: run } = await ask('POST', '/v1/runs', { key, body, headers });
  expect(status, JSON.stringify(run)).toBe(201);
  return String(run.runId);
}

/** The events of a run that has ended. */
async function events(runId: string): Promise<JsonObject[]> {
  const path = `/v1/runs/${runId}/events/poll?timeout=10`;
  const all: JsonObject[] = [];
  for (let last = -1; ; ) {
    const { body } = await ask('GET', last < 0 ? path : `${path}&lastSequence=${last}`);
    all.push(...(body.events as JsonObject[]));
    if (body.isComplete === true || body.isTerminal === true) return all;
    last = Number(all.at(-1)?.sequence ?? -1);
  }
}

test('a run that a peer requested names the peer in its first event, its ancestry and its first agent event alone', async () => {
  const runId = await begun({ agentId: 'host:desk', inputs: { message: 'Hi' }, ...stated({ agentId: 'core.a.b' }) });
  const [first, ...rest] = await events(runId);
  expect(first).toMatchObject({
    type: 'run.started',
    causationId: statement.eventId,
    payload: {
      causationHostId: statement.hostId,
      depth: 1,
      remoteParent: { runId: 'run-on-beta', cause: 'a2a-message', agentId: 'core.a.b' },
    },
  });
  const elsewhere = rest.filter(({ payload }) => (payload as JsonObject).causationHostId !== undefined);
  expect(elsewhere).toMatchObject([{ causationId: statement.eventId, payload: { causationHostId: statement.hostId } }]);
  const agentEvents = rest.filter(({ type }) => /^(agent\.(?!invocation)|prompt\.)/.test(String(type)));
  expect(elsewhere[0]).toEqual(agentEvents[0]);
  // All other causes are events of this run.
  for (const { causationId } of rest)
    if (causationId !== undefined && causationId !== statement.eventId)
      expect(String(causationId)).toMatch(new RegExp(`^${runId}:`));
  const { wellKnownUrl } = statement;
  expect(await ask('GET', `/v1/runs/${runId}/ancestry`)).toEqual({
    status: 200,
    body: {
      runId,
      hostId: 'hosts.example.org/alpha',
      parent: { runId: 'run-on-beta', hostId: 'hosts.example.org/beta', cause: 'a2a-message', wellKnownUrl },
    },
  });
});

test('every request of a run, and of the runs below it, continues the trace of the request that started it', async () => {
  const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: 'acme=1' };
  const before = model.requests.length;
  const runId = await begun({ workflowId: 'asks-below' }, keys.beta, headers);
  const [first] = await events(runId);
  const child = await events(`${runId}.0`);
  expect(first?.payload).toMatchObject(headers);
  const { traceparent, tracestate } = present(child[0]).payload as JsonObject;
  const span = (seq: number, of = runId) => `00-${traceId}-${spanIdOf(of, seq)}-01`;
  const parents = (await events(runId)).map(({ sequence }) => span(Number(sequence)));
  expect([tracestate, parents]).toEqual(['acme=1', expect.arrayContaining([String(traceparent)])]);
  const [sent, ...more] = model.requests.slice(before);
  expect(more).toEqual([]);
  const ofChild = child.map(({ sequence }) => span(Number(sequence), `${runId}.0`));
  expect(ofChild).toContain(sent?.headers.traceparent);
  expect(sent?.headers.tracestate).toBe('acme=1');
});

test('a run without an inbound trace has one of its own, which its requests continue', async () => {
  const before = model.requests.length;
  const runId = await begun({ agentId: 'host:desk', inputs: { message: 'Hi' } });
  await events(runId);
  const [sent] = model.requests.slice(before);
  expect(String(sent?.headers.traceparent).slice(3, 35)).toBe(derivedTraceId(runId));
});

test('a statement of a caller whose key is not for that host is ignored and reported', async () => {
  const forged = await begun({ workflowId: 'leaf', ...stated() }, keys.ann);
  const other = await begun({ workflowId: 'leaf', ...stated({ hostId: 'hosts.example.org/gamma' }) });
  for (const runId of [forged, other]) {
    const [first] = await events(runId);
    expect(first?.causationId).toBeUndefined();
    expect(first?.payload).not.toHaveProperty('remoteParent');
    expect(JSON.stringify(first)).not.toContain(statement.eventId);
    expect((await ask('GET', `/v1/runs/${runId}`)).body.metadata ?? {}).toEqual({});
    expect((await ask('GET', `/v1/runs/${runId}/ancestry`)).body.parent).toBeNull();
  }
  expect(notices.filter(({ event }) => event === 'causation.ignored')).toMatchObject([
    { facts: { principal: 'ann', hostId: 'hosts.example.org/beta' } },
    { facts: { principal: 'beta', hostId: 'hosts.example.org/gamma' } },
  ]);
});

test.for<[string, JsonObject]>([
  ['an event id of 129 characters', { eventId: 'e'.repeat(129) }],
  ['an address that is none', { wellKnownUrl: 'file:///etc/passwd' }],
  ['a negative depth', { depth: -1 }],
  ['an unknown field', { tenant: 'other' }],
])('a statement with %s is refused', async ([, more]) => {
  const { status, body } = await ask('POST', '/v1/runs', { body: { workflowId: 'leaf', ...stated(more) } });
  expect([status, body.error]).toEqual([400, 'validation_error']);
});

test('a circle of hosts ends: depth counts across them', async () => {
  const { status, body } = await ask('POST', '/v1/runs', {
    key: keys.beta,
    body: { workflowId: 'leaf', ...stated({ depth: 4 }) },
  });
  expect([status, body.error]).toEqual([422, 'run_depth_exceeded']);
});

test('the ancestry of a child names its parent here, without an address', async () => {
  const runId = await begun({ workflowId: 'top' });
  await events(runId);
  const { body } = await ask('GET', `/v1/runs/${runId}`);
  const [child] = body.childRuns as JsonObject[];
  expect((await ask('GET', `/v1/runs/${child?.runId}/ancestry`)).body).toEqual({
    runId: child?.runId,
    hostId: 'hosts.example.org/alpha',
    parent: { runId, hostId: 'hosts.example.org/alpha', cause: 'core.subWorkflow' },
  });
  expect((await ask('GET', `/v1/runs/${runId}/ancestry`)).body.parent).toBeNull();
});

test('a fork has no parent, also of a run that a peer requested', async () => {
  const runId = await begun({ workflowId: 'leaf', ...stated() });
  await events(runId);
  const fork = await ask('POST', `/v1/runs/${runId}:fork`, { body: { mode: 'replay', fromSeq: 0 } });
  expect((await ask('GET', `/v1/runs/${fork.body.runId}/ancestry`)).body.parent).toBeNull();
  const [first] = await events(String(fork.body.runId));
  expect(first).toMatchObject({ causationId: statement.eventId, payload: { causationHostId: statement.hostId } });
});

test("another tenant's run has no ancestry", async () => {
  const runId = await begun({ workflowId: 'leaf' });
  const { status, body } = await ask('GET', `/v1/runs/${runId}/ancestry`, { key: keys.stranger });
  expect([status, body.error]).toEqual([404, 'not_found']);
});

test('takes no answer of another host to what only a user may answer, even in a run that this host started', async () => {
  const runId = await begun({ workflowId: 'for-user' });
  const body = { resumeValue: { answers: { q: 'yes' } } };
  expect(await ask('POST', `/v1/runs/${runId}/interrupts/ask`, { key: keys.beta, body })).toMatchObject({
    status: 403,
    body: { error: 'forbidden' },
  });
});

test('takes the answer of a host that is trusted for it, in its own runs alone', async () => {
  const body = { resumeValue: { answers: { q: 'yes' } } };
  const answered = async (starter: string) => {
    const runId = await begun({ workflowId: 'for-user' }, starter);
    return ask('POST', `/v1/runs/${runId}/interrupts/ask`, { key: keys.gamma, body });
  };
  expect([(await answered(keys.gamma)).status, (await answered(keys.ann)).status]).toEqual([200, 403]);
});

test('a key of a host that has no name of its own is that of the host: its answers are not those of nobody', async () => {
  const body = { resumeValue: { answers: { q: 'yes' } } };
  const answered = async (starter: string) => {
    const runId = await begun({ workflowId: 'for-user' }, starter);
    const { status } = await ask('POST', `/v1/runs/${runId}/interrupts/ask`, { key: keys.nameless, body });
    return { status, runId };
  };
  // Neither has a principal in the configuration.
  expect((await answered(keys.auditor)).status).toBe(403);
  const own = await answered(keys.nameless);
  expect(own.status).toBe(200);
  const resolved = (await events(own.runId)).find(({ type }) => type === 'interrupt.resolved');
  expect(resolved?.payload).toMatchObject({ resolvedBy: 'hosts.example.org/gamma' });
});

test('does not start with itself as a peer', async () => {
  const peers = [{ hostId: 'me', url: 'https://me.example.org' }];
  const config = { port: 0, hostId: 'me', peers, keys: [{ key: keys.ann, tenant: 't' }] };
  await expect(createHostOver(inMemoryStore(), { config, report: () => undefined })).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('is the id of this host'),
  });
});
