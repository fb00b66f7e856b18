/** Messages of peers: each starts a task, or answers what a task asks. */
import { type AnswerInput, BUDGET_KEY, isJsonObject, type JsonObject, parseShape, sendMessage } from '@cairn/protocol';
import type { RunStarted } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import { requireScope } from '../access/auth.ts';
import { answerOpen, type InputSurface } from '../contexts/inputs.ts';
import { type StartTaskPorts, startTask, startWorkflowTask } from '../contexts/start-task.ts';
import type { Call } from '../http/routes.ts';
import type { HttpResponse, Idempotency } from '../idempotency/idempotency.ts';
import { statedBudget, statedCaller } from '../peers/stated-caller.ts';
import type { FollowedTask } from './followed-task.ts';
import type { InboundMessage } from './inbound.ts';
import { nameOfCode, RpcError } from './rpc.ts';
import type { A2aTasks, Task } from './tasks.ts';
import { inputsIn, isWorkflowId, type WorkflowPorts, workflowNamed } from './workflows.ts';

export interface SendPorts extends WorkflowPorts {
  readonly conversations: StartTaskPorts & InputSurface;
  readonly tasks: A2aTasks;
  readonly requests: Idempotency;
  readonly report: Report;
}

/** Where a message goes. */
interface Sent {
  readonly message: InboundMessage;
  /** The agent or workflow in the path; undefined for the agent of the context or of the host. */
  readonly skillId: string | undefined;
}

/** The workflow that the message has started in a context of its own. */
interface Begun {
  task: Task | null;
}

interface NewTask extends Sent {
  readonly begun: Begun;
}

/** The task that a message started or answered. */
export interface SentTask {
  readonly task: Task;
  /** The message came before: the task may ask for something else by now. */
  readonly isRepeated: boolean;
}

/** A repeated message is the same one. */
export async function sent(call: Call, ports: SendPorts, { message, skillId }: Sent): Promise<SentTask> {
  const { tenant, principal } = call.caller;
  const { messageId, metadata: _, ...content } = message;
  const key = { tenant, endpoint: 'A2A message', key: JSON.stringify([principal ?? null, messageId]) };
  const begun: Begun = { task: null };
  const isNew = message.taskId === undefined && message.contextId === undefined;
  const response = await ports.requests.carryOut(
    { ...key, content: { ...content, skillId: skillId ?? null }, recordsItself: true, looksLater: isNew },
    async (requestKey): Promise<HttpResponse> => {
      const keyed = { ...call, requestKey };
      const body =
        message.taskId === undefined
          ? await started(keyed, ports, { message, skillId, begun })
          : await answered(keyed, ports, { message, taskId: message.taskId });
      return { status: 202, headers: {}, body };
    },
  );
  // The command set the status of its own surface.
  call.reply.code(200);
  // Another node may have been first, and then it is the task of that one.
  const isRepeated = response.isReplayed;
  if (!isRepeated && begun.task !== null) return { task: begun.task, isRepeated };
  const recorded: JsonObject = JSON.parse(response.body);
  if (response.status >= 300) throw refused(recorded);
  return { task: await ports.tasks.find(String(recorded.taskId), call.caller), isRepeated };
}

async function started(call: Call, ports: SendPorts, { message, skillId, begun }: NewTask): Promise<string> {
  requireScope(call.caller, 'runs:create');
  const { contextId, text, data, metadata } = message;
  const { openwop } = metadata;
  const said = isJsonObject(openwop) ? openwop : {};
  const options = {
    contextId,
    ifBusy: 'queue' as const,
    mayBeginContext: true,
    transport: 'a2a' as const,
    kept: keptOf(message),
    // Comes before that of the headers. Garbage is no trace.
    trace: inboundTrace(said),
    caller: statedCaller(call.caller, { stated: said.causation, cause: 'a2a-message' }, ports.report),
    callBudget: statedBudget(metadata[BUDGET_KEY]),
  };
  if (skillId !== undefined && isWorkflowId(skillId)) {
    const inputs = inputsIn(message, await workflowNamed(call.caller.tenant, skillId, ports));
    const recorded = ({ runId, contextId: begins }: RunStarted): string => {
      const { tenant } = call.caller;
      if (contextId === undefined) begun.task = { runId, contextId: begins, workflowId: skillId, tenant, isNew: true };
      return JSON.stringify({ contextId: begins, taskId: runId });
    };
    return startWorkflowTask(call, ports.conversations, { ...options, workflowId: skillId, inputs, recorded });
  }
  const content = [...(text === '' ? [] : [text]), ...data.map((part) => JSON.stringify(part))].join('\n');
  const body = parseShape(
    sendMessage,
    { message: { role: 'user', content }, ...(skillId !== undefined && { agentId: skillId }) },
    'The message',
  );
  return startTask(call, ports.conversations, { ...options, body });
}

/** The names that the peer gave, so that a run is found by them. */
const keptOf = ({ contextId, messageId }: InboundMessage) => ({
  ...(contextId !== undefined && { tags: [`a2a:${contextId}`] }),
  metadata: { a2a: { messageId } },
});

interface Answer {
  readonly message: InboundMessage;
  readonly taskId: string;
}

async function answered(call: Call, { conversations, tasks }: SendPorts, { message, taskId }: Answer): Promise<string> {
  const record = await tasks.find(taskId, call.caller);
  const { contextId, runId } = record;
  if (message.contextId !== undefined && message.contextId !== contextId) {
    throw new RpcError('params', `The task ${runId} is not in the context that the message names.`);
  }
  requireScope(call.caller, 'approvals:respond');
  const followed = await tasks.read(record);
  if (followed.phase === 'over') {
    throw new RpcError('unsupported', `The task ${runId} has ended. Leave taskId out to go on in its context.`);
  }
  const inputId = questionFor(message, followed);
  const given = givenIn(message);
  return answerOpen(call, conversations, {
    contextId,
    inputId,
    given,
    recorded: () => JSON.stringify({ taskId: runId }),
  });
}

/** The question that a data part names, or else the oldest. */
function questionFor({ data }: InboundMessage, { questions, phase }: FollowedTask): string {
  const named = data.map(({ inputId }) => inputId).find((inputId) => inputId !== undefined);
  if (named !== undefined) {
    const found = questions.find((inputId) => inputId === named);
    if (found === undefined) throw new RpcError('params', 'The task does not ask what the inputId names.');
    return found;
  }
  const [oldest] = questions;
  if (oldest !== undefined) return oldest;
  throw new RpcError(
    'unsupported',
    phase === 'signs-in'
      ? 'The task waits until its user has signed in. No message completes a sign-in.'
      : 'The task does not wait for input. Leave taskId out to queue the message in its context.',
  );
}

/** Data says exactly what the answer is: `{ value }`, `{ reject, reason? }`, or the value itself. Text is a text. */
function givenIn({ text, data }: InboundMessage): AnswerInput {
  const [first] = data;
  if (first === undefined) return { value: text };
  const { inputId: _, ...answer } = first;
  if (answer.reject === true) {
    return { reject: true, ...(typeof answer.reason === 'string' && { reason: answer.reason.slice(0, MAX_REASON) }) };
  }
  return { value: answer.value !== undefined && Object.keys(answer).length === 1 ? answer.value : answer };
}

const MAX_REASON = 2_000;

/** A message that was refused before is refused again. */
function refused(envelope: JsonObject): RpcError {
  const { error, message } = envelope;
  return new RpcError(nameOfCode(String(error)), String(message), String(error));
}
