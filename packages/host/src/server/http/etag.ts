/** Conditional requests: whether the client already has the current version. */

/** Compares `If-None-Match` with a strong ETag. Lists, weak tags and `*` match, as HTTP defines. */
export const etagMatches = (header: string | undefined, etag: string): boolean =>
  (header ?? '')
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
