/** `tools/call`: starts a run, follows it, asks what it asks, and answers with what it became. */
import { foldEventOf, isCairnError, isJsonObject, parseRunId, type RunId } from '@cairn/protocol';
import type { Question } from '../../bridges/a2a/questions.ts';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import { caughtUp, FollowedTask } from '../a2a/followed-task.ts';
import { lastRow } from '../a2a/outputs.ts';
import { requireScope } from '../access/auth.ts';
import { answerOpen, type InputSurface } from '../contexts/inputs.ts';
import { firstCursor } from '../contexts/messages.ts';
import type { Elicitations } from './elicitations.ts';
import type { McpRequest } from './inbound.ts';
import { answerOf, type Form, formOf, type Reply, replyOf } from './questions.ts';
import { openState, type StatePorts, stateText, useState } from './request-state.ts';
import { type EndedRun, endResult, openResult, originOf, refusedArguments } from './results.ts';
import { McpError, said } from './rpc.ts';
import { RunWatch } from './run-watch.ts';
import { argumentProblems, type McpTool, type StartedRun, startedRun, type ToolPorts, toolNamed } from './tools.ts';

export interface CallPorts extends ToolPorts, StatePorts {
  readonly log: EventLog;
  readonly feed: LiveFeed;
  readonly loadView: LoadView;
  readonly hostId: string;
  readonly inputs: InputSurface;
  readonly elicitations: Elicitations;
}

/** A call whose run has started. */
export interface OpenToolCall {
  readonly request: McpRequest;
  readonly tool: McpTool;
  readonly watch: RunWatch;
  /** Sends a message on the stream of the request; null if the client takes no stream. */
  send: ((message: object) => void) | null;
  /** Questions that the client has answered. One may stay open until others have answered it, too. */
  readonly answered: Set<string>;
  /** The client does not want to answer: it is asked nothing more. */
  isLeftOpen: boolean;
}

/** Refuses the call, or starts or continues its run. An object is the result of a call that starts none. */
export async function openedCall(request: McpRequest, ports: CallPorts): Promise<OpenToolCall | object> {
  const { call, params, meta } = request;
  requireScope(call.caller, 'runs:create');
  const tool = await toolNamed(call, params, ports);
  const { arguments: given = {}, requestState } = params;
  if (!isJsonObject(given)) throw new McpError('params', 'arguments must be an object.');
  if (request.isModern && requestState !== undefined) return continued(request, tool, ports);
  const problems = argumentProblems(tool, given);
  if (problems.length > 0) return refusedArguments(problems);
  try {
    const run = await startedRun(call, ports, { tool, given, meta });
    return await watched(request, { tool, run }, ports);
  } catch (error) {
    // The definition refuses inputs that the schema of the tool lets pass.
    if (isCairnError(error, 'validation_error')) return refusedArguments([said(error)]);
    throw error;
  }
}

/** Follows the run of a call from its first row on. */
async function watched(
  request: McpRequest,
  { tool, run }: { readonly tool: McpTool; readonly run: StartedRun },
  ports: CallPorts,
): Promise<OpenToolCall> {
  const after = run.isNew ? 0 : (await firstCursor(ports.log, run.runId)) - 1;
  return followed(request, { tool, run, task: taskOf(run.runId, after, ports) }, ports);
}

/** Follows a run again that an earlier request has started. The questions of before are answered. */
export async function watchedAgain(
  request: McpRequest,
  { tool, runId }: { readonly tool: McpTool; readonly runId: RunId },
  ports: CallPorts,
): Promise<OpenToolCall> {
  const head = await ports.log.head(runId);
  if (head === null) throw new McpError('params', 'There is no such run.');
  const { contextId, tenant } = head.record;
  // The run of a workflow has a context of its own.
  const after = 'workflowId' in tool.runs ? 0 : (await firstCursor(ports.log, runId)) - 1;
  const task = taskOf(runId, after, ports);
  await caughtUp(ports.log, contextId, task);
  return followed(request, { tool, run: { runId, contextId, tenant, isNew: false }, task }, ports);
}

