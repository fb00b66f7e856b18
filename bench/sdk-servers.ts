/** The limits for calls of other systems: the A2A and MCP servers as their SDKs publish them for Node, all in memory. */
import { createServer, type Server } from 'node:http';
import { type AgentCard, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import express from 'express';
import { z } from 'zod';
import { portOf } from '../packages/host/test/kit/port-of.ts';
import { cpuMs, serveCommands } from './child.ts';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return portOf(server);
}

/** What the host's workflow does: begins, works, has a result, and is done. */
const oneStep: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const timestamp = () => new Date().toISOString();
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: timestamp() });
    const about = { taskId, contextId, metadata: {} };
    const history = [userMessage];
    const metadata = {};
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history,
        metadata,
      }),
    );
    bus.publish(AgentEvent.statusUpdate({ ...about, status: status(TaskState.TASK_STATE_WORKING) }));
    const part = {
      content: { $case: 'data' as const, value: { text: 'x'.repeat(200) } },
      metadata: undefined,
      filename: '',
      mediaType: '',
    };
    const artifact = {
      artifactId: 'outputs',
      name: '',
      description: '',
      parts: [part],
      metadata: undefined,
      extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ ...about, artifact, append: false, lastChunk: true }));
    bus.publish(AgentEvent.statusUpdate({ ...about, status: status(TaskState.TASK_STATE_COMPLETED) }));
    bus.finished();
  },
  cancelTask: async () => {},
};

const card: AgentCard = {
  name: 'bench',
  description: 'Greets.',
  version: '1',
  provider: undefined,
  documentationUrl: '',
  iconUrl: '',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/v1/a2a/bench-one-step', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
};

function a2aServer(): Promise<number> {
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), oneStep);
  const app = express().use(
    '/v1/a2a/bench-one-step',
    jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }),
  );
  return listen(createServer(app));
}

function mcpServer(): Promise<number> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'bench', version: '1' });
    server.registerTool('bench-one-step', { description: 'One step.', inputSchema: z.object({}) }, async () => ({
      content: [{ type: 'text', text: JSON.stringify({ text: 'x'.repeat(200) }) }],
    }));
    return server;
  });
  const answer = toNodeHandler(handler);
  return listen(
    createServer((incoming, response) => {
      // The types of the adapter want what node:http declares as perhaps absent.
      const request = Object.assign(incoming, { method: incoming.method ?? '', url: incoming.url ?? '' });
      void answer(request, response);
    }),
  );
}

const commands = {
  serve: async () => ({ a2a: await a2aServer(), mcp: await mcpServer() }),
  usage: () => ({ cpuMs: cpuMs(), commits: 0 }),
};

export type SdkCommands = typeof commands;

serveCommands(commands);
