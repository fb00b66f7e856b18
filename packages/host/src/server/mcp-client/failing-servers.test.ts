/** Servers that fail at a bad moment: when a call is cancelled, and after they have started a run. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type Interceptor, type OtherServer, old, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';
const CANCEL = 'notifications/cancelled';

const caller = (tool: string) =>
  defineAgent({
    id: `host:${tool}`,
    persona: tool,
    instructions: 'Call the tool.',
    tools: ['mcp:legacy/*'],
    rehearsal: { turns: [[{ call: { tool: `mcp:legacy/${tool}`, input: {} } }], [{ answer: '{{last}}' }]] },
  });

const remote = { runId: 'run-there', hostId: 'hosts.example.org/there', eventId: 'run-there:3' };

/** Cannot take the first message that cancels a call, and cannot say how the run of `fail` ended. */
const failing: Interceptor = (received, response) => {
  const { method, tool, id } = received;
  if (method === CANCEL && cancels().length === 1) {
    response.writeHead(503).end();
    return true;
  }
  if (tool !== 'fail') return old(received, response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const body = { jsonrpc: '2.0', id, error: { code: -32603, message: 'the run goes on', data: remote } };
  response.end(`data: ${JSON.stringify(body)}\n\n`);
  return true;
};

let server: OtherServer;
let host: Host;
let client: Client;
const cancels = () => server.received.filter(({ method }) => method === CANCEL);

beforeAll(async () => {
  server = await otherServer({ intercept: failing });
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't', principal: 'ann' }],
      mcp: { servers: [{ id: 'legacy', url: server.url }] },
    },
    agents: [caller('wait'), caller('fail')],
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host.close();
  await server.close();
});

test('a server of 2025 that cannot take the end of a call is told again', async () => {
  const { runId } = await client.runs.create({ agentId: 'host:wait', inputs: { message: 'Go.' } });
  await server.got(({ tool }) => tool === 'wait');
  await client.runs.cancel(runId);
  while (cancels().length < 2) await server.next();
  const [first, second] = cancels();
  expect(first?.params.requestId).toBeDefined();
  expect(second?.params).toEqual(first?.params);
});

test('an error that names the run it is about has it in the record', async () => {
  const { runId } = await client.runs.create({ agentId: 'host:fail', inputs: { message: 'Go.' } });
  const returned: JsonObject[] = [];
  for await (const { type, payload } of client.follow(runId)) {
    if (type === 'agent.toolReturned') returned.push(payload as JsonObject);
  }
  const error = { code: 'tool_failed', message: expect.stringContaining('the run goes on') };
  expect(returned).toMatchObject([{ error, remote }]);
});
