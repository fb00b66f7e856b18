/** Messages of peers: each starts a task, or answers what a task asks. */
import { type AnswerInput, isJsonObject, type JsonObject, parseShape, sendMessage } from '@cairn/protocol';
import type { Report } from '../../engine/ports.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import { requireScope } from '../access/auth.ts';
import { answerOpen, type InputSurface } from '../contexts/inputs.ts';
import { type MessageSurface, startTask } from '../contexts/messages.ts';
import type { Call } from '../http/routes.ts';
import type { HttpResponse, Idempotency } from '../idempotency/idempotency.ts';
import { statedCaller } from '../peers/stated-caller.ts';
import type { FollowedTask } from './followed-task.ts';
import type { InboundMessage } from './inbound.ts';
import { nameOfCode, RpcError } from './rpc.ts';
import type { A2aTasks } from './tasks.ts';

export interface SendPorts {
  readonly conversations: MessageSurface & InputSurface;
  readonly tasks: A2aTasks;
  readonly requests: Idempotency;
  readonly report: Report;
}

/** Where a message goes. */
interface Sent {
  readonly message: InboundMessage;
  /** The agent in the path; undefined for the one of the context or of the host. */
  readonly agentId: string | undefined;
}

/** The task that a message started or answered. A repeated message is the same one. */
export async function sent(call: Call, ports: SendPorts, { message, agentId }: Sent): Promise<RunRecord> {
  const { tenant, principal } = call.caller;
  const { messageId, metadata: _, ...content } = message;
  const key = { tenant, endpoint: 'A2A message', key: JSON.stringify([principal ?? null, messageId]) };
  const response = await ports.requests.carryOut(
    { ...key, content: { ...content, agentId: agentId ?? null }, recordsItself: true },
    async (requestKey): Promise<HttpResponse> => {
      const keyed = { ...call, requestKey };
      const body =
        message.taskId === undefined
          ? await started(keyed, ports, { message, agentId })
          : await answered(keyed, ports, { message, taskId: message.taskId });
      return { status: 202, headers: {}, body };
    },
  );
  // The command set the status of its own surface.
  call.reply.code(200);
  const recorded: JsonObject = JSON.parse(response.body);
  if (response.status >= 300) throw refused(recorded);
  return ports.tasks.find(String(recorded.taskId), call.caller);
}

async function started(call: Call, ports: SendPorts, { message, agentId }: Sent): Promise<string> {
  requireScope(call.caller, 'runs:create');
  const { contextId, text, data } = message;
  const content = [...(text === '' ? [] : [text]), ...data.map((part) => JSON.stringify(part))].join('\n');
  const body = parseShape(
    sendMessage,
    { message: { role: 'user', content }, ...(agentId !== undefined && { agentId }) },
    'The message',
  );
  const { openwop } = message.metadata;
  const said = isJsonObject(openwop) ? openwop : {};
  return startTask(call, ports.conversations, {
    body,
    contextId,
    ifBusy: 'queue',
    mayBeginContext: true,
    transport: 'a2a',
    // Comes before that of the headers. Garbage is no trace.
    trace: inboundTrace(said),
    caller: statedCaller(call.caller, { stated: said.causation, cause: 'a2a-message' }, ports.report),
  });
}

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
