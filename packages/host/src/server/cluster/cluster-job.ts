/**
 * A part of the host that one node of the cluster runs at a time, such as the deliveries of webhooks or the purge of old
 * runs. The node that holds the lease runs it. When the holder dies, another node takes over once the lease has ended.
 */
import type { Report, Timers } from '../../engine/ports.ts';
import type { Cluster } from '../../log/ports/cluster.ts';

export interface HeldLease {
  /** Grows each time the job starts anew, on any node. */
  readonly fence: number;
  /** False once another node may have taken over. Ask before anything that must happen once. */
  isHeld(): boolean;
}

/** What runs while the lease is held. */
export interface Part {
  close(): Promise<void>;
}

export interface JobPorts {
  readonly cluster: Pick<Cluster, 'hold' | 'release'>;
  readonly node: string;
  readonly leaseMs: number;
  readonly now: () => number;
  readonly timers: Timers;
  readonly report: Report;
}

interface Running {
  readonly fence: number;
  readonly part: Part;
}

export class ClusterJob {
  readonly #name: string;
  readonly #start: (lease: HeldLease) => Promise<Part>;
  readonly #ports: JobPorts;
  #running: Running | null = null;
  #heldUntil = 0;
  #cancelTimer: () => void = () => {};
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(name: string, start: (lease: HeldLease) => Promise<Part>, ports: JobPorts) {
    this.#name = name;
    this.#start = start;
    this.#ports = ports;
  }

  /** Resolves once the part runs here, or another node has the lease. */
  open(): Promise<void> {
    this.#round = this.#turn();
    return this.#round;
  }

  /** Stops the part and leaves the lease to another node. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    await this.#round;
    if (this.#running === null) return;
    await this.#stop();
    const { cluster, node } = this.#ports;
    await cluster.release({ name: this.#name, owner: node }).catch(() => undefined);
  }

  async #turn(): Promise<void> {
    const { timers, leaseMs, report } = this.#ports;
    try {
      await this.#hold();
    } catch (error) {
      report({ level: 'warn', event: 'cluster.job_failed', facts: { job: this.#name }, error });
      if (!this.#isHeld(this.#running?.fence)) await this.#stop();
    }
    if (this.#isClosed) return;
    this.#cancelTimer = timers.after(leaseMs / 3, () => {
      this.#round = this.#turn();
    });
  }

  async #hold(): Promise<void> {
    const { cluster, node, now, leaseMs } = this.#ports;
    const asked = now();
    const fence = await cluster.hold({ name: this.#name, owner: node, now: asked, until: asked + leaseMs });
    if (fence !== null && fence === this.#running?.fence) {
      this.#heldUntil = asked + leaseMs;
      return;
    }
    // Lost, or lost and won again: another node may have worked in between, so the part starts from what is stored.
    await this.#stop();
    if (fence === null || this.#isClosed) return;
    this.#heldUntil = asked + leaseMs;
    this.#running = { fence, part: await this.#start({ fence, isHeld: () => this.#isHeld(fence) }) };
  }

  #isHeld(fence: number | undefined): boolean {
    const isCurrent = this.#running === null || this.#running.fence === fence;
    return isCurrent && this.#ports.now() < this.#heldUntil;
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    this.#heldUntil = 0;
    await running?.part.close();
  }
}
