/** The query of an address, as a screen reads it. */

type Raw = Record<string, unknown>;

/**
 * The router lays what a screen reads over the query as it came. A name that the screen knows, but whose value it leaves
 * out, would stay as it came: so it is there, without a value.
 */
export const knownSearch =
  <Search extends object>(names: readonly (keyof Search & string)[], parse: (raw: Raw) => Search) =>
  (raw: Raw): Search =>
    Object.assign(Object.fromEntries(names.map((name) => [name, undefined])), parse(raw));
