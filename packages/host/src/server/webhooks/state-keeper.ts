/**
 * Saves how far subscriptions got. A save is a commit, and a commit is a sync to disk that runs wait for: so what changes
 * within a moment is saved together, for all of them. A host that dies tells what it had not saved yet once more.
 */
import type { Report, Timers } from '../../engine/ports.ts';

export interface KeeperPorts {
  readonly save: (id: string, state: string) => Promise<void>;
  readonly timers: Timers;
  readonly report: Report;
}

const SAVE_AFTER_MS = 100;

/** After a save that failed. */
const TROUBLE_MS = 5_000;

export class StateKeeper {
  readonly #ports: KeeperPorts;
  /** What is to be saved, as it is by then. */
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

  /** Resolves once all that changed is saved, or was found not to be. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    // One after the other, so that never an older state is saved last.
    this.#flushing = this.#flushing.then(() => this.#saveAll());
    return this.#flushing;
  }

  /** Nothing more is saved of itself. */
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
