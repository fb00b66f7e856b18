/** Budgets across hosts: a call tells a known host what is left, and a run that is called gets no more than that. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { ALPHA, BETA, keys, McpHost } from '../mcp/client.kit.ts';
import { type OtherServer, otherServer } from '../mcp-client/other-server.kit.ts';

const key = 'a-key-of-enough-characters';

const caller = (name: string, calls: readonly { tool: string; input: JsonObject }[]) =>
  defineAgent({
    id: `host:${name}`,
    persona: name,
    instructions: 'Call the tools.',
    tools: ['mcp:alpha/*', 'mcp:stranger/*'],
    rehearsal: { turns: [calls.map((call) => ({ call })), [{ answer: '{{last}}' }]] },
  });

const desk = { tool: 'mcp:alpha/agent.host.desk', input: { message: 'Go.' } };
const greet = { tool: 'mcp:alpha/greet', input: { who: 'Ann' } };

const alpha = new McpHost();
let stranger: OtherServer;
let host: Host;
let client: Client;

beforeAll(async () => {
  await alpha.start();
  stranger = await otherServer();
  const headers = { authorization: { secret: 'beta' } };
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      hostId: BETA,
      peers: [{ hostId: ALPHA, url: alpha.url }],
      keys: [{ key, tenant: 't', principal: 'ann' }],
      secrets: { beta: { value: `Bearer ${keys.beta}` } },
      mcp: {
        servers: [
          { id: 'alpha', url: `${alpha.url}/v1/mcp`, headers },
          { id: 'stranger', url: stranger.url },
        ],
      },
      a2a: { peers: [{ name: 'desk', url: `${alpha.url}/v1/a2a/${encodeURIComponent('host:desk')}`, headers }] },
    },
    agents: [
      caller('one', [desk]),
      caller('two', [greet, { ...greet, input: { who: 'Bob' } }]),
      caller('away', [{ tool: 'mcp:stranger/add', input: { a: 1, b: 2 } }]),
    ],
    workflows: [
      defineWorkflow({
        id: 'peer',
        version: '1',
        nodes: { ask: { type: 'core.a2a.invoke', config: { peer: 'desk' }, inputs: { message: fixed('Go.') } } },
      }),
    ],
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host?.close();
  await stranger?.close();
  await alpha.close();
});

const agent = (name: string) => ({ agentId: `host:${name}`, inputs: { message: 'Go.' } });

/** How the calls of a run ended, and with which budget the runs there began. */
async function called(started: Parameters<Client['runs']['create']>[0], budget: JsonObject) {
  const { runId } = await client.runs.create({ ...started, configurable: { budget } });
  const events: RunEventDoc[] = [];
  for await (const event of client.follow(runId)) events.push(event);
  const returned = events
    .filter(({ type }) => type === 'agent.toolReturned')
    .map(({ payload }) => payload as JsonObject);
  const budgets = [];
  for (const { remote } of returned) {
    const { runId: there } = (remote ?? {}) as JsonObject;
    const [first] = there === undefined ? [] : await alpha.ended(String(there));
    budgets.push((first?.payload as JsonObject | undefined)?.budget);
  }
  return { runId, returned, budgets };
}

test.for([
  ['MCP', agent('one')],
  ['A2A', { workflowId: 'peer' }],
] as const)('a run that is called over %s may use what is left of its caller', async ([, started]) => {
  const { budgets, returned } = await called(started, { maxTokens: 100_000, maxToolCalls: 3, maxRuns: 5 });
  // The call itself is one of the three.
  expect(budgets).toMatchObject([{ maxToolCalls: 2, maxRuns: 5 }]);
  expect((budgets[0] as JsonObject).maxTokens).toBeLessThanOrEqual(100_000);
  expect(returned).toMatchObject([{ status: 'ok' }]);
});

test.for([
  ['MCP', agent('one')],
  ['A2A', { workflowId: 'peer' }],
] as const)('a run that is called over %s ends where nothing is left', async ([, started]) => {
  const { returned, runId } = await called(started, { maxToolCalls: 1 });
  expect(returned).toMatchObject([{ error: { message: expect.stringContaining('budget-tool-calls') } }]);
  const { runId: there } = (returned[0]?.remote ?? {}) as JsonObject;
  const { error } = await alpha.rest('GET', `/v1/runs/${there}`);
  expect(error).toMatchObject({ code: 'budget_exhausted' });
  expect(await client.runs.get(runId)).not.toMatchObject({ status: 'running' });
});

test('calls of one turn share what is left', async () => {
  const { budgets } = await called(agent('two'), { maxToolCalls: 6, maxRuns: 9 });
  expect(budgets).toEqual([
    { maxToolCalls: 2, maxRuns: 4 },
    { maxToolCalls: 2, maxRuns: 4 },
  ]);
});

test('a server that the host does not know hears nothing of budgets', async () => {
  await called(agent('away'), { maxCostUsd: 3, maxToolCalls: 6 });
  const request = stranger.received.find(({ tool }) => tool === 'add');
  expect(request?.meta).toHaveProperty(['cairn.causation']);
  expect(request?.meta).not.toHaveProperty(['cairn.budget']);
});

const mcpCall = (budget: unknown) =>
  alpha.rpc({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'greet', arguments: { who: 'x' }, _meta: { 'cairn.budget': budget } },
  });

test('a stated budget takes away and never adds', async () => {
  const { body } = await mcpCall({ maxRuns: 1_000_000, maxTokens: 7 });
  const { _meta } = body.result as JsonObject;
  const [first] = await alpha.ended(String((_meta as JsonObject).runId));
  expect(first).toMatchObject({ payload: { budget: { maxRuns: 1000, maxTokens: 7 } } });
});

test.for<[string, unknown]>([
  ['a negative limit', { maxTokens: -1 }],
  ['a limit that is no number', { maxToolCalls: '3' }],
  ['an unknown limit', { tenant: 'other' }],
  ['a text', 'all of it'],
])('%s as a budget starts nothing', async ([, budget]) => {
  const runs = async () => (await alpha.rest('GET', '/v1/runs?limit=1')).runs;
  const before = await runs();
  expect((await mcpCall(budget)).body).toMatchObject({ result: { isError: true } });
  const message = { messageId: `budget ${JSON.stringify(budget)}`, role: 'ROLE_USER', parts: [{ text: 'Hi.' }] };
  const response = await fetch(`${alpha.url}/v1/a2a/host%3Aplain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.ann}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'SendMessage' },
      params: { message: { ...message, metadata: { 'cairn.budget': budget } } },
    }),
  });
  expect(await response.json()).toMatchObject({ error: { code: -32602 } });
  expect(await runs()).toEqual(before);
});
