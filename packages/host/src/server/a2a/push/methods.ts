/** The methods of push notification configurations. */
import type { Redactor } from '../../../engine/ports.ts';
import { refuseSecrets } from '../../../engine/values/redacted.ts';
import type { RunRecord } from '../../../log/ports/run-index.ts';
import { requireScope } from '../../access/auth.ts';
import { checkedUrl } from '../../egress/checked-url.ts';
import type { Egress } from '../../egress/egress.ts';
import type { Call } from '../../http/routes.ts';
import type { A2aRequest } from '../request.ts';
import { RpcError, resultText } from '../rpc.ts';
import type { A2aTasks } from '../tasks.ts';
import type { PushParams } from './config.ts';
import { namedParamsOf, setParamsOf, shownConfig } from './params.ts';
import type { Pushes } from './pushes.ts';

export interface PushMethodPorts {
  readonly pushes: Pushes;
  readonly tasks: A2aTasks;
  readonly egress: Egress;
  readonly redactor: Redactor | null;
}

/** Refuses an address that the host may not call, before anything is stored or started. */
export async function checkedPush({ caller }: Call, { id, url }: PushParams, ports: PushMethodPorts): Promise<void> {
  requireScope(caller, 'webhooks:manage');
  refuseSecrets(ports.redactor, 'The configuration', { id, url });
  await checkedUrl(ports.egress, url, 'url');
}

export async function setPush({ call, version, rpc }: A2aRequest, ports: PushMethodPorts): Promise<string> {
  const { taskId, params } = setParamsOf(version, rpc.params);
  const task = await ports.tasks.find(taskId, call.caller);
  await checkedPush(call, params, ports);
  refuseUntold(task);
  const { changes, phase } = await ports.tasks.read(task);
  // It may have ended while the address was checked: nobody would be told.
  if (phase === 'over') throw new RpcError('unsupported', `The task ${task.runId} has ended. Read it instead.`);
  const config = await ports.pushes.set({ task, version, params, sent: changes });
  return resultText(rpc.id, shownConfig(version, config));
}

/** A replay repeats what happened before; it sends no notification. */
export function refuseUntold({ runId, fork, importedAt }: RunRecord): void {
  if (fork?.mode !== 'replay' && importedAt === null) return;
  throw new RpcError('unsupported', `The task ${runId} repeats what happened elsewhere: it sends no notifications.`);
}

export async function getPush({ call, version, rpc }: A2aRequest, { pushes, tasks }: PushMethodPorts): Promise<string> {
  const { taskId, configId } = namedParamsOf(version, rpc.params);
  const task = await tasks.find(taskId, call.caller);
  const found = (await pushes.of(task)).find((config) => configId === undefined || config.configId === configId);
  if (found === undefined) throw new RpcError('taskNotFound', `The task ${task.runId} has no such configuration.`);
  return resultText(rpc.id, shownConfig(version, found));
}

/** A task has few of them: they are one page. */
export async function listPush(
  { call, version, rpc }: A2aRequest,
  { pushes, tasks }: PushMethodPorts,
): Promise<string> {
  const { taskId } = namedParamsOf(version, rpc.params);
  const found = await pushes.of(await tasks.find(taskId, call.caller));
  const configs = found.map((config) => shownConfig(version, config));
  return resultText(rpc.id, version === '1.0' ? { configs, nextPageToken: '' } : configs);
}

/** Deleting one that is gone succeeds. */
export async function deletePush({ call, version, rpc }: A2aRequest, ports: PushMethodPorts): Promise<string> {
  const { taskId, configId } = namedParamsOf(version, rpc.params);
  const task = await ports.tasks.find(taskId, call.caller);
  requireScope(call.caller, 'webhooks:manage');
  if (configId === undefined) throw new RpcError('params', 'The id of the configuration is missing.');
  await ports.pushes.remove(task, configId);
  return resultText(rpc.id, version === '1.0' ? {} : null);
}
