/** Servers of revisions that nobody speaks, and answers that are small on the wire and large once they are unpacked. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Client, createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import type { OperatorNotice } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type Interceptor, type OtherServer, old, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';

function answered(response: ServerResponse, body: JsonObject, status = 200): true {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...body }));
  return true;
}

const servers: Readonly<Record<string, Interceptor>> = {
  future: ({ id }, response) => {
    const data = { supported: ['2031-01-01'], requested: '2026-07-28' };
    return answered(response, { id: String(id), error: { code: -32022, message: 'Too old.', data } }, 400);
  },
  past: (received, response) => {
    if (received.method !== 'initialize') return old(received, response);
    const result = { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'past', version: '1' } };
    return answered(response, { id: Number(received.id), result });
  },
  bomb: ({ method, id }, response) => {
    if (method !== 'tools/call') return false;
    const content = [{ type: 'text', text: 'x'.repeat(20_000_000) }];
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }), { level: 1 }));
    return true;
  },
};

const open = new Map<string, OtherServer>();
const notices: OperatorNotice[] = [];
let host: Host;
let client: Client;

beforeAll(async () => {
  for (const [name, intercept] of Object.entries(servers)) open.set(name, await otherServer({ intercept }));
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't', principal: 'ann' }],
      mcp: { servers: [...open].map(([id, { url }]) => ({ id, url })) },
    },
    workflows: [
      defineWorkflow({
        id: 'bomb',
        version: '1',
        nodes: {
          call: { type: 'core.mcp.toolCall', config: { serverId: 'bomb', toolName: 'echo', arguments: { text: '' } } },
        },
      }),
    ],
    report: (notice) => void notices.push(notice),
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host.close();
  await Promise.all([...open.values()].map((server) => server.close()));
});

test.for(['future', 'past'])('a server of the %s speaks no revision that is served, and says so', async (server) => {
  await client.tools.list();
  const told = notices.find(({ event, facts }) => event === 'mcp.unavailable' && facts?.server === server);
  expect(told?.facts).toMatchObject({
    code: 'interop_version_unsupported',
    hint: expect.stringContaining('2026-07-28'),
  });
  // Nothing was called in a revision that it does not speak.
  expect(open.get(server)?.received.filter(({ method }) => method.startsWith('tools/'))).toEqual([]);
});

test('an answer of 20 MB that is packed ends at the limit of bytes', async () => {
  const { runId } = await client.runs.create({ workflowId: 'bomb' });
  const returned: JsonObject[] = [];
  for await (const { type, payload } of client.follow(runId)) {
    if (type === 'agent.toolReturned') returned.push(payload as JsonObject);
  }
  expect(returned).toMatchObject([{ error: { code: 'tool_failed', message: expect.stringContaining('1000000') } }]);
});
