/** Calls whose runs are followed: a notification can cancel one, and the host can stop all. */
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import { PassingMap } from '../../passing-map.ts';
import type { Caller } from '../access/auth.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
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

export interface OpenCallPorts {
  readonly engine: Pick<Engine, 'cancel'>;
  readonly clusterNode: Pick<ClusterNode, 'on' | 'publish'>;
  readonly report: Report;
}

const cancelShape = z.object({ key: z.string(), tenant: z.string(), principal: z.string().optional() });

type Canceler = Pick<Caller, 'tenant' | 'principal'>;

export class OpenCalls {
  readonly #ports: OpenCallPorts;
  /** Two clients without sessions may use the same ids. */
  readonly #watches = new PassingMap<string, Set<RunWatch>>();

  constructor(ports: OpenCallPorts) {
    this.#ports = ports;
    ports.clusterNode.on('mcp.cancelled', (body) => {
      const { key, ...canceler } = cancelShape.parse(JSON.parse(body));
      this.#cancel(key, { tenant: canceler.tenant, principal: canceler.principal }).catch((error: unknown) => {
        ports.report({ level: 'error', event: 'mcp.call_failed', error });
      });
    });
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

  /** Cancels the run of a request, also if another node follows it. An id that names none, or more than one, does nothing. */
  async cancel(place: Place): Promise<void> {
    const { tenant, principal, scopes } = place.caller;
    if (!scopes.has('runs:cancel')) return;
    const key = keyOf(place);
    if (this.#watches.has(key)) await this.#cancel(key, { tenant, principal });
    else await this.#ports.clusterNode.publish('mcp.cancelled', JSON.stringify({ key, tenant, principal }));
  }

  async cancelRun({ tenant, principal, scopes }: Caller, watch: RunWatch): Promise<void> {
    if (scopes.has('runs:cancel')) await this.#cancelRun({ tenant, principal }, watch);
  }

  async #cancel(key: string, canceler: Canceler): Promise<void> {
    const [watch, another] = this.#watches.get(key) ?? [];
    if (watch !== undefined && another === undefined) await this.#cancelRun(canceler, watch);
  }

  async #cancelRun({ tenant, principal }: Canceler, { runId, task }: RunWatch): Promise<void> {
    if (task.phase === 'over') return;
    await this.#ports.engine.cancel({ tenant, principal, runId, reason: 'cross_protocol_cancel' });
  }

  /** The host stops: clients learn that their runs go on. */
  close(): void {
    for (const watch of [...this.#watches.values()].flatMap((watches) => [...watches])) watch.stop();
  }
}
