/** Configurations of push notifications: sets, lists and removes them, on every node. One node sends. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { RunRecord } from '../../../log/ports/run-index.ts';
import type { ClusterNode } from '../../cluster/cluster-node.ts';
import { DeliveryJob } from '../../cluster/delivery-job.ts';
import type { DeriveKeys, Keys } from '../../secrets/host-secret.ts';
import { type NewPush, newPushRecord, PUSH, type PushConfig, parsePushConfig, pushRecordId } from './config.ts';
import { PushDeliveries, type PushDeliveryPorts } from './push-deliveries.ts';

export interface PushPorts extends Omit<PushDeliveryPorts, 'keys'> {
  readonly clusterNode: ClusterNode;
  readonly deriveKeys: DeriveKeys;
}

/** Configurations of one task. */
const MAX_OF_TASK = 10;
/** Configurations of one tenant. */
const MAX_OF_TENANT = 1_000;

export class Pushes {
  readonly #ports: PushPorts;
  readonly #keys: Keys;
  readonly #job: DeliveryJob<PushDeliveries>;

  constructor(ports: PushPorts) {
    this.#ports = ports;
    this.#keys = ports.deriveKeys('a2a-push');
    this.#job = new DeliveryJob(ports, {
      name: 'a2a-pushes',
      failed: 'a2a.push_failed',
      create: (lease) => new PushDeliveries({ ...ports, keys: this.#keys }, lease),
    });
  }

  /** Goes on where the last host stopped: tells what changed meanwhile. */
  open(): Promise<void> {
    return this.#job.open();
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  /** Throws `conflict` if the tenant has the maximum number. */
  async admit(tenant: string): Promise<void> {
    const { length } = await this.#ports.store.subscriptions.list(PUSH, tenant);
    if (length >= MAX_OF_TENANT) throw tooMany(`The tenant ${quoted(tenant, 80)}`, MAX_OF_TENANT);
  }

  /** Replaces a configuration with the same id. Throws `conflict` if the task or the tenant has too many. */
  set(push: NewPush): Promise<PushConfig> {
    const { task } = push;
    return this.#alone(task.tenant, async () => {
      const { subscriptions } = this.#ports.store;
      const record = newPushRecord(this.#keys, push);
      const known = await this.of(task);
      if (known.some(({ configId }) => pushRecordId(task.runId, configId) === record.id)) {
        await subscriptions.drop(task.tenant, record.id);
      } else {
        await this.admit(task.tenant);
        if (known.length >= MAX_OF_TASK) throw tooMany(`The task ${task.runId}`, MAX_OF_TASK);
      }
      await subscriptions.put(record);
      await this.#changed();
      return parsePushConfig(record);
    });
  }

  async of({ runId, tenant }: Pick<RunRecord, 'runId' | 'tenant'>): Promise<readonly PushConfig[]> {
    const records = await this.#ports.store.subscriptions.list(PUSH, tenant);
    return records.map(parsePushConfig).filter(({ taskId }) => taskId === runId);
  }

  /** Does nothing if there is none. A notification on its way may still arrive. */
  remove({ runId, tenant }: Pick<RunRecord, 'runId' | 'tenant'>, configId: string): Promise<void> {
    return this.#alone(tenant, async () => {
      if (await this.#ports.store.subscriptions.drop(tenant, pushRecordId(runId, configId))) await this.#changed();
    });
  }

  /** Changes come one after the other, so that none is counted twice. */
  #alone<Result>(tenant: string, change: () => Promise<Result>): Promise<Result> {
    return this.#ports.clusterNode.alone(`push notifications of ${tenant}`, change);
  }

  /** Takes effect here at once, and on another node as soon as it is notified. */
  async #changed(): Promise<void> {
    await this.#job.running?.reload();
    this.#ports.clusterNode.hint('subscriptions.changed', PUSH);
  }
}

const tooMany = (what: string, max: number): TerminalError =>
  new TerminalError('conflict', {
    message: `${what} has ${max} push notification configurations, which is the maximum.`,
    hint: 'Delete one that is no longer needed. Those of a task are deleted when it ends.',
    details: { max },
  });
