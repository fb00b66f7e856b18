/** The endpoints for AI SDK and AG-UI front ends. */
import type { Json } from '@cairn/protocol';
import { given, type Names, type Stage, type WireRow } from './wire-row.ts';

const chat = (id: string) => ({
  id,
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }],
});
const run = (threadId: string) => ({
  threadId,
  runId: 'r1',
  messages: [{ id: 'm1', role: 'user', content: 'Hello?' }],
});

/** A context whose task waits, and what it asks. */
async function asked(stage: Stage): Promise<Names> {
  const { run: runId = '' } = await given.waiting(stage);
  const { contextId } = await stage.told({ to: `GET /v1/runs/${runId}` });
  const { tasks } = await stage.told({ to: `GET /api/contexts/${String(contextId)}/tasks` });
  const input = /"pending":\[\{"type":"input","id":"([^"]+)"/.exec(JSON.stringify(tasks))?.[1];
  return { run: runId, context: String(contextId), input: input ?? 'none' };
}

const resumed = (payload: Json) => ({
  threadId: '{context}',
  runId: 'r2',
  messages: [],
  resume: [{ interruptId: '{input}', status: 'resolved', payload }],
});

const aiSdkRows: readonly WireRow[] = [
  {
    at: 'AI SDK',
    says: 'a chat is answered with a UI message stream',
    ask: { to: 'POST /api/ai-sdk/host%3Awire', body: chat('wire-1') },
    answer: {
      status: 200,
      headers: { 'content-type': /^text\/event-stream/, 'x-vercel-ai-ui-message-stream': 'v1' },
      text: /"type":"start"[\s\S]*"type":"text-delta"[\s\S]*"type":"finish"[\s\S]*data: \[DONE\]\n\n$/,
    },
  },
  {
    at: 'AI SDK',
    says: 'a chat without messages is 400',
    ask: { to: 'POST /api/ai-sdk/host%3Awire', body: { id: 'wire-2', messages: [] } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'AI SDK',
    says: 'an unknown agent is 404',
    ask: { to: 'POST /api/ai-sdk/vendor.wire.none.agent', body: chat('wire-3') },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'AI SDK',
    says: 'a message that must not wait is refused while a task is open',
    given: asked,
    ask: { to: 'POST /api/ai-sdk/host%3Awire?ifBusy=reject', body: chat('{context}') },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at: 'AI SDK',
    says: 'a chat without an open task has nothing to resume',
    given: async (stage) => {
      const { run: runId } = await given.done(stage);
      return { context: String((await stage.told({ to: `GET /v1/runs/${runId}` })).contextId) };
    },
    ask: { to: 'GET /api/ai-sdk/host%3Awire/{context}/stream' },
    answer: { status: 204 },
  },
];

const aguiRows: readonly WireRow[] = [
  {
    at: 'AG-UI',
    says: 'a run is answered with its events',
    ask: { to: 'POST /api/agui/host%3Awire', body: run('wire-thread') },
    answer: {
      status: 200,
      headers: { 'content-type': /^text\/event-stream/ },
      text: /"type":"RUN_STARTED"[\s\S]*"type":"TEXT_MESSAGE_CONTENT"[\s\S]*"type":"RUN_FINISHED"/,
    },
  },
  {
    at: 'AG-UI',
    says: 'a run without an id is 400',
    ask: { to: 'POST /api/agui/host%3Awire', body: { threadId: 'wire-thread', messages: [] } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'AG-UI',
    says: 'a thread of another tenant is 404',
    given: asked,
    ask: { to: 'POST /api/agui/host%3Awire', body: { ...run('{context}'), messages: [] }, as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'AG-UI',
    says: 'a message into a thread that another tenant has is one of its own',
    given: asked,
    ask: { to: 'POST /api/agui/host%3Awire', body: run('{context}'), as: 'zoe' },
    answer: {
      status: 200,
      headers: { 'cairn-context-id': /^ctx_thread-[0-9a-f]{32}$/ },
      text: /"type":"RUN_FINISHED"/,
    },
  },
  {
    at: 'AG-UI',
    says: 'an answer that does not fit is 422',
    given: asked,
    ask: { to: 'POST /api/agui/host%3Awire', body: resumed(7) },
    answer: { status: 422, error: 'input_invalid' },
  },
  {
    at: 'AG-UI',
    says: 'a second answer is 409',
    given: async (stage) => {
      const names = await asked(stage);
      await stage.told({ to: `POST /api/contexts/${names.context}/inputs/${names.input}`, body: { value: true } });
      return names;
    },
    ask: { to: 'POST /api/agui/host%3Awire', body: resumed(true) },
    answer: { status: 409, error: 'input_already_answered' },
  },
];

export const bridgeRows: readonly WireRow[] = [...aiSdkRows, ...aguiRows];
