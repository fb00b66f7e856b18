/** An agent on the published A2A server, of either version, over real HTTP; not shipped. */
import { createServer, type ServerResponse } from 'node:http';
import { AgentCard, type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { portOf } from '../../../test/kit/port-of.ts';
import type { A2aVersion } from '../a2a/versions.ts';
import { plainCard } from './other-peer.kit.ts';

export interface SdkPeer {
  readonly url: string;
  /** Resolves when a task of it was canceled. */
  readonly canceled: Promise<void>;
  close(): Promise<void>;
}

/** `echo …` answers, `ask` asks first, `wait` waits until it is canceled. */
class Agent implements AgentExecutor {
  readonly canceled = Promise.withResolvers<void>();

  async execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const said = textOf(request.userMessage);
    bus.publish(AgentEvent.task(request.task ?? newTask(request)));
    if (request.task !== undefined) return finish(request, bus, `You answered ${said}`);
    if (said === 'ask') {
      move(request, bus, { state: TaskState.TASK_STATE_INPUT_REQUIRED, text: 'Which one?' });
      bus.finished();
      return undefined;
    }
    move(request, bus, { state: TaskState.TASK_STATE_WORKING, text: 'Working.' });
    if (said === 'wait') return this.canceled.promise;
    return finish(request, bus, said);
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    this.canceled.resolve();
    move({ taskId, contextId: 'c' }, bus, { state: TaskState.TASK_STATE_CANCELED, text: 'Stopped.' });
    bus.finished();
  }
}

type Place = Pick<RequestContext, 'taskId' | 'contextId'>;

function finish(place: Place, bus: ExecutionEventBus, text: string): void {
  move(place, bus, { state: TaskState.TASK_STATE_COMPLETED, text });
  bus.finished();
}

function move(place: Place, bus: ExecutionEventBus, { state, text }: { state: TaskState; text: string }): void {
  const { taskId, contextId } = place;
  const status = { state, message: message(place, text), timestamp: new Date(0).toISOString() };
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
}

const newTask = ({ taskId: id, contextId, userMessage }: RequestContext): Task => ({
  id,
  contextId,
  status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined },
  artifacts: [],
  history: [userMessage],
  metadata: undefined,
});

const message = ({ taskId, contextId }: Place, text: string): Message => ({
  messageId: `m ${text}`,
  contextId,
  taskId,
  role: Role.ROLE_AGENT,
  parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const textOf = ({ parts }: Message): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

export async function sdkPeer(version: A2aVersion): Promise<SdkPeer> {
  const handlers = { '1.0': JsonRpcTransportHandler, '0.3': LegacyJsonRpcTransportHandler };
  let url = '';
  const interfaces = () => [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: version }];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', async () => {
      if (request.method === 'GET') {
        response.end(JSON.stringify(plainCard(url, { supportedInterfaces: interfaces() })));
        return;
      }
      const context = new ServerCallContext({ requestedVersion: version });
      const answer = await handler.handle(JSON.parse(Buffer.concat(pieces).toString()), context);
      if (Symbol.asyncIterator in answer) await streamed(answer, response);
      else response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${portOf(server)}`;
  const card = AgentCard.fromJSON(plainCard(url, { supportedInterfaces: interfaces() }));
  const agent = new Agent();
  const handler = new handlers[version](new DefaultRequestHandler(card, new InMemoryTaskStore(), agent));
  return {
    url,
    canceled: agent.canceled.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function streamed(updates: AsyncIterable<unknown>, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const update of updates) response.write(`data: ${JSON.stringify(update)}\n\n`);
  response.end();
}
