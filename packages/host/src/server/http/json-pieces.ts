/** JSON text in pieces, so that a large document is rendered and sent over many turns of the event loop. */
import type { FairTurns } from '../../fair-turns.ts';

/** How far containers are taken apart: a document, its members, and the entries of these. */
const DEPTH = 2;

/** Longer lists are taken apart at any depth that is reached. */
const LONG_LIST = 64;

/** The text of a JSON document. A piece is as large as one entry of one member, which one event wrote. */
export function* jsonPieces(value: unknown, depth = DEPTH): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    if (value.length <= LONG_LIST) yield JSON.stringify(value);
    else yield* listPieces(value);
  } else if (depth === 0) {
    yield JSON.stringify(value);
  } else {
    let lead = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${lead}${JSON.stringify(name)}:`;
      yield* jsonPieces(member, depth - 1);
      lead = ',';
    }
    yield lead === '{' ? '{}' : '}';
  }
}

function* listPieces(list: readonly unknown[]): Generator<string> {
  let lead = '[';
  for (const item of list) {
    yield `${lead}${JSON.stringify(item) ?? 'null'}`;
    lead = ',';
  }
  yield ']';
}

/** Characters that are rendered between two looks at the turn. */
const STRETCH = 65_536;

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

/** The whole text, rendered in turns when it is large. */
export async function renderedInTurns(value: unknown, owner: string, turns: FairTurns): Promise<string> {
  const pieces = jsonPieces(value);
  let text = '';
  for (;;) {
    const next = await turns.take(owner, () => nextStretch(pieces));
    if (next === '') return text;
    turns.charge(next.length);
    text += next;
  }
}
