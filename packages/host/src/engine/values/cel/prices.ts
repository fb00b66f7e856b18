/** What each piece of work costs, in units of about 20 ns. `npm run bench -- expressions` measures every one. */

export const prices = {
  /** Visiting a part of an expression: a name, a field, an operator, a call. */
  step: 2,
  /** One turn of a macro, besides its parts. */
  turn: 4,
  /** An element of a list or a map that is read, compared, copied or built. */
  element: 2,
  /** A key of a map that is listed, and the value behind it. */
  key: 20,
  /** A key of a map that is built. */
  newKey: 16,
  /** A failure that a macro or a logical operator swallows. */
  failure: 100,
  /** A pattern that does not compile. */
  badPattern: 3_000,
  /** Arithmetic on integers, which allocates. */
  integer: 4,
  /** Makes an object: a list, a map, a time. */
  object: 8,
  /** Text of a number, or a number of a text. */
  number: 30,
  /** Parses or formats a time. */
  time: 60,
  /** Looks a time zone up. */
  zone: 20_000,
  /** A character or a byte that is compared or copied. */
  copiedCharacter: 1 / 16,
  /** A character that is counted or changed. */
  character: 1 / 4,
  /** A character that is searched. */
  searchedCharacter: 1 / 2,
  /** A character of a JSON text that is parsed. */
  jsonCharacter: 1,
  /** An element and a character of the result, which is copied, folded and serialised. */
  resultElement: 4,
  resultCharacter: 1 / 4,
} as const;
