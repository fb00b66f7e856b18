/** Servers of a revision of 2025 that ask people over the connection of a call, and wait there. */
import type { ServerResponse } from 'node:http';
import { type Client, createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type Interceptor, type OtherServer, old, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';

const caller = (server: string) =>
  defineAgent({
    id: `host:${server}`,
    persona: server,
    instructions: 'Call the tool.',
    tools: [`mcp:${server}/*`],
    rehearsal: { turns: [[{ call: { tool: `mcp:${server}/echo`, input: { text: '' } } }], [{ answer: '{{last}}' }]] },
  });

interface Open {
  readonly id: unknown;
  readonly response: ServerResponse;
}

/** The call that waits for answers. */
const open = Promise.withResolvers<Open>();

const send = ({ response }: Pick<Open, 'response'>, message: JsonObject): void =>
  void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);

const sizes = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] };
const question = (id: string, message: string): JsonObject => ({
  id,
  method: 'elicitation/create',
  params: { message, requestedSchema: sizes },
});

/** Asks twice, the second time with the first answer; then it answers. */
const asking: Interceptor = (received, response) => {
  const { method, tool, id, result } = received;
  if (method === 'tools/call' && tool === 'echo') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const call = { id, response };
    open.resolve(call);
    send(call, question('first', 'Which size?'));
    return true;
  }
  if (result === undefined) return old(received, response);
  response.writeHead(202).end();
  void open.promise.then((call) => {
    if (id === 'first') return send(call, question('second', `Really ${JSON.stringify(result)}?`));
    send(call, { id: call.id as string, result: { content: [{ type: 'text', text: JSON.stringify(result) }] } });
    call.response.end();
  });
  return true;
};

/** Asks once, and returns what it hears. */
const heard = Promise.withResolvers<Open>();
const hearing: Interceptor = (received, response) => {
  const { method, id, result } = received;
  if (method === 'tools/call') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    heard.resolve({ id, response });
    send({ response }, question('first', 'Which size?'));
    return true;
  }
  if (result === undefined) return old(received, response);
  response.writeHead(202).end();
  void heard.promise.then((call) => {
    send(call, { id: call.id as string, result: { content: [{ type: 'text', text: JSON.stringify(result) }] } });
    call.response.end();
  });
  return true;
};

/** Asks, and ends the stream when it is told to. */
const lost = Promise.withResolvers<ServerResponse>();
const losing: Interceptor = (received, response) => {
  if (received.method !== 'tools/call') return old(received, response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ response }, question('first', 'Which size?'));
  lost.resolve(response);
  return true;
};

/** Never hears an answer. */
const closed = Promise.withResolvers<void>();
const waiting: Interceptor = (received, response) => {
  if (received.method !== 'tools/call') return old(received, response);
  response.on('close', closed.resolve);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ response }, question('first', 'Which size?'));
  return true;
};

/** Waits as long as it takes. */
const patient: Interceptor = (received, response) => {
  if (received.method !== 'tools/call') return old(received, response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ response }, question('first', 'Which size?'));
  return true;
};

let servers: Record<'asking' | 'hearing' | 'losing' | 'waiting' | 'patient', OtherServer>;
let host: Host;
let client: Client;

beforeAll(async () => {
  servers = {
    asking: await otherServer({ intercept: asking }),
    hearing: await otherServer({ intercept: hearing }),
    losing: await otherServer({ intercept: losing }),
    waiting: await otherServer({ intercept: waiting }),
    patient: await otherServer({ intercept: patient }),
  };
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't', principal: 'ann' }],
      mcp: {
        servers: Object.entries(servers).map(([id, { url }]) => ({
          id,
          url,
          answerTimeoutMs: waitOf(id),
          maxCallsAtOnce: 1,
        })),
      },
    },
    agents: Object.keys(servers).map(caller),
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

const waitOf = (id: string): number => (id === 'waiting' ? 1_000 : 600_000);

afterAll(async () => {
  await host?.close();
  await Promise.all(Object.values(servers ?? {}).map((server) => server.close()));
});

/** Runs the agent, and calls back whenever it asks. Returns how its call ended. */
async function called(server: string, asked: (runId: string, nodeId: string) => Promise<unknown>): Promise<JsonObject> {
  const { runId } = await client.runs.create({ agentId: `host:${server}`, inputs: { message: 'Go.' } });
  let end: JsonObject = {};
  for await (const { type, nodeId, payload } of client.follow(runId)) {
    if (type === 'node.suspended') await asked(runId, nodeId ?? '');
    if (type === 'agent.toolReturned') end = payload as JsonObject;
  }
  return end;
}

test('a call goes on with each answer, over the connection that it began with', async () => {
  const prompts: unknown[] = [];
  const given = ['S', 'M'];
  const end = await called('asking', async (runId, nodeId) => {
    const [entry] = (await client.inbox.list()).entries;
    prompts.push(entry?.data);
    await client.runs.answer(runId, nodeId, { answers: { answer: { size: given.shift() ?? '' } } });
  });
  expect(JSON.stringify(prompts)).toMatch(/asks: Which size\?.*asks: Really .*accept.*S/);
  expect(end).toMatchObject({ status: 'ok', contentTrust: 'untrusted' });
  expect(JSON.parse(String(end.outcome))).toEqual({ action: 'accept', content: { size: 'M' } });
  expect(servers.asking.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
});

test('a server hears that a person declines', async () => {
  const end = await called('hearing', (runId, nodeId) =>
    client.runs.answer(runId, nodeId, { answers: { answer: null } }),
  );
  expect(JSON.parse(String(end.outcome))).toEqual({ action: 'decline' });
});

test('an answer to a server that has gone fails the call, and says why', async () => {
  const end = await called('losing', async (runId, nodeId) => {
    (await lost.promise).end();
    await client.runs.answer(runId, nodeId, { answers: { answer: { size: 'S' } } });
  });
  // The host may hear of the end before the answer, or after it.
  const why = expect.stringMatching(
    /^The MCP server losing (no longer waits for the answer|ended the request without)/,
  );
  expect(end).toMatchObject({ error: { message: why } });
  expect(servers.losing.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
});

test('a question holds its call no longer than answerTimeoutMs', async () => {
  const end = await called('waiting', () => closed.promise);
  expect(end).toMatchObject({ error: { code: 'interrupt_timeout' } });
});

test('a call that waits for a person leaves its place to the next one', async () => {
  const ask = async () => {
    const { runId } = await client.runs.create({ agentId: 'host:patient', inputs: { message: 'Go.' } });
    for await (const { type } of client.follow(runId)) if (type === 'node.suspended') break;
    return runId;
  };
  const asked = await Promise.all([ask(), ask(), ask()]);
  expect(servers.patient.received.filter(({ method }) => method === 'tools/call')).toHaveLength(3);
  for (const runId of asked) await client.runs.cancel(runId);
});