/** Artifacts are read as resources: no update of the view is shown. */
const taskOf = (taskId: RunId, after: number, { hostId }: CallPorts): FollowedTask =>
  new FollowedTask({ taskId, hostId, artifactUrl: () => '', after });

interface Followed {
  readonly tool: McpTool;
  readonly run: StartedRun;
  readonly task: FollowedTask;
}

function followed(request: McpRequest, { tool, run, task }: Followed, { feed }: CallPorts): OpenToolCall {
  const token = request.meta.progressToken;
  let progress = 0;
  const onProgress = (message: string) => {
    progress += 1;
    if (typeof token !== 'string' && typeof token !== 'number') return;
    opened.send?.({ method: 'notifications/progress', params: { progressToken: token, progress, message } });
  };
  const watch = new RunWatch({ feed, run, task, onProgress });
  const opened: OpenToolCall = { request, tool, watch, send: null, answered: new Set(), isLeftOpen: false };
  return opened;
}

/** The client answers what the run asked, and waits for it again. It is asked anew for an answer that does not fit. */
async function continued(request: McpRequest, tool: McpTool, ports: CallPorts): Promise<OpenToolCall | object> {
  const { call, params } = request;
  const { inputResponses, requestState } = params;
  requireScope(call.caller, 'approvals:respond');
  const state = openState(call, requestState, tool.name, ports);
  const { runId, inputId, form } = state;
  const reply = replyOf(isJsonObject(inputResponses) ? inputResponses[form] : undefined);
  if (reply === null) throw new McpError('params', `inputResponses.${form} must answer the form.`);
  await useState(call, state, ports);
  const opened = await watchedAgain(request, { tool, runId }, ports);
  try {
    // Null if the question was answered elsewhere: the run goes on with that answer.
    const question = opened.watch.task.asked.find(({ id }) => id === inputId);
    if (question === undefined) return opened;
    const problem = await answeredOrRefused(opened, { question, reply }, ports);
    if (problem === '') return opened;
    opened.watch.close();
    return await inputRequired(opened, { question, problem }, ports);
  } catch (error) {
    opened.watch.close();
    throw error;
  }
}

/** The only form of the input requests, one at a time, has the id of its question in the workflow, if it has one. */
async function formNameOf({ id, taskId }: Question, { loadView }: CallPorts): Promise<string> {
  const runId = parseRunId(taskId);
  const view = runId === null ? null : await loadView(runId);
  const questions = view !== null && Object.hasOwn(view.interrupts, id) ? view.interrupts[id]?.data.questions : null;
  const [first, second] = Array.isArray(questions) ? questions : [];
  const name = second === undefined && isJsonObject(first) ? first.id : undefined;
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) ? name : 'answer';
}

/** How often a form is shown again whose answer was refused. */
const MAX_TRIES = 3;

/** Resolves with the result of the call. Neither a timeout nor an answer from elsewhere is lost. */
export async function concluded(opened: OpenToolCall, ports: CallPorts): Promise<object> {
  const { watch, request } = opened;
  const { task } = watch;
  if (!watch.isStopped) watch.begin();
  let tries = 0;
  let problem = '';
  while (!watch.isStopped && task.phase !== 'over') {
    const asked = task.asked.filter(({ id }) => !opened.answered.has(id));
    const question = formed(asked);
    if (task.phase === 'working' || asked.length === 0) await watch.changed();
    else if (question === null || !request.session.canElicit || opened.isLeftOpen || tries >= MAX_TRIES) break;
    else if (request.isModern) return inputRequired(opened, { question, problem: '' }, ports);
    else {
      tries += 1;
      const reply = await elicited(opened, { question, problem }, ports);
      if (reply === 'answered elsewhere') continue;
      if (reply === null) break;
      problem = await answeredOrRefused(opened, { question, reply }, ports);
      if (problem === '') tries = 0;
    }
  }
  const origin = originOf(watch, ports.hostId);
  return task.phase === 'over' ? endResult(await endedRun(watch, ports), origin) : openResult(watch, origin);
}

