/** Removes what differs between any two runs: numbers ids by first appearance, and drops timestamps and durations. */

/** One line of a recording: the compared text and its name. */
export interface Recorded {
  readonly name: string;
  readonly lines: readonly string[];
}

export interface RecordedEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** Values that are unique to each run. Each family is numbered separately. The order matters: longer forms first. */
const families: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['time', /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g],
  ['time', /\b1[789]\d{11}\b/g],
  ['id', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g],
  ['run', /\brun_[A-Za-z0-9_-]{8,}/g],
  ['ctx', /\bctx_[A-Za-z0-9_-]{8,}/g],
  ['mem', /\bmem_[A-Za-z0-9_-]{8,}/g],
  // The token of a run, in its first event and in every id that it makes.
  [
    'token',
    /(?<=idToken\\*":\\*")[0-9a-f]{12}\b|(?<=(?:art|call|content|conv|int|inv|msg|thought|timer)_)[0-9a-f]{12}(?=_)/g,
  ],
  // The span of a trace, which the hash before it names.
  ['span', /(?<=\b00-[0-9a-f]{32}-)[0-9a-f]{16}(?=-0[01]\b)/g],
  ['hash', /\b[0-9a-f]{32,64}\b/g],
];

/** Timestamps and durations, by member name. A body inside a line has escaped quotes. */
const timed = /(\\?"(?:at|duration|observed|[A-Za-z_]*(?:At|Ms|_ts|[Tt]imestamp))\\?"):\d+/g;
const spoken = /\b\d+ ms\b/g;

/** Returns one line per event. Every run starts with its number. */
export function normalise(runs: readonly (readonly RecordedEvent[])[]): readonly string[] {
  const seen = new Map<string, Map<string, string>>();
  const number = (family: string, text: string): string => {
    const names = seen.get(family) ?? new Map<string, string>();
    seen.set(family, names);
    const known = names.get(text) ?? `<${family} ${names.size + 1}>`;
    names.set(text, known);
    return known;
  };
  const plain = (event: RecordedEvent): string => {
    let text = JSON.stringify(event).replace(timed, '$1:0').replace(spoken, '<n> ms');
    for (const [family, pattern] of families) {
      text = text.replace(pattern, (found) => (family === 'time' ? '<time>' : number(family, found)));
    }
    return text;
  };
  return runs.flatMap((events, index) => [`run ${index + 1}`, ...events.map(plain)]);
}
