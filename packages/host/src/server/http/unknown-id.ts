/** The message for an id that names nothing. It repeats a well-formed id only: other text may be anything, also a secret. */
export const thereIsNo = (what: string, id: string, isWellFormed: boolean): string =>
  isWellFormed ? `There is no ${what} "${id}".` : `There is no such ${what}: this is no ${what} id.`;

/** The same for what a context would have. */
export const contextHasNo = (what: string, id: string, isWellFormed: boolean): string =>
  isWellFormed ? `The context has no ${what} "${id}".` : `The context has no such ${what}: this is no ${what} id.`;

/** The form of ids inside payloads, such as those of calls. Behind the kind may be a node's id, which may be any text. */
export const isPlainId = (id: string): boolean => /^[\w.:#/-]{1,256}$/.test(id);
