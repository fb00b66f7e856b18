/** The methods of A2A in both versions. */
import type { A2aTask, A2aUpdate } from '../../bridges/a2a/update.ts';
import { v1Task, v1Update } from '../../bridges/a2a/v1.ts';
import { v03Task, v03Update } from '../../bridges/a2a/v03.ts';
import type { Engine } from '../../engine/engine.ts';
import { requireScope } from '../access/auth.ts';
import type { Cards } from './cards.ts';
import type { FollowedTask } from './followed-task.ts';
import { type SendParams, sendParams, taskParamsOf } from './inbound.ts';
import { type ListPorts, listedTasks } from './list-tasks.ts';
import {
  checkedPush,
  deletePush,
  getPush,
  listPush,
  type PushMethodPorts,
  refuseUntold,
  setPush,
} from './push/methods.ts';
import type { A2aRequest } from './request.ts';
import { RpcError, type RpcId, resultText } from './rpc.ts';
import { type SendPorts, type SentTask, sent } from './send.ts';
import { type StreamOptions, shownTask, type Task } from './tasks.ts';
import type { A2aVersion } from './versions.ts';

export interface MethodPorts extends SendPorts, ListPorts, PushMethodPorts {
  readonly engine: Pick<Engine, 'cancel' | 'workflow'>;
  readonly cards: Cards;
}

/** Returns the response, or undefined once it streams. */
type Method = (request: A2aRequest, ports: MethodPorts) => Promise<string | undefined>;

/** How long a request waits for its task. The task goes on. */
const MAX_WAIT_MS = 600_000;

/** How long a cancelled task may take to stop. */
const MAX_CANCEL_MS = 6_000;

const send: Method = async (request, ports) => {
  const { call, version, rpc } = request;
  const params = sendParams(version, rpc.params);
  const { isImmediate, historyLength } = params;
  const { tasks } = ports;
  const earlier = await readBefore(request, params, ports);
  const { task: record, isRepeated } = await taken(request, params, ports);
  const followed = earlier ?? (await tasks.begin(record));
  if (isImmediate) await tasks.catchUp(record, followed);
  else await tasks.settle(record, followed, { call, withinMs: MAX_WAIT_MS, after: answeredAt(followed, isRepeated) });
  const task = shownTask(followed, historyLength);
  return resultText(rpc.id, version === '1.0' ? { task: v1Task(task) } : v03Task(task));
};

const sendStream: Method = async (request, ports) => {
  const { call, version, rpc } = request;
  const params = sendParams(version, rpc.params);
  const earlier = await readBefore(request, params, ports);
  const { task: record, isRepeated } = await taken(request, params, ports);
  if (earlier !== null) return subscribed(request, record, { ...ports, after: answeredAt(earlier, isRepeated) });
  const frame = framesOf(version, rpc.id);
  ports.tasks.stream(call, record, await ports.tasks.begin(record), { first: '', frame });
  return undefined;
};

/** The task as it was before its answer; null if the message begins one. */
async function readBefore(
  { call }: A2aRequest,
  { message: { taskId } }: SendParams,
  { tasks }: MethodPorts,
): Promise<FollowedTask | null> {
  return taskId === undefined ? null : tasks.read(await tasks.find(taskId, call.caller));
}

/** What a task asks after so many changes, it asks after the answer. An answer that came before is in all of them. */
const answeredAt = ({ changes }: FollowedTask, isRepeated: boolean): number => (isRepeated ? -1 : changes);

/** Sends the message, and remembers whom to tell of its task. */
async function taken(
  { call, version, skillId }: A2aRequest,
  { message, push }: SendParams,
  ports: MethodPorts,
): Promise<SentTask> {
  if (push === undefined) return sent(call, ports, { message, skillId });
  await checkedPush(call, push, ports);
  await ports.pushes.admit(call.caller.tenant);
  const { task: begun, isRepeated } = await sent(call, ports, { message, skillId });
  const task = await ports.tasks.find(begun.runId, call.caller);
  refuseUntold(task);
  // Told from its first status on.
  await ports.pushes.set({ task, version, params: push, sent: -1 });
  return { task, isRepeated };
}

type SubscribePorts = Pick<MethodPorts, 'tasks'> & Pick<StreamOptions, 'after'>;

