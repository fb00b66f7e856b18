/**
 * Cuts what another program sends into parts of a few lines, each to be read in its own turn of the event loop. Reading a
 * line takes time however short it is: 64 KiB may hold 20,000 lines, which would hold every other run for two seconds.
 */

/** Lines in one part. A line that is no message takes about 0.1 ms. */
const LINES = 32;

/** What a line costs besides its bytes, so that short ones are not free. */
export const LINE_BYTES = 64;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export interface FewLines<Bytes> {
  readonly bytes: Bytes;
  /** Its bytes, and those that its lines count for. */
  readonly cost: number;
}

export function* fewLines<Bytes extends Uint8Array>(piece: Bytes): Generator<FewLines<Bytes>, void> {
  let [from, lines] = [0, 0];
  for (const end of endsIn(piece)) {
    lines += 1;
    if (lines < LINES) continue;
    yield part(piece, { from, to: end + 1, lines });
    [from, lines] = [end + 1, 0];
  }
  if (from < piece.length) yield part(piece, { from, to: piece.length, lines });
}

/** Where its lines end. A line of a stream ends with LF, CR or both. */
function* endsIn(piece: Uint8Array): Generator<number, void> {
  let feed = piece.indexOf(NEWLINE);
  let back = piece.indexOf(RETURN);
  while (feed !== -1 || back !== -1) {
    const isBack = feed === -1 || (back !== -1 && back < feed);
    const end = isBack ? back : feed;
    if (isBack) back = piece.indexOf(RETURN, end + 1);
    else feed = piece.indexOf(NEWLINE, end + 1);
    if (!isBack || feed !== end + 1) yield end;
  }
}

interface Place {
  readonly from: number;
  readonly to: number;
  readonly lines: number;
}

const part = <Bytes extends Uint8Array>(piece: Bytes, { from, to, lines }: Place): FewLines<Bytes> => ({
  bytes: piece.subarray(from, to) as Bytes,
  cost: to - from + lines * LINE_BYTES,
});
