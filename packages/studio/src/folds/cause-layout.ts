/**
 * Places the events around a selection as a tree: causes left, effects right, one column for each step. Every event has one
 * cause at most, so that a tree shows all of it, and its layout is one walk.
 */
import type { CauseIndex } from './cause-index.ts';

/** An event, or a group of alike effects of one cause such as the pieces of a text. */
export interface PlacedEvent {
  readonly seq: number;
  /** The rows of a group, this one included. */
  readonly count: number;
  readonly type: string;
  readonly column: number;
  readonly row: number;
  /** The index of its cause in the list; -1 for the first. */
  readonly parent: number;
  readonly relation: 'selected' | 'ancestor' | 'descendant' | 'aside';
}

export interface CauseTree {
  readonly events: readonly PlacedEvent[];
  readonly columns: number;
  readonly rows: number;
  /** Events that were left out because there are too many. */
  readonly leftOut: number;
}

const MAX_EVENTS = 300;
/** Ancestors to show left of the selection. */
const MAX_ABOVE = 24;

export interface TreeQuery {
  readonly causes: CauseIndex;
  readonly typeOf: (seq: number) => string | undefined;
  readonly selected: number;
  /** The last sequence of the state that is shown. */
  readonly upTo: number;
}

/** The selection with its causes, and everything that it led to. */
export function causeTree(query: TreeQuery): CauseTree {
  const { causes, selected } = query;
  const chain = causes.ancestorsOf(selected).slice(0, MAX_ABOVE).reverse();
  const events: PlacedEvent[] = [];
  const place = (seq: number, parent: number, relation: PlacedEvent['relation']): number =>
    events.push({
      seq,
      count: 1,
      type: query.typeOf(seq) ?? 'hidden',
      column: events.length,
      row: 0,
      parent,
      relation,
    }) - 1;
  let parent = -1;
  for (const seq of chain) parent = place(seq, parent, 'ancestor');
  const root = place(selected, parent, 'selected');
  const below = placeEffects(query, events, root);
  const columns = events.reduce((most, { column }) => Math.max(most, column + 1), 0);
  return { events, columns, rows: Math.max(1, below.rows), leftOut: below.leftOut };
}

/** Depth first: a leaf takes the next row, and what has effects stands at the row of its first one. */
function placeEffects(query: TreeQuery, events: PlacedEvent[], root: number): { rows: number; leftOut: number } {
  let rows = 0;
  let leftOut = 0;
  const stack: { readonly index: number; readonly groups: readonly Group[]; next: number }[] = [];
  const open = (index: number): void => {
    const groups = groupsOf(query, events[index]?.seq ?? -1);
    stack.push({ index, groups, next: 0 });
    if (groups.length === 0) rows += 1;
  };
  open(root);
  while (stack.length > 0) {
    const top = stack.at(-1);
    const group = top?.groups[top.next];
    if (top === undefined || group === undefined) {
      stack.pop();
      continue;
    }
    top.next += 1;
    if (events.length >= MAX_EVENTS) {
      leftOut += group.count;
      continue;
    }
    const column = (events[top.index]?.column ?? 0) + 1;
    const index = events.push({ ...group, column, row: rows, parent: top.index, relation: 'descendant' }) - 1;
    open(index);
  }
  return { rows, leftOut };
}

interface Group {
  readonly seq: number;
  readonly count: number;
  readonly type: string;
}

/** The effects of a row. Neighbours of the same type that led to nothing are one group. */
function groupsOf({ causes, typeOf, upTo }: TreeQuery, seq: number): readonly Group[] {
  const groups: Group[] = [];
  for (const effect of causes.effectsOf(seq, upTo)) {
    const type = typeOf(effect) ?? 'hidden';
    const last = groups.at(-1);
    const isLeaf = causes.effectsOf(effect).length === 0;
    if (last !== undefined && last.type === type && isLeaf && causes.effectsOf(last.seq).length === 0) {
      groups[groups.length - 1] = { ...last, count: last.count + 1 };
    } else groups.push({ seq: effect, count: 1, type });
  }
  return groups;
}
