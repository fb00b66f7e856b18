/** A host whose agents and nodes call the workflows and agents of another host over MCP, in both kinds of revisions. */
import { type Client, createClient } from '@cairn/client';
import { inboxPage, type JsonObject, objectOrEmpty, type RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf, payloadsIn } from '../../../test/kit/followed-run.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { ALPHA, BETA, keys, McpHost } from '../mcp/client.kit.ts';
import { type OtherServer, old, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';
const servers = ['modern', 'legacy'] as const;
type Server = (typeof servers)[number];

const caller = (server: Server, name: string, tool: string, input: JsonObject = {}) =>
  defineAgent({
    id: `host:${server}.${name}`,
    persona: name,
    instructions: 'Call the tool.',
    tools: [`mcp:${server}/*`],
    rehearsal: { turns: [[{ call: { tool: `mcp:${server}/${tool}`, input } }], [{ answer: '{{last}}' }]] },
  });

const agents = servers.flatMap((server) => [
  caller(server, 'greet', 'greet', { who: 'Ann' }),
  caller(server, 'fail', 'fail'),
  caller(server, 'desk', 'agent.host.desk', { message: 'Hello?' }),
  caller(server, 'slow', 'slow'),
  caller(server, 'gate', 'gate'),
  caller(server, 'ask', 'ask'),
]);

const calls = servers.map((server) =>
  defineWorkflow({
    id: `node-${server}`,
    version: '1',
    variables: { who: { type: 'string' } },
    nodes: {
      call: {
        type: 'core.mcp.toolCall',
        config: { serverId: server, toolName: 'greet', arguments: { who: 'nobody', times: 2 } },
        inputs: { who: { type: 'variable', variableName: 'who' } },
      },
    },
  }),
);

const other = new McpHost();
let between: Record<Server, OtherServer>;
let host: Host;
let client: Client;

beforeAll(async () => {
  await other.start();
  const upstream = `${other.url}/v1/mcp`;
  between = { modern: await otherServer({ upstream }), legacy: await otherServer({ upstream, intercept: old }) };
  const headers = { authorization: { secret: 'beta' } };
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      hostId: BETA,
      keys: [{ key, tenant: 't', principal: 'ann' }],
      secrets: { beta: { value: `Bearer ${keys.beta}` } },
      mcp: { servers: servers.map((id) => ({ id, url: between[id].url, headers })) },
    },
    agents,
    workflows: calls,
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host?.close();
  await Promise.all(Object.values(between ?? {}).map((server) => server.close()));
  await other.close();
});

const startOf = async (agent: string): Promise<string> =>
  (await client.runs.create({ agentId: `host:${agent}`, inputs: { message: 'Go.' } })).runId;

const shown = (events: readonly RunEventDoc[]) => events.map(({ type, payload }) => ({ type, payload }));

describe.each(servers)('over a %s revision', (server) => {
  test('a call starts a run there, whose cause and trace are the run here, and the record here names it', async () => {
    const runId = await startOf(`${server}.greet`);
    const events = await eventsOf(client, runId);
    const [returned] = payloadsIn(events, 'agent.toolReturned');
    expect(returned).toMatchObject({ status: 'ok', outcome: { who: 'Ann' }, contentTrust: 'untrusted' });
    const remote = (returned?.remote ?? {}) as JsonObject;
    const there = await other.ended(String(remote.runId));
    expect(remote).toEqual({ runId: remote.runId, hostId: ALPHA, eventId: there.at(-1)?.eventId });
    const called = events.find(({ type }) => type === 'agent.toolCalled');
    expect(there[0]).toMatchObject({ causationId: called?.eventId, payload: { causationHostId: BETA } });
    const { parent } = await other.rest('GET', `/v1/runs/${remote.runId}/ancestry`);
    expect(parent).toMatchObject({ runId, hostId: BETA, cause: 'mcp-tool-call' });
    const request = between[server].received.find(({ tool, method }) => method === 'tools/call' && tool === 'greet');
    expect(request?.headers.traceparent).toBe(request?.meta.traceparent);
    const traceId = String(request?.meta.traceparent).slice(3, 35);
    expect(there[0]).toMatchObject({ payload: { traceparent: expect.stringContaining(traceId) } });
  });

  test('the progress and the answer of an agent there come back', async () => {
    const events = await eventsOf(client, await startOf(`${server}.desk`));
    // Without a total, nobody knows how much of the work is done.
    expect(payloadsIn(events, 'cairn.tool.progress')[0]).toMatchObject({ indeterminate: true });
    expect(payloadsIn(events, 'agent.toolReturned')).toMatchObject([{ outcome: { content: 'Done.' } }]);
  });

  test('the error of a run there is that of the call', async () => {
    const [returned] = payloadsIn(await eventsOf(client, await startOf(`${server}.fail`)), 'agent.toolReturned');
    expect(returned).toMatchObject({
      error: { code: 'tool_failed', message: 'Intentional conformance failure' },
      remote: { hostId: ALPHA },
    });
  });

  test('to cancel the run here cancels the one there', async () => {
    const runId = await startOf(`${server}.slow`);
    const there = await other.newestRun('slow', 'running');
    await client.runs.cancel(runId);
    expect((await other.ended(there)).at(-1)).toMatchObject({
      type: 'run.cancelled',
      payload: { reason: 'cross_protocol_cancel' },
    });
    expect((await eventsOf(client, runId)).at(-1)).toMatchObject({ type: 'run.cancelled' });
  });

  test('a node calls the tool, and a replay of it contacts nobody', async () => {
    const { runId } = await client.runs.create({ workflowId: `node-${server}`, inputs: { who: 'Bob' } });
    const source = await eventsOf(client, runId);
    expect(payloadsIn(source, 'agent.toolCalled')).toMatchObject([
      { agentId: 'core.system', toolId: `mcp:${server}/greet`, inputs: { who: 'Bob', times: 2 }, transport: 'mcp' },
    ]);
    expect(payloadsIn(source, 'node.completed')).toMatchObject([
      { outputs: { result: { who: 'Bob' }, contentTrust: 'untrusted' } },
    ]);
    const before = between[server].received.length;
    const fork = await client.runs.fork(runId, { mode: 'replay' });
    expect(shown(await eventsOf(client, fork.runId))).toEqual(shown(source));
    const since = between[server].received.slice(before);
    // The call of the source ends its session by itself.
    expect(since.filter(({ method }) => method !== 'DELETE')).toEqual([]);
  });
});

