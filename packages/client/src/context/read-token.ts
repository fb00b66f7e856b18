/** The read token of a context, for a page that has neither a key nor a session. */
import type { Key } from '../connection.ts';

/** A token, or a function that returns one. It is called before each request, so that it can renew an expired token. */
export type ReadToken = Key;

export const tokenNow = async (token: ReadToken | undefined): Promise<string | undefined> =>
  typeof token === 'function' ? token() : token;
