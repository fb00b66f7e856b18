/** Conditional requests: whether a reader already has what it asks for. */

/** Compares `If-None-Match` with a strong tag; a list, the weak spelling and `*` count, as HTTP says. */
export const etagMatches = (header: string | undefined, etag: string): boolean =>
  (header ?? '')
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
