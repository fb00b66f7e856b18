/** The endpoint of AI SDK front ends: `useChat` of `@ai-sdk/react` talks to it with its default transport. */
import { isJsonObject, type Json } from '@cairn/protocol';
import { z } from 'zod';
import type { AgentRegistry } from '../../agents/registry.ts';
import { chatRequest, parseChat } from '../../bridges/ai-sdk/chat-request.ts';
import { contextOfName } from '../contexts/client-named.ts';
import { knownAgent } from '../contexts/known-agent.ts';
import { busyRule, firstCursor } from '../contexts/messages.ts';
import { busyRules } from '../contexts/start-task.ts';
import { takenOver } from '../http/large-response.ts';
import { type Call, type HttpCall, type OwnKey, pathParam, type Route } from '../http/routes.ts';
import type { ChatStreams } from './chat-streams.ts';
import { type Accepted, acceptChat, type ChatSurface, openTaskId } from './chats.ts';

export interface AiSdkSurface extends ChatSurface {
  readonly registry: Pick<AgentRegistry, 'agents'>;
  readonly chatStreams: ChatStreams;
}

const uiChunk = z.looseObject({ type: z.string() }).meta({ id: 'AiSdkChunk' });

const streamed = (description: string) => ({ description, contentType: 'text/event-stream', orStream: uiChunk });

export const aiSdkRoutes = (surface: AiSdkSurface): readonly Route[] => [
  {
    method: 'POST',
    path: '/api/ai-sdk/{agentId}',
    scope: 'runs:create',
    holds: true,
    recordsItself: true,
    ownKey,
    handle: (call) => send(call, surface),
    follow: (call, text) => follow(call, JSON.parse(text), surface),
    doc: {
      id: 'sendAiSdkChat',
      summary: 'Talk with an agent from an AI SDK front end',
      query: z.object({
        ifBusy: z
          .enum(busyRules)
          .optional()
          .describe('While another task of the chat is open: as for messages. `cancel` also drops open questions.'),
      }),
      body: chatRequest,
      responses: { 200: streamed('A UI message stream, until the task ends or waits for the user.') },
      errors: [
        'not_found',
        'conflict',
        'capability_required',
        'input_invalid',
        'event_too_large',
        'run_state_too_large',
        'quota_exceeded',
      ],
    },
  },
  {
    method: 'GET',
    path: '/api/ai-sdk/{agentId}/{chatId}/stream',
    scope: 'runs:read',
    holds: true,
    takesToken: true,
    handle: (call) => resume(call, surface),
    doc: {
      id: 'resumeAiSdkChat',
      summary: 'Resume the stream of an AI SDK chat',
      query: z.object({ token: z.string().optional().describe('A read token of the context, in the place of a key.') }),
      responses: {
        200: streamed('The message of the open task from its beginning, then what follows.'),
        204: { description: 'No task of the chat is open.' },
      },
      errors: ['not_found'],
    },
  },
];

/** A message of the user is one task, however often it is sent. An edited message is another one. */
function ownKey(call: HttpCall): OwnKey | undefined {
  const body = call.request.body as Json | undefined;
  if (body === undefined || !isJsonObject(body) || body.trigger === 'regenerate-message') return undefined;
  const last = Array.isArray(body.messages) ? body.messages.at(-1) : undefined;
  if (last === undefined || !isJsonObject(last) || last.role !== 'user') return undefined;
  const key = JSON.stringify([pathParam(call, 'agentId'), body.id, last.id, last.parts]);
  return { key, content: {}, forgetsRefusals: true };
}

async function send(call: Call, surface: AiSdkSurface): Promise<string> {
  const request = parseChat(call.request.body);
  const ifBusy = busyRule(call);
  const agentId = await knownAgent(call, surface.registry);
  return acceptChat({ call, agentId, request, ifBusy }, surface);
}

async function follow(call: Call, accepted: Accepted, surface: AiSdkSurface): Promise<undefined> {
  const { contextId, taskId, after, held } = accepted;
  const first = (await firstCursor(surface.log, taskId)) - 1;
  const { caller } = call;
  call.reply.header('x-vercel-ai-ui-message-stream', 'v1');
  call.reply.header('cairn-context-id', contextId);
  call.reply.header('cairn-task-id', taskId);
  surface.chatStreams.serve(takenOver(call), { caller, contextId, taskId, first, after, held: new Set(held) });
  return undefined;
}

async function resume(call: Call, surface: AiSdkSurface): Promise<undefined> {
  await knownAgent(call, surface.registry);
  const { contextId, exists } = await contextOfName(
    { kind: 'chat', name: pathParam(call, 'chatId') },
    call.caller,
    surface.contexts,
  );
  const taskId = exists ? await openTaskId(contextId, surface) : null;
  if (taskId === null) {
    call.reply.code(204).send();
    return undefined;
  }
  return follow(call, { contextId, taskId, after: null, held: [] }, surface);
}
