/** The limits for calls of other systems: the published A2A and MCP servers over `node:http`, with everything in memory. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AgentCard, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { portOf } from '../packages/host/test/kit/port-of.ts';
import { cpuMs, serveCommands } from './child.ts';

type Answer = (incoming: IncomingMessage, body: string, response: ServerResponse) => Promise<void>;

async function listen(answer: Answer): Promise<number> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    await answer(incoming, Buffer.concat(chunks).toString(), response);
  });
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
  supportedInterfaces: [],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
};

function a2aServer(): Promise<number> {
  const handler = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), oneStep));
  return listen(async (_, body, response) => {
    const result = await handler.handle(body, new ServerCallContext({ requestedVersion: '1.0' }));
    const text = JSON.stringify(result);
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
}

function mcpServer(): Promise<number> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'bench', version: '1' });
    server.registerTool('bench-one-step', { description: 'One step.', inputSchema: z.object({}) }, async () => ({
      content: [{ type: 'text', text: JSON.stringify({ text: 'x'.repeat(200) }) }],
    }));
    return server;
  });
  return listen(async (incoming, body, response) => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers))
      if (typeof value === 'string') headers.set(name, value);
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${incoming.url}`, { method: 'POST', headers, body }),
    );
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
  });
}

const commands = {
  serve: async () => ({ a2a: await a2aServer(), mcp: await mcpServer() }),
  usage: () => ({ cpuMs: cpuMs(), commits: 0 }),
};

export type SdkCommands = typeof commands;

serveCommands(commands);
