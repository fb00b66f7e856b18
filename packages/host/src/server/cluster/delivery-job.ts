/** Deliveries of subscriptions: one node runs them, and loads them again when any node changes a subscription. */
import type { OperatorEvent } from '../../engine/operator-events.ts';
import type { Report, Timers } from '../../engine/ports.ts';
import type { ClusterJob, HeldLease, Part } from './cluster-job.ts';
import type { ClusterNode } from './cluster-node.ts';

export interface Reloadable extends Part {
  reload(): Promise<void>;
}

/** A node may end, or lose its database, after it has changed a subscription and before its notice. */
export const RELOAD_MS = 30_000;

export interface DeliveryJobPorts {
  readonly clusterNode: ClusterNode;
  readonly timers: Timers;
  readonly report: Report;
}

export interface DeliveryJobOptions<Deliveries extends Reloadable> {
  /** The name of the job. */
  readonly name: string;
  /** The event of the report when subscriptions cannot be loaded. */
  readonly failed: OperatorEvent;
  readonly create: (lease: HeldLease) => Deliveries;
}

export class DeliveryJob<Deliveries extends Reloadable> {
  readonly #ports: DeliveryJobPorts;
  readonly #failed: OperatorEvent;
  readonly #job: ClusterJob;
  #running: Deliveries | null = null;
  #unfollow: () => void = () => {};
  #cancelTimer: () => void = () => {};

  constructor(ports: DeliveryJobPorts, { name, failed, create }: DeliveryJobOptions<Deliveries>) {
    this.#ports = ports;
    this.#failed = failed;
    this.#job = ports.clusterNode.job(name, async (lease) => {
      const deliveries = create(lease);
      this.#running = deliveries;
      await deliveries.reload();
      return {
        close: () => {
          this.#running = null;
          return deliveries.close();
        },
      };
    });
  }

  /** Null while another node delivers. */
  get running(): Deliveries | null {
    return this.#running;
  }

  /** Resumes all stored subscriptions, here or on another node. */
  async open(): Promise<void> {
    this.#unfollow = this.#ports.clusterNode.on('subscriptions.changed', () => this.#reload());
    this.#reloadLater();
    await this.#job.open();
  }

  async close(): Promise<void> {
    this.#unfollow();
    this.#cancelTimer();
    await this.#job.close();
  }
  #reload(): void {
    const { report } = this.#ports;
    this.#running?.reload().catch((error: unknown) => {
      report({ level: 'warn', event: this.#failed, facts: { subscription: 'all' }, error });
    });
  }

  #reloadLater(): void {
    this.#cancelTimer = this.#ports.timers.after(RELOAD_MS, () => {
      this.#reload();
      this.#reloadLater();
    });
  }
}
