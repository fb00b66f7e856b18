/** The state of the conversation fold: the items, and where the open ones stand. */
import { CowList } from '../cow-list.ts';
import { Places } from '../places.ts';
import type { RunRow } from '../run-row.ts';
import type { ConversationItem } from './items.ts';

type Kind = ConversationItem['kind'];
export type ItemOf<Of extends Kind> = Extract<ConversationItem, { readonly kind: Of }>;

/** What an item has besides the fields of its row. */
type Own<Item> = Item extends ConversationItem ? Omit<Item, 'seq' | 'lastSeq' | 'at' | 'nodeId' | 'agentId'> : never;

export class ConversationDraft {
  readonly items: CowList<ConversationItem>;
  readonly #places: Places;
  /** The agent at work in each node. As many as the workflow has nodes. */
  readonly agents: Map<string, string>;
  /** The places of each node's unfinished thought, and of its visit without an agent. */
  readonly thoughts: Map<string, number>;
  readonly steps: Map<string, number>;

  constructor(origin?: ConversationDraft) {
    this.items = origin?.items.fork() ?? new CowList();
    this.#places = origin === undefined ? new Places() : origin.#places;
    this.agents = new Map(origin?.agents);
    this.thoughts = new Map(origin?.thoughts);
    this.steps = new Map(origin?.steps);
  }

  /** Adds an item of the row. By its name, later rows find it. */
  add(row: RunRow, own: Own<ConversationItem>, name?: string, agentId?: string): number {
    const { seq, at, nodeId } = row;
    const by = agentId ?? (nodeId === undefined ? null : (this.agents.get(nodeId) ?? null));
    const place = this.items.push({ seq, lastSeq: seq, at, nodeId, agentId: by, ...own });
    if (name !== undefined) this.#places.put(name, place);
    return place;
  }

  placeOf(name: string): number {
    return this.#places.of(name, this.items.length);
  }

  item<Of extends Kind>(kind: Of, place: number): ItemOf<Of> | null {
    const item = place < 0 ? undefined : this.items.get(place);
    return isOf(item, kind) ? item : null;
  }

  /** Replaces an item by a changed one. An item that is not there, as in a log that begins in the middle, stays away. */
  change<Of extends Kind>(
    row: RunRow,
    [kind, place]: readonly [Of, number],
    change: (item: ItemOf<Of>) => Partial<ItemOf<Of>>,
  ): void {
    const item = this.item(kind, place);
    if (item !== null) this.items.set(place, { ...item, ...change(item), lastSeq: row.seq });
  }
}

const isOf = <Of extends Kind>(item: ConversationItem | undefined, kind: Of): item is ItemOf<Of> => item?.kind === kind;
