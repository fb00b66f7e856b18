/** Runs that have agents of other systems work for them. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { defineWorkflow, fixed } from '../../../packages/host/src/index.ts';
import type { Story } from '../story.ts';

/** Histories name them, so they are always the same. */
const PEER_PORT = 47_999;
const MCP_PORT = 47_998;

/** A peer on another host asks something before it does its work. */
const peer: Story = {
  name: 'peer-that-asks',
  app: {
    config: { a2a: { peers: [{ name: 'desk', url: `http://127.0.0.1:${PEER_PORT}` }] } },
    workflows: [
      defineWorkflow({
        id: 'peer-that-asks',
        version: '1',
        nodes: { ask: { type: 'core.a2a.invoke', inputs: { message: fixed('Send it.') } } },
      }),
    ],
  },
  async play(host) {
    await using _there = await deskThatAsks();
    const runId = await host.start('peer-that-asks');
    await host.row(runId, 'interrupt.requested');
    host.pass();
    await host.answer(runId, 'ask', { answers: { answer: 'Friday' } });
    await host.ended(runId);
    return runId;
  },
};

/** A tool of an MCP server, without a model. */
const tool: Story = {
  name: 'tool-of-an-mcp-server',
  app: {
    config: { mcp: { servers: [{ id: 'stock', url: `http://127.0.0.1:${MCP_PORT}/mcp` }] } },
    workflows: [
      defineWorkflow({
        id: 'tool-of-an-mcp-server',
        version: '1',
        nodes: {
          count: {
            type: 'core.mcp.toolCall',
            config: { serverId: 'stock', toolName: 'count', arguments: { of: 'oak' } },
          },
        },
      }),
    ],
  },
  async play(host) {
    await using _there = await stockRoom();
    const runId = await host.start('tool-of-an-mcp-server');
    await host.ended(runId);
    return runId;
  },
};

/** An A2A peer of version 1.0. */
function deskThatAsks(): Promise<AsyncDisposable> {
  const card = {
    name: 'Other',
    description: 'Another agent.',
    version: '1',
    supportedInterfaces: [
      { url: `http://127.0.0.1:${PEER_PORT}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    skills: [],
  };
  return listening(PEER_PORT, (asked) => {
    if (asked === null) return card;
    const isAnswer = asked.params.message.taskId !== undefined;
    const task = isAnswer ? told('COMPLETED', 'Sent.') : told('INPUT_REQUIRED', 'Which day?');
    return { jsonrpc: '2.0', id: asked.id, result: { task } };
  });
}

/** An MCP server of the revision with a handshake. */
function stockRoom(): Promise<AsyncDisposable> {
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'stock', version: '1' },
    },
    'tools/list': { tools: [{ name: 'count', description: 'Counts.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: '12 boards' }] },
  };
  return listening(MCP_PORT, (asked) => {
    if (asked?.id === undefined) return null;
    const result = results[asked.method];
    const error = { code: -32_601, message: 'There is no such method.' };
    return { jsonrpc: '2.0', id: asked.id, ...(result === undefined ? { error } : { result }) };
  });
}

/** Answers each request with an object, or without a body. */
async function listening(port: number, answer: (asked: Asked | null) => object | null): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const body = answer(request.method === 'GET' ? null : JSON.parse(await text(request)));
    response.setHeader('content-type', 'application/json');
    response.statusCode = body === null ? 202 : 200;
    response.end(body === null ? '' : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { [Symbol.asyncDispose]: close };
}

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly message: { readonly taskId?: string } };
}

const told = (state: string, said: string) => ({
  id: 'task-1',
  contextId: 'c',
  status: {
    state: `TASK_STATE_${state}`,
    timestamp: '2026-01-01T00:00:00Z',
    message: { messageId: `said-${said}`, role: 'ROLE_AGENT', parts: [{ text: said }] },
  },
});

export const peerStories: readonly Story[] = [peer, tool];