/** The task as it is, then what follows. */
async function subscribed({ call, version, rpc }: A2aRequest, record: Task, { tasks, after }: SubscribePorts) {
  const followed = await tasks.read(record);
  const frame = framesOf(version, rpc.id);
  const first = frame({ type: 'task', task: shownTask(followed, undefined) });
  tasks.stream(call, record, followed, { first, frame, after });
  return undefined;
}

const subscribe: Method = async (request, ports) => {
  const record = await ports.tasks.find(taskParamsOf(request.rpc.params).id, request.call.caller);
  if (record.endedAt !== null) {
    throw new RpcError('unsupported', `The task ${record.runId} has ended. Read it instead.`);
  }
  return subscribed(request, record, { tasks: ports.tasks });
};

const get: Method = async ({ call, version, rpc }, { tasks }) => {
  const { id, historyLength } = taskParamsOf(rpc.params);
  const followed = await tasks.read(await tasks.find(id, call.caller));
  return resultText(rpc.id, taskIn(version, shownTask(followed, historyLength)));
};

const cancel: Method = async ({ call, version, rpc }, { tasks, engine }) => {
  const { caller } = call;
  const record = await tasks.find(taskParamsOf(rpc.params).id, caller);
  requireScope(caller, 'runs:cancel');
  if (record.endedAt !== null) throw new RpcError('notCancelable', `The task ${record.runId} has ended already.`);
  const followed = await tasks.read(record);
  const { tenant, principal } = caller;
  await engine.cancel({ tenant, principal, runId: record.runId, reason: 'cross_protocol_cancel' });
  await tasks.settle(record, followed, { call, withinMs: MAX_CANCEL_MS });
  return resultText(rpc.id, taskIn(version, shownTask(followed, undefined)));
};

const list: Method = async ({ call, rpc }, ports) => resultText(rpc.id, await listedTasks(call, rpc.params, ports));

const extendedCard: Method = async ({ call, version, rpc, skillId }, { cards }) => {
  requireScope(call.caller, 'manifest:read');
  return resultText(rpc.id, await cards.extended(call.caller, { version, skillId }));
};

const v1: Readonly<Record<string, Method>> = {
  SendMessage: send,
  SendStreamingMessage: sendStream,
  GetTask: get,
  ListTasks: list,
  CancelTask: cancel,
  SubscribeToTask: subscribe,
  GetExtendedAgentCard: extendedCard,
  CreateTaskPushNotificationConfig: setPush,
  GetTaskPushNotificationConfig: getPush,
  ListTaskPushNotificationConfigs: listPush,
  DeleteTaskPushNotificationConfig: deletePush,
};

const v03: Readonly<Record<string, Method>> = {
  'message/send': send,
  'message/stream': sendStream,
  'tasks/get': get,
  'tasks/cancel': cancel,
  'tasks/resubscribe': subscribe,
  'agent/getAuthenticatedExtendedCard': extendedCard,
  'tasks/pushNotificationConfig/set': setPush,
  'tasks/pushNotificationConfig/get': getPush,
  'tasks/pushNotificationConfig/list': listPush,
  'tasks/pushNotificationConfig/delete': deletePush,
};

const methods: Readonly<Record<A2aVersion, Readonly<Record<string, Method>>>> = { '1.0': v1, '0.3': v03 };

export const a2aMethodNames = (version: A2aVersion): readonly string[] => Object.keys(methods[version]);

export function methodNamed({ version, rpc }: Pick<A2aRequest, 'version' | 'rpc'>): Method {
  const found = Object.hasOwn(methods[version], rpc.method) ? methods[version][rpc.method] : undefined;
  if (found !== undefined) return found;
  throw new RpcError(
    'method',
    `A2A ${version} has no method of this name. It has ${a2aMethodNames(version).join(', ')}.`,
  );
}

const taskIn = (version: A2aVersion, task: A2aTask): object => (version === '1.0' ? v1Task(task) : v03Task(task));

/** A frame of a stream: the response to the request, once for each update. */
const framesOf = (version: A2aVersion, id: RpcId) => (update: A2aUpdate) =>
  `data: ${resultText(id, version === '1.0' ? v1Update(update) : v03Update(update))}\n\n`;
