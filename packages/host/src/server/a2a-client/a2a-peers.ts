/** The A2A peers of a host: their tools, and the end of tasks that nobody waits for any more. */
import type { Tool } from '../../agents/tools/tool.ts';
import type { Store } from '../../log/ports/store.ts';
import { A2aPeer, type PeerPorts } from './a2a-peer.ts';
import { PeerCancels } from './cancels/peer-cancels.ts';
import type { PeerSettings } from './peer-settings.ts';

export class A2aPeers {
  readonly #peers: ReadonlyMap<string, A2aPeer>;
  readonly #cancels: PeerCancels;
  readonly tools: readonly Tool[];

  constructor(peers: readonly PeerSettings[], ports: PeerPorts, store: Pick<Store, 'log' | 'subscriptions'>) {
    const all = peers.map((settings) => new A2aPeer(settings, ports));
    this.#peers = new Map(all.map((peer) => [peer.name, peer]));
    this.tools = all.map(({ tool }) => tool);
    const { now, report, after } = ports;
    this.#cancels = new PeerCancels({
      store,
      now,
      report,
      timers: { after },
      cancel: async (task, signal) =>
        (await this.#peers.get(task.peer)?.cancel(task, signal)) ?? {
          reason: 'The configuration has no such peer any more.',
          isFinal: true,
        },
    });
  }

  /** Cancels the tasks of calls that end before their tasks do, also of those that a former process left. */
  async open(): Promise<void> {
    if (this.#peers.size > 0) await this.#cancels.open();
  }

  async close(): Promise<void> {
    if (this.#peers.size > 0) await this.#cancels.close();
  }
}
