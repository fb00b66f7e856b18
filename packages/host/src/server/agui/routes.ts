/** Runs of AG-UI clients: a run is a message to an agent, or the answer that a waiting task goes on with. */
import { type ContextId, isJsonObject, type Json, parseShape, type RunId, sendMessage } from '@cairn/protocol';
import { z } from 'zod';
import type { AgentRegistry } from '../../agents/registry.ts';
import { type News, newsOf, type RunInput, runAgentInput, stateOf } from '../../bridges/agui/run-input.ts';
import { newRunState, type RunState, type ShownRun } from '../../bridges/agui/run-state.ts';
import { contextNotFound } from '../../engine/loading/run-loader.ts';
import { contextOfName, type NamedContext } from '../contexts/client-named.ts';
import type { InputSurface } from '../contexts/inputs.ts';
import { knownAgent } from '../contexts/known-agent.ts';
import { firstCursor, type MessageSurface } from '../contexts/messages.ts';
import { noAgents, startTask } from '../contexts/start-task.ts';
import { takenOver } from '../http/large-response.ts';
import type { Call, HttpCall, OwnKey, Route } from '../http/routes.ts';
import { answersIn, giveAnswers } from './answers.ts';
import { readHistory } from './history.ts';
import { NO_TASK, type RunStreams } from './run-streams.ts';

export interface AguiSurface extends MessageSurface, InputSurface {
  readonly registry: Pick<AgentRegistry, 'agents'>;
  readonly runStreams: RunStreams;
}

export const aguiRoutes = (surface: AguiSurface): readonly Route[] => [
  {
    method: 'POST',
    path: '/api/agui/{agentId}',
    scope: 'runs:create',
    holds: true,
    recordsItself: true,
    ownKey,
    handle: (call) => accept(call, surface),
    follow: (call, text) => respond(call, text, surface),
    doc: {
      id: 'runAgui',
      summary: 'Run an agent for an AG-UI client',
      body: runAgentInput,
      responses: {
        200: {
          description: 'The AG-UI events of the run, until its task ends or waits for the user.',
          contentType: 'text/event-stream',
          orStream: z.looseObject({ type: z.string() }).meta({ id: 'AguiEvent' }),
        },
      },
      errors: [
        'not_found',
        'capability_required',
        'input_already_answered',
        'input_invalid',
        'event_too_large',
        'quota_exceeded',
        'run_state_too_large',
      ],
    },
  },
];

/** A run id names one run of its thread: a repeated request is the same run, whatever else it holds. */
function ownKey({ request }: HttpCall): OwnKey | undefined {
  const body: Json = (request.body ?? null) as Json;
  if (!isJsonObject(body)) return undefined;
  const { threadId, runId } = body;
  if (typeof threadId !== 'string' || typeof runId !== 'string') return undefined;
  const { agentId = '' } = request.params as Readonly<Record<string, string>>;
  return { key: JSON.stringify([threadId, runId]), content: { agentId }, forgetsRefusals: true };
}

/** Where a run stands in its context, as recorded under its id. */
const recordedRun = z.object({
  contextId: z.custom<ContextId>((given) => typeof given === 'string'),
  taskId: z.custom<RunId>((given) => typeof given === 'string'),
  /** The cursor that the run begins after; -1 for the first event of its task, null to join the task where it stands. */
  after: z.int().min(-1).nullable(),
  /** The questions that it answered. */
  answered: z.array(z.string()).default([]),
});

const WITH_TASK = -1;

