/** A host whose agents call the tools of published MCP servers over HTTP, of both revisions, and of hostile ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventsOf, payloadsIn } from '../../../test/kit/followed-run.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import type { OperatorNotice } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { scopes } from '../access/auth.ts';
import { createHost, createHostOver, type Host } from '../create-host.ts';
import { type Interceptor, injection, type OtherServer, old, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';
const weakKey = 'another-key-of-enough-characters';
const token = 'the-token-of-the-search-server';

const caller = (name: string, tools: readonly string[], call: { tool: string; input?: JsonObject }) =>
  defineAgent({
    id: `host:${name}`,
    persona: name,
    instructions: 'Call the tool.',
    tools,
    rehearsal: { turns: [[{ call: { tool: call.tool, input: call.input ?? {} } }], [{ answer: '{{last}}' }]] },
  });

const sum = { a: 1, b: 2 };
const hostile = ['hang', 'huge', 'garbage', 'lead-away', 'lie', 'cut', 'inject', 'deny'];

const agents = [
  caller('adder', ['mcp:modern/add'], { tool: 'mcp:modern/add', input: sum }),
  caller('wrong', ['mcp:modern/*'], { tool: 'mcp:modern/add', input: { a: 'one' } }),
  caller('outsider', ['mcp:legacy/*'], { tool: 'mcp:modern/measure' }),
  caller('meter', ['mcp:modern/*'], { tool: 'mcp:modern/measure' }),
  caller('failer', ['mcp:modern/*'], { tool: 'mcp:modern/fail' }),
  caller('long', ['mcp:modern/*'], { tool: 'mcp:modern/long' }),
  caller('waiter', ['mcp:modern/*'], { tool: 'mcp:modern/wait' }),
  caller('booker', ['mcp:modern/*'], { tool: 'mcp:modern/book' }),
  caller('old-adder', ['mcp:legacy/*'], { tool: 'mcp:legacy/add', input: sum }),
  caller('old-waiter', ['mcp:legacy/*'], { tool: 'mcp:legacy/wait' }),
  caller('returner', ['mcp:restarted/*'], { tool: 'mcp:restarted/add', input: sum }),
  ...hostile.map((name) => caller(`h-${name}`, ['mcp:hostile/*'], { tool: `mcp:hostile/${name}` })),
  caller('down', ['mcp:down/*'], { tool: 'mcp:down/add', input: sum }),
  caller('scoped', ['mcp:scoped/*'], { tool: 'mcp:scoped/add', input: sum }),
];

const guarded = defineWorkflow({
  id: 'guarded',
  version: '1',
  nodes: {
    agent: { type: 'cairn.agent', agent: { agentId: 'host:h-inject' } },
    gate: { type: 'core.approvalGate', config: { title: 'Go on?' } },
  },
  edges: [{ from: 'agent', to: 'gate' }],
});

/** Cancels that the servers have seen. */
const canceled = { modern: Promise.withResolvers<void>(), legacy: Promise.withResolvers<void>() };

/** Responses that the hostile server would never end, by the tool. */
const dropped = { hang: Promise.withResolvers<void>(), huge: Promise.withResolvers<void>() };

const misbehaviours: Readonly<Record<string, (id: unknown, response: Parameters<Interceptor>[1]) => void>> = {
  hang(_, response) {
    response.on('close', dropped.hang.resolve);
  },
  huge(_, response) {
    response.on('close', dropped.huge.resolve);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = () => {
      while (!response.destroyed && response.write(`: ${'x'.repeat(60_000)}\n\n`));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
  garbage(_, response) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"jsonrpc":');
  },
  'lead-away'(_, response) {
    response.writeHead(307, { location: `${decoy.url}` });
    response.end();
  },
  lie(_, response) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 4711, result: { content: [] } }));
  },
  cut(_, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(': nothing\n\n');
  },
  deny(id, response) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: 'the disk is full' } }));
  },
};

const misbehave: Interceptor = ({ method, tool, id }, response) => {
  const act = method === 'tools/call' ? misbehaviours[tool ?? ''] : undefined;
  act?.(id, response);
  return act !== undefined;
};

let servers: Record<'modern' | 'legacy' | 'restarted' | 'hostile' | 'scoped', OtherServer>;
/** Where a redirect leads. Nobody may come there. */
let decoy: OtherServer;
let host: Host;
let client: Client;
const notices: OperatorNotice[] = [];

