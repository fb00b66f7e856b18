/** The cluster of a store that one process has to itself: every owner and every follower is in this process. */
import { noticeTooLong, storeClosed } from './errors.ts';
import { type ListenerFault, Listeners } from './feed/followers.ts';
import { type Cluster, MAX_NOTICE_CHARACTERS, type NodeState, type Notice } from './ports/cluster.ts';

interface Held {
  readonly owner: string;
  readonly until: number;
  readonly fence: number;
}

export function inProcessCluster(isClosed: () => boolean, onFault?: ListenerFault): Cluster {
  const assertOpen = (): void => {
    if (isClosed()) throw storeClosed();
  };
  const leases = new Map<string, Held>();
  const nodes = new Map<string, NodeState & { readonly until: number }>();
  const listeners = new Listeners<Notice>(onFault);
  return {
    async hold({ name, owner, now, until }) {
      assertOpen();
      const held = leases.get(name);
      const isFree = held === undefined || held.until <= now;
      if (!isFree && held.owner !== owner) return null;
      const fence = (held?.fence ?? 0) + (isFree ? 1 : 0);
      leases.set(name, { owner, until, fence });
      return fence;
    },
    async release({ name, owner, forgets = false }) {
      assertOpen();
      const held = leases.get(name);
      if (held?.owner !== owner) return;
      if (forgets) leases.delete(name);
      else leases.set(name, { ...held, until: 0 });
    },
    async beat({ node, body, now, until }) {
      assertOpen();
      nodes.set(node, { node, body, until });
      for (const [name, other] of nodes) if (other.until <= now && name !== node) nodes.delete(name);
      return [...nodes.values()]
        .filter((other) => other.node !== node)
        .map((one) => ({ node: one.node, body: one.body }));
    },
    async leave(node) {
      assertOpen();
      nodes.delete(node);
    },
    async publish(notice) {
      assertOpen();
      if (notice.body.length > MAX_NOTICE_CHARACTERS) throw noticeTooLong(notice);
      listeners.tell(notice);
    },
    follow: (listener) => listeners.add(listener),
  };
}
