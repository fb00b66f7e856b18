/** Forks of a run whose call of a peer is under way: the fork makes a call of its own, and leaves that of its source alone. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type OtherServer, otherServer } from '../mcp-client/other-server.kit.ts';
import { type OtherPeer, otherPeer, task } from './other-peer.kit.ts';

const key = 'a-key-of-enough-characters';

const workflows = [
  defineWorkflow({
    id: 'over-a2a',
    version: '1',
    nodes: { call: { type: 'core.a2a.invoke', config: { peer: 'clerk' }, inputs: { message: fixed('Go.') } } },
  }),
  defineWorkflow({
    id: 'over-mcp',
    version: '1',
    nodes: { call: { type: 'core.mcp.toolCall', config: { serverId: 'tools', toolName: 'wait' } } },
  }),
];

/** Answers that the peer and the server hold back, oldest first. */
const held: (() => void)[] = [];
const began = { a2a: 0, mcp: 0 };
let waiting = Promise.withResolvers<void>();

const holdBack = (answer: () => void): void => {
  held.push(answer);
  waiting.resolve();
  waiting = Promise.withResolvers();
};

let peer: OtherPeer;
let server: OtherServer;
let host: Host;
let client: Client;

beforeAll(async () => {
  peer = await otherPeer({
    script: (_, answer) => {
      began.a2a += 1;
      const id = `a2a ${began.a2a}`;
      holdBack(() => answer.result({ task: { ...task('COMPLETED', id), id } }));
    },
  });
  server = await otherServer({
    intercept: ({ tool, id }, response) => {
      if (tool !== 'wait') return false;
      began.mcp += 1;
      const text = `mcp ${began.mcp}`;
      holdBack(() => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const result = { resultType: 'complete', content: [{ type: 'text', text }] };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
      return true;
    },
  });
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't' }],
      a2a: { peers: [{ name: 'clerk', url: peer.url }] },
      mcp: { servers: [{ id: 'tools', url: server.url }] },
    },
    workflows,
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host?.close();
  await Promise.all([peer?.close(), server?.close()]);
});

/** The outcome of the only call, once the run has ended. */
async function outcome(runId: string): Promise<unknown> {
  const ends: unknown[] = [];
  for await (const { type, payload } of client.follow(runId)) {
    if (type === 'agent.toolReturned') ends.push((payload as JsonObject).outcome);
  }
  expect(ends).toHaveLength(1);
  return ends[0];
}

test.each(['a2a', 'mcp'] as const)('a branch that is cut in an open call over %s calls anew', async (protocol) => {
  const { runId } = await client.runs.create({ workflowId: `over-${protocol}` });
  while (held.length < 1) await waiting.promise;
  let end = 0;
  for await (const { type, sequence } of client.follow(runId)) {
    end = sequence + 1;
    if (type === 'agent.toolCalled') break;
  }
  const { runId: branch } = await client.runs.fork(runId, { mode: 'branch', fromSeq: end });
  while (held.length < 2) await waiting.promise;
  held.pop()?.();
  expect(await outcome(branch)).toBe(`${protocol} 2`);
  // The call of the source goes on as if there were no branch.
  held.pop()?.();
  expect(await outcome(runId)).toBe(`${protocol} 1`);
  const replay = await client.runs.fork(runId, { mode: 'replay', fromSeq: end });
  expect(await outcome(replay.runId)).toBe(`${protocol} 1`);
  expect(began[protocol]).toBe(2);
});
