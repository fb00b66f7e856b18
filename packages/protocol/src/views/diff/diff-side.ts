/** What one run did after a position, by key and by sequence: hashes and positions, no values. */
import type { RawEvent } from '../../events/event.ts';
import { comparable, isCompared, type OwnIds } from './comparable.ts';
import { ContentHash, hashOf } from './content-hash.ts';
import { type DiffSection, type MovePart, movePartOf } from './moves.ts';
import { Places } from './places.ts';

/** One thing that a run did. */
export interface Move {
  readonly section: DiffSection;
  readonly kind: string;
  /** Its place by meaning: node, visit, kind and number. */
  readonly key: string;
  readonly nodeId: string | null;
  readonly visit: number;
  readonly firstSeq: number;
  lastSeq: number;
  /** The events that hold its values. A text has only its first: its other pieces lie up to `lastSeq`. */
  readonly seqs: number[];
  readonly id: string | null;
  readonly isText: boolean;
  readonly hash: ContentHash;
  /** A result that a branch took from the record of its source. */
  isReused: boolean;
}

export interface DiffSideOptions {
  /** Ids that stand for the run, each with its name on both sides. */
  readonly ids: OwnIds;
  /** The visit of each node at the position before the first event. */
  readonly visits?: Readonly<Record<string, number>>;
  /** Whether the events include operator rows. Then usage is part of the model turns. */
  readonly isWhole?: boolean;
}

/** Moves that one side keeps; later ones are counted. */
export const MAX_MOVES = 50_000;

/** Positions of events that one move keeps. A call that is repeated more often keeps its first ones. */
const MAX_SEQS = 8;

const nameOf = ({ section, id = '' }: MovePart): string => `${section} ${id}`;

export class DiffSide {
  readonly #ids: OwnIds;
  readonly #isWhole: boolean;
  readonly #visits: Map<string, number>;
  readonly #moves = new Map<string, Move>();
  /** The open moves of each id, and the next number of each kind in a visit. */
  readonly #byId = new Map<string, Move>();
  readonly #numbers = new Map<string, number>();
  /** Every event, and those in which a divergence counts. */
  readonly events = new Places();
  readonly compared = new Places();
  /** Moves beyond the most that are kept. */
  left = 0;

  constructor({ ids, visits = {}, isWhole = false }: DiffSideOptions) {
    this.#ids = ids;
    this.#isWhole = isWhole;
    this.#visits = new Map(Object.entries(visits));
  }

  get moves(): ReadonlyMap<string, Move> {
    return this.#moves;
  }

  get ids(): OwnIds {
    return this.#ids;
  }

  /** Takes the next event in order. */
  add(event: RawEvent): void {
    const { seq, type, nodeId, payload } = event;
    const hash = hashOf(type, nodeId, comparable(event, this.#ids));
    this.events.push(seq, hash);
    if (isCompared(type)) this.compared.push(seq, hash);
    if (type === 'node.started' && nodeId !== undefined) {
      this.#visits.set(nodeId, typeof payload.visit === 'number' ? payload.visit : 0);
    }
    const part = movePartOf(event, this.#ids);
    if (part !== null && !(this.#isWhole && part.kind === 'usage')) this.#take(part, event);
  }

  #take(part: MovePart, { seq, nodeId, payload }: RawEvent): void {
    const move = this.#moveOf(part, { seq, nodeId: nodeId ?? null });
    if (move === null) return;
    move.lastSeq = seq;
    if (payload.reusedFrom !== undefined) move.isReused = true;
    if (part.piece !== undefined) {
      move.hash.text(part.piece);
      // The turns of an agent that are not streamed have one channel.
      if (part.isEnd === true) this.#byId.delete(nameOf(part));
      return;
    }
    if (move.seqs.length < MAX_SEQS && move.seqs.at(-1) !== seq) move.seqs.push(seq);
    move.hash.json(part.fields);
  }

  #moveOf(part: MovePart, at: { readonly seq: number; readonly nodeId: string | null }): Move | null {
    const { section, kind, id, round, piece } = part;
    const named = id === undefined ? null : nameOf(part);
    const open = named === null ? undefined : this.#byId.get(named);
    if (open !== undefined) return open;
    if (this.#moves.size >= MAX_MOVES) {
      this.left += 1;
      return null;
    }
    const { seq, nodeId } = at;
    const visit = nodeId === null ? 0 : (this.#visits.get(nodeId) ?? 0);
    const place = `${nodeId ?? 'run'}#${visit}/${kind}${round === undefined ? '' : `${round}.`}`;
    const number = this.#numbers.get(place) ?? 0;
    this.#numbers.set(place, number + 1);
    const move: Move = {
      section,
      kind,
      key: `${place}${number}`,
      nodeId,
      visit,
      firstSeq: seq,
      lastSeq: seq,
      seqs: piece === undefined ? [] : [seq],
      id: id ?? null,
      isText: piece !== undefined,
      hash: new ContentHash(),
      isReused: false,
    };
    this.#moves.set(move.key, move);
    if (named !== null) this.#byId.set(named, move);
    return move;
  }
}
