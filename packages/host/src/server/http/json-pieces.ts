/** JSON text in pieces, so that a large document is rendered and sent over many turns of the event loop. */
import type { FairTurns } from '../../fair-turns.ts';

/**
 * A larger list, object or text is taken apart, at any depth. V8 gives a text of more than 128 kB pages of its own, and to
 * return them to the system stops everybody: 20 ms for those of a large state.
 */
const PIECE = 16_384;

/** About the characters of a value whose text has no fixed length. */
const SCALAR = 8;

/** The text of a JSON document. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (isSmall(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* textPieces(value);
  else if (!isObject(value)) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* objectPieces(value);
}

function* textPieces(text: string): Generator<string> {
  let lead = '"';
  for (let from = 0; from < text.length; lead = '') {
    const end = Math.min(from + PIECE, text.length);
    // Both halves of a surrogate pair are in one piece: alone, each would be escaped.
    const to = end < text.length && isFirstHalf(text.charCodeAt(end - 1)) ? end - 1 : end;
    yield lead + JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

const isFirstHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Items of a list that are rendered with one call while they are small. */
const GROUP = 64;

function* listPieces(list: readonly unknown[]): Generator<string> {
  let text = '[';
  for (let from = 0; from < list.length; from += GROUP) {
    const group = list.slice(from, from + GROUP);
    if (from > 0) text += ',';
    if (isSmall(group)) {
      text += JSON.stringify(group).slice(1, -1);
      if (text.length < PIECE) continue;
      yield text;
    } else {
      yield text;
      yield* itemPieces(group);
    }
    text = '';
  }
  yield `${text}]`;
}

function* itemPieces(items: readonly unknown[]): Generator<string> {
  let lead = '';
  for (const item of items) {
    if (lead !== '') yield lead;
    lead = ',';
    yield* jsonPieces(item);
  }
}

function* objectPieces(value: Readonly<Record<string, unknown>>): Generator<string> {
  let text = '{';
  let lead = '';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    text += `${lead}${JSON.stringify(name)}:`;
    lead = ',';
    if (isSmall(member)) {
      text += JSON.stringify(member);
      if (text.length < PIECE) continue;
      yield text;
    } else {
      yield text;
      yield* jsonPieces(member);
    }
    text = '';
  }
  yield `${text}}`;
}

const isSmall = (value: unknown): boolean => roomAfter(value, PIECE) >= 0;

/** What the text of the value leaves of the room, about. Below zero, not all of the value was looked at. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (!isObject(value)) return room - SCALAR;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) break;
      left = roomAfter(item, left - 1);
    }
    return left;
  }
  for (const name in value) {
    if (left < 0) break;
    left = roomAfter(value[name], left - name.length - 4);
  }
  return left;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Characters that are rendered between two looks at the turn; fewer only at the end. */
export const STRETCH = 65_536;

/** Takes pieces until they make a stretch; an empty text is the end. */
export function nextStretch(pieces: Iterator<string>, most = STRETCH): string {
  let text = '';
  while (text.length < most) {
    const { value, done } = pieces.next();
    if (done === true) break;
    text += value;
  }
  return text;
}

/** What is rendered in turns: whose turns they are, and how many characters are wanted. */
interface TurnOptions {
  readonly owner: string;
  readonly turns: FairTurns;
  /** Rendering ends with the stretch that exceeds it. Default: the whole text. */
  readonly most?: number;
}

/** The whole text in stretches, rendered in turns when it is large. Do not join them: that would be one long copy. */
export async function renderedInTurns(
  value: unknown,
  { owner, turns, most = Number.POSITIVE_INFINITY }: TurnOptions,
): Promise<readonly string[]> {
  const pieces = jsonPieces(value);
  const stretches: string[] = [];
  for (let size = 0; ; size += stretches.at(-1)?.length ?? 0) {
    if (size > most) return stretches;
    const next = await turns.take(owner, () => {
      const stretch = nextStretch(pieces);
      turns.charge(stretch.length);
      return stretch;
    });
    if (next === '') return stretches;
    stretches.push(next);
  }
}