beforeAll(async () => {
  decoy = await otherServer();
  servers = {
    modern: await otherServer({ tools: { canceled: canceled.modern.resolve } }),
    legacy: await otherServer({ intercept: old, tools: { canceled: canceled.legacy.resolve } }),
    restarted: await otherServer(),
    hostile: await otherServer({ intercept: misbehave }),
    scoped: await otherServer(),
  };
  const nobody = await otherServer();
  await nobody.close();
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      hostId: 'hosts.example.org/here',
      keys: [
        { key, tenant: 't', principal: 'ann', scopes: [...scopes], toolScopes: ['tool:sums'] },
        { key: weakKey, tenant: 't', principal: 'bob', scopes: [...scopes], toolScopes: [] },
      ],
      secrets: { token: { value: token } },
      mcp: {
        servers: [
          { id: 'modern', url: servers.modern.url, headers: { authorization: { secret: 'token' } } },
          { id: 'legacy', url: servers.legacy.url },
          { id: 'restarted', url: servers.restarted.url },
          { id: 'hostile', url: servers.hostile.url, timeoutMs: 1_000, maxResponseBytes: 500_000 },
          { id: 'scoped', url: servers.scoped.url, needs: ['tool:sums'] },
          { id: 'down', url: nobody.url },
        ],
      },
    },
    agents,
    workflows: [guarded],
    report: (notice) => void notices.push(notice),
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host?.close();
  await Promise.all([decoy, ...Object.values(servers)].map((server) => server.close()));
});

const startOf = async (agent: string, as = client): Promise<string> =>
  (await as.runs.create({ agentId: `host:${agent}`, inputs: { message: 'Go.' } })).runId;

const ran = async (agent: string): Promise<readonly RunEventDoc[]> => eventsOf(client, await startOf(agent));

const returnOf = (events: readonly RunEventDoc[]): JsonObject => payloadsIn(events, 'agent.toolReturned')[0] ?? {};

