/**
 * What the nodes of one store agree on beside the log: which of them does work that one of them is to do, what each of
 * them says of itself, and notices for all of them. A store of one process has one node, for which all of this is
 * trivially true.
 */

export interface Cluster {
  /**
   * Takes the lease of this name, or extends it. Returns its fence, which grows each time the lease changes hands; null
   * while another owner holds it.
   */
  hold(lease: NamedLease): Promise<number | null>;
  /** Gives a lease back before its time. Ignored when another owner holds it. */
  release(lease: ReleasedLease): Promise<void>;
  /** Says that a node is alive until an instant, and what it says of itself. Returns what the other live nodes said last. */
  beat(beat: Beat): Promise<readonly NodeState[]>;
  /** Removes a node that stops. */
  leave(node: string): Promise<void>;
  /** Tells every node of the store, this one too. */
  publish(notice: Notice): Promise<void>;
  /** Calls the listener for each notice that is published from now on. Returns the unsubscribe function. */
  follow(listener: (notice: Notice) => void): () => void;
}

export interface NamedLease {
  readonly name: string;
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

export interface ReleasedLease extends Pick<NamedLease, 'name' | 'owner'> {
  /** Nothing of the name is kept, and its next fence is 1: for work that no fence guards. There is a name for each context. */
  readonly forgets?: boolean;
}

export interface NodeState {
  readonly node: string;
  readonly body: string;
}

export interface Beat extends NodeState {
  readonly now: number;
  readonly until: number;
}

export interface Notice {
  readonly topic: string;
  /** At most `MAX_NOTICE_CHARACTERS`; a longer one is refused. */
  readonly body: string;
}

/** A notice says that something happened; what happened is in the store. */
export const MAX_NOTICE_CHARACTERS = 65_536;
