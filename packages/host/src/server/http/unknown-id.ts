/** The message for an id that names nothing. It repeats a well-formed id only: other text may be anything, also a secret. */
export const thereIsNo = (what: string, id: string, isWellFormed: boolean): string =>
  isWellFormed ? `There is no ${what} "${id}".` : `There is no such ${what}: this is no ${what} id.`;