/** How the run ended. Its last row says it; only a run that was quarantined has another one there. */
async function endedRun({ runId, task }: RunWatch, { log, loadView }: CallPorts): Promise<EndedRun> {
  const last = task.end ?? (await lastRow(log, runId));
  const event = last && foldEventOf(last);
  if (event?.type === 'run.completed') {
    return { runId, status: 'completed', outputs: event.payload.outputs ?? null, error: null };
  }
  return loadView(runId);
}

const formed = (asked: readonly Question[]): Question | null => asked.find((one) => formOf(one) !== null) ?? null;

/** Why the answer does not fit; empty if it was taken, or the client leaves the question open. */
function answeredOrRefused(opened: OpenToolCall, given: Given, ports: CallPorts): Promise<string> {
  return answered(opened, given, ports).then((isAnswered) => {
    opened.isLeftOpen = !isAnswered;
    return '';
  }, refusalText);
}

/** Only what the client can correct is asked again. */
function refusalText(error: unknown): string {
  if (!isCairnError(error, 'input_invalid')) throw error;
  return said(error);
}

async function inputRequired({ request, tool, watch }: OpenToolCall, { question, problem }: Shown, ports: CallPorts) {
  const { runId } = watch;
  const form = await formNameOf(question, ports);
  const params = shownForm(formOf(question), problem);
  return {
    resultType: 'input_required',
    inputRequests: { [form]: { method: 'elicitation/create', params } },
    requestState: stateText(request.call, { runId, inputId: question.id, tool: tool.name, form }, ports),
    _meta: originOf(watch, ports.hostId),
  };
}

interface Shown {
  readonly question: Question;
  /** Why the last answer was refused; empty if none was. */
  readonly problem: string;
}

const shownForm = (form: Form | null, problem: string): Form | null =>
  form === null || problem === '' ? form : { ...form, message: `${problem}\n${form.message}` };

/** Asks the client on the stream of its request. Null if it cannot be asked, or answers nonsense. */
async function elicited(opened: OpenToolCall, { question, problem }: Shown, { elicitations }: CallPorts) {
  const { watch, request, send } = opened;
  const params = shownForm(formOf(question), problem);
  if (send === null || params === null || !request.call.caller.scopes.has('approvals:respond')) return null;
  const asked = elicitations.open(request.call.caller);
  send({ id: asked.id, method: 'elicitation/create', params });
  const isOpen = () =>
    !watch.isStopped && watch.task.phase !== 'over' && watch.task.asked.some(({ id }) => id === question.id);
  const answeredElsewhere = async () => {
    while (isOpen()) await watch.changed();
    return 'answered elsewhere' as const;
  };
  try {
    const reply = await Promise.race([asked.reply, answeredElsewhere()]);
    if (reply !== 'answered elsewhere') return replyOf(reply);
    send({ method: 'notifications/cancelled', params: { requestId: asked.id, reason: 'The question is answered.' } });
    return reply;
  } finally {
    elicitations.close(asked.id);
  }
}

interface Given {
  readonly question: Question;
  readonly reply: Reply;
}

/** Records the answer. False if the client leaves the question open. */
async function answered(opened: OpenToolCall, given: Given, ports: CallPorts) {
  const { watch, request } = opened;
  const { question, reply } = given;
  const answer = answerOf(question, reply);
  if (answer === null) return false;
  const head = await ports.log.head(watch.runId);
  if (head === null) return false;
  const { contextId } = head.record;
  try {
    await answerOpen(request.call, ports.inputs, { contextId, inputId: question.id, given: answer });
    if (!request.call.reply.sent) request.call.reply.code(200);
  } catch (error) {
    // A turn of a conversation cannot be declined, for example.
    if (reply.action === 'decline' && isCairnError(error, 'input_invalid')) return false;
    // Another answer was first: the run goes on with it.
    if (!isCairnError(error, 'input_already_answered')) throw error;
  }
  opened.answered.add(question.id);
  return true;
}
