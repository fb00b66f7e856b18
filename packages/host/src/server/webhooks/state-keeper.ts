/**
 * Saves the delivery progress of all subscriptions. Each save is a commit with a disk sync, which delays runs. The
 * keeper therefore batches the changes of 100 ms. After a crash, the host delivers again what it had not saved.
 */
import type { Report, Timers } from '../../engine/ports.ts';

export interface KeeperPorts {
  readonly save: (id: string, state: string) => Promise<void>;
  readonly timers: Timers;
  readonly report: Report;
}

const SAVE_AFTER_MS = 100;

/** Delay after a failed save. */
const TROUBLE_MS = 5_000;

export class StateKeeper {
  readonly #ports: KeeperPorts;
  /** Renders the state of each changed subscription at the time of the save. */
  readonly #changed = new Map<string, () => string>();
  #cancelTimer: (() => void) | null = null;
  #flushing: Promise<void> = Promise.resolve();

  constructor(ports: KeeperPorts) {
    this.#ports = ports;
  }

  changed(id: string, render: () => string): void {
    this.#changed.set(id, render);
    this.#flushAfter(SAVE_AFTER_MS);
  }

  /** Resolves once every changed state is saved or its save has failed. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    // Flushes run one at a time, so that an older state never overwrites a newer one.
    this.#flushing = this.#flushing.then(() => this.#saveAll());
    return this.#flushing;
  }

  /** Cancels the pending save and drops unsaved changes. */
  close(): void {
    this.#cancelTimer?.();
    this.#changed.clear();
  }

  async #saveAll(): Promise<void> {
    const { save, report } = this.#ports;
    const changed = [...this.#changed];
    this.#changed.clear();
    await Promise.all(
      changed.map(async ([id, render]) => {
        try {
          await save(id, render());
        } catch (error) {
          report({ level: 'warn', event: 'webhook.save_failed', facts: { subscription: id }, error });
          if (!this.#changed.has(id)) this.#changed.set(id, render);
          this.#flushAfter(TROUBLE_MS);
        }
      }),
    );
  }

  #flushAfter(ms: number): void {
    this.#cancelTimer ??= this.#ports.timers.after(ms, () => {
      this.#cancelTimer = null;
      void this.flush();
    });
  }
}
