/** Questions of a published MCP server that people decline: here, or as users of a client that calls this host. */
import { type Client, createClient } from '@cairn/client';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventsOf, payloadsIn } from '../../../test/kit/followed-run.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type OtherServer, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';

const booker = defineAgent({
  id: 'host:booker',
  persona: 'Booker',
  instructions: 'Call the tool.',
  tools: ['mcp:modern/*'],
  rehearsal: { turns: [[{ call: { tool: 'mcp:modern/book', input: {} } }], [{ answer: '{{last}}' }]] },
});

let server: OtherServer;
let host: Host;
let client: Client;

beforeAll(async () => {
  server = await otherServer();
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't', principal: 'ann' }],
      mcp: { servers: [{ id: 'modern', url: server.url }] },
    },
    agents: [booker],
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});
afterAll(async () => {
  await host?.close();
  await server?.close();
});

test('an answer of null tells the server that a person declines', async () => {
  const { runId } = await client.runs.create({ agentId: 'host:booker', inputs: { message: 'Go.' } });
  for await (const { type, nodeId } of client.follow(runId)) {
    if (type === 'node.suspended') await client.runs.answer(runId, nodeId ?? '', { answers: { answer: null } });
  }
  const events = await eventsOf(client, runId);
  expect(payloadsIn(events, 'agent.toolReturned')).toMatchObject([{ status: 'ok', outcome: 'Not booked.' }]);
});

test('the decline of the user of a client reaches the server that asks', async () => {
  const asked = new McpClient(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  const messages: string[] = [];
  asked.setRequestHandler('elicitation/create', async ({ params }) => {
    messages.push(params.message);
    return { action: 'decline' };
  });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await asked.connect(new StreamableHTTPClientTransport(new URL('/v1/mcp', host.url ?? ''), { requestInit }));
  onTestFinished(() => asked.close());
  const result = await asked.callTool({ name: 'agent.host.booker', arguments: { message: 'Go.' } });
  expect(messages).toEqual(['The MCP server modern asks: Which size?']);
  expect(JSON.stringify(result)).toContain('Not booked.');
});
