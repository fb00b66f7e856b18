/** The A2A peers of a host: their tools, and the end of tasks that no run waits for any more. */
import type { Tool } from '../../agents/tools/tool.ts';
import type { Store } from '../../log/ports/store.ts';
import type { CallTraces } from '../../telemetry/call-traces.ts';
import type { ClusterJob } from '../cluster/cluster-job.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import { A2aPeer, type PeerPorts } from './a2a-peer.ts';
import type { LeftTask } from './cancels/ended-calls.ts';
import { type CancelAnswer, PeerCancels } from './cancels/peer-cancels.ts';
import type { PeerSettings } from './peer-settings.ts';

export interface PeersPorts extends PeerPorts {
  readonly store: Pick<Store, 'log' | 'changes' | 'subscriptions'>;
  readonly cluster: Pick<ClusterNode, 'job'>;
  /** A cancel belongs to the trace of the call that left the task. */
  readonly traces: Pick<CallTraces, 'inCall'>;
}

export class A2aPeers {
  readonly #peers: ReadonlyMap<string, A2aPeer>;
  readonly #cancels: ClusterJob;
  readonly tools: readonly Tool[];

  constructor(peers: readonly PeerSettings[], ports: PeersPorts) {
    const all = peers.map((settings) => new A2aPeer(settings, ports));
    this.#peers = new Map(all.map((peer) => [peer.name, peer]));
    this.tools = all.map(({ tool }) => tool);
    const { store, now, report, after, traces } = ports;
    this.#cancels = ports.cluster.job('a2a-cancels', async ({ fence }) => {
      const cancels = new PeerCancels({
        store,
        now,
        report,
        fence,
        timers: { after },
        cancel: ({ call, ...task }, signal) => {
          const ask = () => this.#cancel(task, signal);
          return call === undefined ? ask() : traces.inCall(call, ask);
        },
      });
      await cancels.open();
      return cancels;
    });
  }

  async #cancel(task: LeftTask, signal: AbortSignal): Promise<CancelAnswer> {
    const peer = this.#peers.get(task.peer);
    if (peer !== undefined) return peer.cancel(task, signal);
    return { reason: 'The configuration has no such peer any more.', isFinal: true };
  }

  /** Cancels the tasks of calls that end before their tasks do, also of those that a former process left. */
  async open(): Promise<void> {
    if (this.#peers.size > 0) await this.#cancels.open();
  }

  async close(): Promise<void> {
    if (this.#peers.size > 0) await this.#cancels.close();
  }
}