test.each(servers)('to decline an approval there rejects it: %s', async (server) => {
  const runId = await startOf(`${server}.gate`);
  for await (const { type, nodeId } of client.follow(runId)) {
    if (type === 'node.suspended') await client.runs.answer(runId, nodeId ?? '', { answers: { answer: null } });
  }
  const [returned] = payloadsIn(await eventsOf(client, runId), 'agent.toolReturned');
  expect(returned).toMatchObject({ error: { code: 'tool_failed' }, remote: { hostId: ALPHA } });
  const there = await other.ended(String(objectOrEmpty(returned?.remote).runId));
  expect(there.find(({ type }) => type === 'approval.received')).toMatchObject({ payload: { action: 'reject' } });
});

describe.each(servers)('to decline a plain question there is a refusal there: %s', (server) => {
  test.each<[string, JsonObject, JsonObject]>([
    ['by null', { answers: { answer: null } }, { action: 'reject' }],
    ['with a reason', { action: 'reject', feedback: 'No time.' }, { action: 'reject', feedback: 'No time.' }],
  ])('%s', async (_, answer, recorded) => {
    const runId = await startOf(`${server}.ask`);
    for await (const { type, nodeId } of client.follow(runId)) {
      if (type === 'node.suspended') await client.runs.answer(runId, nodeId ?? '', answer);
    }
    const [returned] = payloadsIn(await eventsOf(client, runId), 'agent.toolReturned');
    const message = expect.stringContaining('The question was rejected');
    expect(returned).toMatchObject({ error: { code: 'tool_failed', message }, remote: { hostId: ALPHA } });
    const there = await other.ended(String(objectOrEmpty(returned?.remote).runId));
    expect(there.find(({ type }) => type === 'interrupt.resolved')).toMatchObject({
      payload: { outcome: 'rejected', resumeValue: recorded, resolvedBy: 'beta' },
    });
    expect(there.at(-1)).toMatchObject({ type: 'run.failed', payload: { error: { code: 'input_rejected' } } });
  });
});

test.each(servers)(
  'a question there is one here, whose answer travels back in the name of this host: %s',
  async (server) => {
    const runId = await startOf(`${server}.gate`);
    for await (const { type, nodeId } of client.follow(runId)) {
      if (type !== 'node.suspended') continue;
      const [entry] = (await client.inbox.list()).entries;
      expect(entry).toMatchObject({
        runId,
        nodeId,
        remote: {
          server,
          inputId: expect.any(String),
          ...(server === 'modern' && { hostId: ALPHA, runId: expect.stringMatching(/^run_/) }),
        },
        data: { metadata: { subkind: 'approval' } },
      });
      // The path of the question there begins with the run here.
      const { entries } = inboxPage.parse(await other.rest('GET', '/v1/host/cairn/inbox'));
      expect(entries.map(({ path }) => path)).toEqual([
        [
          { runId, hostId: BETA, cause: 'mcp-tool-call', agentId: `host:${server}.gate` },
          { runId: expect.stringMatching(/^run_/), workflowId: 'gate', nodeId: expect.any(String) },
        ],
      ]);
      await client.runs.answer(runId, nodeId ?? '', { answers: { answer: { approve: true } } });
    }
    const events = await eventsOf(client, runId);
    expect(payloadsIn(events, 'clarification.requested')).toMatchObject([
      { questions: [{ question: `The MCP server ${server} asks: Pay?` }] },
    ]);
    expect(payloadsIn(events, 'agent.toolReturned')).toMatchObject([
      { outcome: { action: 'accept', decidedBy: 'beta' }, remote: { hostId: ALPHA } },
    ]);
  },
);

test('to cancel a run that a server of an older revision waits for cancels the one there', async () => {
  const runId = await startOf('legacy.gate');
  for await (const { type } of client.follow(runId)) if (type === 'node.suspended') break;
  const there = await other.newestRun('gate', 'waiting-approval');
  await client.runs.cancel(runId);
  expect((await other.ended(there)).at(-1)).toMatchObject({ type: 'run.cancelled' });
});