describe('tools of MCP servers', () => {
  test('are in the catalogue once they are listed, and those of a server that is down are not', async () => {
    const tools = await client.tools.list();
    const ids = tools.map(({ toolId }) => toolId);
    expect(ids).toEqual(expect.arrayContaining(['mcp:modern/add', 'mcp:legacy/add', 'mcp:scoped/add']));
    expect(ids.filter((id) => id.startsWith('mcp:down/'))).toEqual([]);
    expect(tools.find(({ toolId }) => toolId === 'mcp:modern/add')).toMatchObject({
      source: 'mcp',
      description: 'Adds.',
      safetyTier: 'write',
      inputSchema: { type: 'object', required: ['a', 'b'] },
    });
    expect(await client.tools.get('mcp:modern/add')).toMatchObject({ source: 'mcp' });
    expect((await client.discovery()).toolCatalog?.sources).toEqual(['host-extension', 'mcp']);
    expect(notices.filter(({ event }) => event === 'mcp.unavailable')).toMatchObject([
      {
        level: 'warn',
        facts: { server: 'down', code: 'http_network_error', hint: expect.stringContaining('Check that it runs') },
      },
    ]);
  });

  test.each(['adder', 'old-adder'])('are called by the agent %s, with their progress', async (agent) => {
    const events = await ran(agent);
    expect(payloadsIn(events, 'agent.toolCalled')).toMatchObject([{ transport: 'mcp', inputs: sum, safety: 'write' }]);
    expect(returnOf(events)).toMatchObject({
      status: 'ok',
      outcome: '3',
      transport: 'mcp',
      contentTrust: 'untrusted',
    });
    expect(payloadsIn(events, 'cairn.tool.progress')).toMatchObject([{ progress: 0.5, message: 'half' }]);
    expect(events.at(-1)).toMatchObject({ type: 'run.completed' });
  });

  test('get the trace and the cause of their call, and the headers of the server, which nobody else sees', async () => {
    const runId = await startOf('adder');
    const events = await eventsOf(client, runId);
    const calls = servers.modern.received.filter(({ method }) => method === 'tools/call');
    const { meta, headers } = calls.at(-1) ?? {};
    const called = events.find(({ type }) => type === 'agent.toolCalled');
    expect(meta?.['cairn.causation']).toEqual({
      runId,
      hostId: 'hosts.example.org/here',
      eventId: called?.eventId,
      wellKnownUrl: `${host.url}/.well-known/openwop`,
      agentId: 'host:adder',
      depth: 1,
    });
    expect(meta?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(headers).toMatchObject({ traceparent: meta?.traceparent, authorization: token });
    expect(JSON.stringify([events, notices])).not.toContain(token);
  });

  test('name the run that they started elsewhere, which the record keeps', async () => {
    expect(returnOf(await ran('meter'))).toMatchObject({
      outcome: { metres: 3 },
      remote: { runId: 'run-there', hostId: 'hosts.example.org/there', eventId: 'run-there:9' },
    });
  });

  test('report errors of their own, which the agent reads', async () => {
    expect(returnOf(await ran('failer'))).toMatchObject({
      status: 'error',
      error: { code: 'tool_failed', message: 'No luck.' },
      contentTrust: 'untrusted',
    });
  });

  test('may return more than an event holds, as an artifact', async () => {
    const { outcome } = returnOf(await ran('long'));
    expect(outcome).toMatchObject({ 'cairn.artifact': { bytes: 400_002 } });
  });

  test('are not contacted with arguments that do not fit', async () => {
    const before = servers.modern.received.length;
    expect(returnOf(await ran('wrong'))).toMatchObject({ error: { code: 'tool_invalid_arguments' } });
    expect(servers.modern.received.slice(before)).toEqual([]);
  });

  test('are not contacted for an agent that does not list them, or a starter without their scope', async () => {
    const before = servers.modern.received.length;
    expect(returnOf(await ran('outsider'))).toMatchObject({ status: 'forbidden' });
    expect(servers.modern.received.slice(before)).toEqual([]);
    expect(returnOf(await ran('scoped'))).toMatchObject({ status: 'ok' });
    const bob = createClient({ url: host.url ?? '', key: weakKey });
    expect(returnOf(await eventsOf(client, await startOf('scoped', bob)))).toMatchObject({ status: 'forbidden' });
    expect(servers.scoped.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  test('of a server that is down are unknown, and the run goes on', async () => {
    const events = await ran('down');
    expect(returnOf(events)).toMatchObject({ error: { code: 'tool_not_found' } });
    expect(events.at(-1)).toMatchObject({ type: 'run.completed' });
  });

  test.each([
    ['waiter', 'modern'],
    ['old-waiter', 'legacy'],
  ] as const)('are told when the run of the agent %s is canceled', async (agent, server) => {
    const runId = await startOf(agent);
    await servers[server].got(({ tool }) => tool === 'wait');
    await client.runs.cancel(runId);
    await canceled[server].promise;
    expect((await eventsOf(client, runId)).at(-1)).toMatchObject({ type: 'run.cancelled' });
  });

  test('ask people through the inbox, and go on with the answer where they were', async () => {
    const runId = await startOf('booker');
    const events: RunEventDoc[] = [];
    for await (const event of client.follow(runId)) {
      events.push(event);
      if (event.type === 'node.suspended') {
        await client.runs.answer(runId, event.nodeId ?? '', { answers: { answer: { size: 'large' } } });
      }
    }
    expect(payloadsIn(events, 'clarification.requested')).toMatchObject([
      { questions: [{ question: 'The MCP server modern asks: Which size?', schema: { required: ['size'] } }] },
    ]);
    expect(returnOf(events)).toMatchObject({ status: 'ok', outcome: 'Booked large.' });
    const calls = servers.modern.received.filter(({ tool }) => tool === 'book');
    expect(calls.map(({ state }) => state)).toEqual([undefined, 'the state']);
  });

  test('that asked are called anew by a branch, whose answer does not go on with the call of its source', async () => {
    const runId = await startOf('booker');
    const size = (of: string, chosen: string) =>
      client.runs.answer(of, 'agent', { answers: { answer: { size: chosen } } });
    let end = 0;
    for await (const { type, sequence } of client.follow(runId)) {
      end = sequence + 1;
      if (type === 'node.suspended') break;
    }
    const before = servers.modern.received.length;
    const branch = (await client.runs.fork(runId, { mode: 'branch', fromSeq: end })).runId;
    await size(branch, 'small');
    for await (const { type, sequence } of client.follow(branch)) {
      if (type === 'node.suspended' && sequence >= end) await size(branch, 'small');
    }
    expect(returnOf(await eventsOf(client, branch))).toMatchObject({ outcome: 'Booked small.' });
    const calls = servers.modern.received.slice(before).filter(({ tool }) => tool === 'book');
    expect(calls.map(({ state }) => state)).toEqual([undefined, 'the state']);
    await size(runId, 'large');
    expect(returnOf(await eventsOf(client, runId))).toMatchObject({ outcome: 'Booked large.' });
  });

  test('that asked go on after a restart of the host, without a second first request', async () => {
    const data = mkdtempSync(join(tmpdir(), 'cairn-mcp-'));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const other = await otherServer();
    onTestFinished(() => other.close());
    const open = () =>
      createHost({
        config: { port: 0, data, keys: [{ key, tenant: 't' }], mcp: { servers: [{ id: 'modern', url: other.url }] } },
        agents,
        report: () => undefined,
      });
    const first = await open();
    const before = createClient({ url: first.url ?? '', key });
    const runId = await startOf('booker', before);
    for await (const { type } of before.follow(runId)) if (type === 'node.suspended') break;
    await first.close();
    await using second = await open();
    const after = createClient({ url: second.url ?? '', key });
    const [entry] = (await after.inbox.list()).entries;
    await after.runs.answer(runId, entry?.nodeId ?? '', { answers: { answer: { size: 'small' } } });
    expect(returnOf(await eventsOf(after, runId))).toMatchObject({ outcome: 'Booked small.' });
    expect(other.received.filter(({ tool }) => tool === 'book')).toHaveLength(2);
  });

  test('work again after their server restarted, and fail while it is gone', async () => {
    expect(returnOf(await ran('returner'))).toMatchObject({ outcome: '3' });
    await servers.restarted.close();
    expect(returnOf(await ran('returner'))).toMatchObject({ error: { code: 'http_network_error', retryable: true } });
    await servers.restarted.reopen();
    expect(returnOf(await ran('returner'))).toMatchObject({ outcome: '3' });
  });

  test('are not contacted by a replay, which returns what is recorded', async () => {
    const runId = await startOf('meter');
    const source = await eventsOf(client, runId);
    const before = servers.modern.received.length;
    const fork = await client.runs.fork(runId, { mode: 'replay' });
    const replayed = await eventsOf(client, fork.runId);
    const shown = (events: readonly RunEventDoc[]) => events.map(({ type, payload }) => ({ type, payload }));
    expect(shown(replayed)).toEqual(shown(source));
    expect(servers.modern.received.slice(before)).toEqual([]);
  });
});

describe('a hostile MCP server', () => {
  test.each([
    ['hangs', 'hang', 'tool_timeout'],
    ['sends without end', 'huge', 'tool_failed'],
    ['sends no JSON', 'garbage', 'tool_failed'],
    ['leads to another address', 'lead-away', 'http_url_rejected'],
    ['answers another request', 'lie', 'http_network_error'],
    ['ends without an answer', 'cut', 'http_network_error'],
    ['refuses', 'deny', 'tool_failed'],
  ])('that %s ends the call with a code, and nothing is held', async (_, name, code) => {
    const events = await ran(`h-${name}`);
    expect(returnOf(events)).toMatchObject({ status: 'error', error: { code } });
    expect(events.at(-1)).toMatchObject({ type: 'run.completed' });
  });

  test('holds no connection after its calls, and nobody followed its redirect', async () => {
    await dropped.hang.promise;
    await dropped.huge.promise;
    expect(decoy.received).toEqual([]);
  });

  test('cannot open a gate with its words, nor have another tool called', async () => {
    const { runId } = await client.runs.create({ workflowId: 'guarded' });
    const events: RunEventDoc[] = [];
    for await (const event of client.follow(runId)) {
      events.push(event);
      if (event.type === 'node.suspended') await client.runs.cancel(runId);
    }
    expect(returnOf(events)).toMatchObject({ outcome: injection, contentTrust: 'untrusted' });
    expect(payloadsIn(events, 'agent.toolCalled')).toHaveLength(1);
    expect(events.filter(({ type }) => /^approval\.(received|granted)/.test(type))).toEqual([]);
    // Only the cancel closed the gate.
    expect(payloadsIn(events, 'interrupt.resolved')).toMatchObject([{ outcome: 'cancelled', resolvedBy: 'ann' }]);
    expect(events.at(-1)).toMatchObject({ type: 'run.cancelled' });
  });
});