async function accept(call: Call, surface: AguiSurface): Promise<string> {
  const input = parseShape(runAgentInput, call.request.body, 'The run input');
  if (!surface.runsAgents) throw noAgents();
  const agentId = await knownAgent(call, surface.registry);
  const news = newsOf(input);
  const thread = await contextOfName({ kind: 'thread', name: input.threadId }, call.caller, surface.contexts);
  const open = thread.exists ? await openTask(thread.contextId, { input, news }, surface) : null;
  const answers = answersIn(news, open?.state ?? null);
  if (answers.length > 0) {
    const contextId = begun(thread, input);
    const taskId = open?.taskId ?? null;
    const answered = answers.map(({ inputId }) => inputId);
    const recorded = JSON.stringify({ contextId, taskId, after: open?.head ?? null, answered });
    return giveAnswers(call, surface, { contextId, taskId, answers, recorded });
  }
  const { said } = news;
  if (said !== null && news.answers.length === 0) {
    const message = { role: 'user', content: said.text };
    const tools = (input.tools ?? []).map(({ name, description, parameters = { type: 'object' } }) => ({
      name,
      description,
      parameters,
    }));
    return startTask(call, surface, {
      body: parseShape(sendMessage, { agentId, message, ...(tools.length > 0 && { tools }) }, 'The message'),
      contextId: thread.contextId,
      mayBeginContext: true,
      ifBusy: 'queue',
      recorded: ({ contextId, runId }) => JSON.stringify({ contextId, taskId: runId, after: WITH_TASK }),
    });
  }
  const contextId = begun(thread, input);
  return JSON.stringify({ contextId, taskId: open?.taskId ?? NO_TASK, after: null });
}

function begun({ contextId, exists }: NamedContext, { threadId }: RunInput): ContextId {
  if (!exists) throw contextNotFound(threadId);
  return contextId;
}

interface OpenTask {
  readonly taskId: RunId;
  /** The newest cursor of the context when it was read. */
  readonly head: number;
  /** What the task waits for. */
  readonly state: RunState;
}

/** The task that the thread works on; null when it works on none. */
async function openTask(
  contextId: ContextId,
  { input, news }: { readonly input: RunInput; readonly news: News },
  { log, contexts, turns }: AguiSurface,
): Promise<OpenTask | null> {
  const { threadId, runId } = input;
  const { active } = await turns.openTasks(contextId);
  if (active === null) return null;
  const taskId = active.runId;
  const head = await contexts.head(contextId);
  const run = { threadId, runId, taskId };
  const isAsked = news.answers.length + news.results.length > 0 || active.status.startsWith('waiting');
  if (!isAsked) return { taskId, head, state: newRunState(run) };
  const { state } = await readHistory({ log, contexts }, { contextId, run, after: head, head, withMessages: false });
  return { taskId, head, state };
}

/** Streams the run. A client that repeats it, joins it or does not know the thread gets the messages so far. */
async function respond(call: Call, text: string, surface: AguiSurface): Promise<undefined> {
  const input = parseShape(runAgentInput, call.request.body, 'The run input');
  const { contextId, taskId, after, answered } = recordedRun.parse(JSON.parse(text));
  const { caller, reply } = call;
  const isRepeated = reply.getHeader('openwop-idempotent-replay') !== undefined;
  const withMessages = isRepeated || after === null || (await lacksHistory(input, contextId, surface));
  const stream = {
    caller,
    contextId,
    run: { ...shownRun(input, withMessages), taskId, answered: new Set(answered) },
    after: after === WITH_TASK ? (await firstCursor(surface.log, taskId)) - 1 : after,
    known: withMessages ? input.messages : null,
    isGone: () => reply.raw.destroyed,
  };
  const opening = await surface.runStreams.open(stream);
  reply.header('cairn-context-id', contextId);
  if (taskId !== NO_TASK) reply.header('cairn-task-id', taskId);
  surface.runStreams.serve(takenOver(call), stream, opening);
  return undefined;
}

/** A client that sends the first message that it knows of, in a conversation that has others. */
async function lacksHistory({ messages }: RunInput, contextId: ContextId, { contexts }: AguiSurface): Promise<boolean> {
  if (messages.some(({ role }) => role === 'assistant')) return false;
  const { runs } = await contexts.runs({ contextId, parentRunId: null, limit: 2 });
  return runs.length > 1;
}

/** Messages that a client gets from the host replace its own, and hold every result. */
function shownRun(input: RunInput, withMessages: boolean): Omit<ShownRun, 'taskId'> {
  const { threadId, runId, parentRunId, messages } = input;
  const known = messages.flatMap((message) => (message.role === 'tool' ? message.toolCallId : []));
  return {
    threadId,
    runId,
    parentRunId,
    state: stateOf(input),
    knownResults: withMessages ? undefined : new Set(known),
  };
}
