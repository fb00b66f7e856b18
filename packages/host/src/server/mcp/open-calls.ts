/** Calls whose runs are followed: a notification can cancel one, and the host can stop all. */
import type { Engine } from '../../engine/engine.ts';
import type { Caller } from '../access/auth.ts';
import type { Session } from './inbound.ts';
import type { RpcId } from './rpc.ts';
import type { RunWatch } from './run-watch.ts';

/** Names a request among those of all clients. */
interface Place {
  readonly caller: Caller;
  readonly session: Session;
  readonly id: RpcId;
}

const keyOf = ({ caller: { tenant, principal }, session, id }: Place): string =>
  JSON.stringify([tenant, principal ?? null, session.id, id]);

export class OpenCalls {
  readonly #engine: Pick<Engine, 'cancel'>;
  /** Two clients without sessions may use the same ids. */
  readonly #watches = new Map<string, Set<RunWatch>>();

  constructor(engine: Pick<Engine, 'cancel'>) {
    this.#engine = engine;
  }

  /** Returns what ends the entry. */
  add(place: Place, watch: RunWatch): () => void {
    const key = keyOf(place);
    const watches = this.#watches.get(key) ?? new Set();
    this.#watches.set(key, watches.add(watch));
    return () => {
      watches.delete(watch);
      if (watches.size === 0) this.#watches.delete(key);
    };
  }

  /** Cancels the run of a request. An id that names none, or more than one, does nothing. */
  async cancel(place: Place): Promise<void> {
    const [watch, another] = this.#watches.get(keyOf(place)) ?? [];
    if (watch !== undefined && another === undefined) await this.cancelRun(place.caller, watch);
  }

  async cancelRun({ tenant, principal, scopes }: Caller, { runId, task }: RunWatch): Promise<void> {
    if (task.phase === 'over' || !scopes.has('runs:cancel')) return;
    await this.#engine.cancel({ tenant, principal, runId, reason: 'cross_protocol_cancel' });
  }

  /** The host stops: clients learn that their runs go on. */
  close(): void {
    for (const watch of [...this.#watches.values()].flatMap((watches) => [...watches])) watch.stop();
  }
}
