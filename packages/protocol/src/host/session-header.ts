/** Separate from the shapes of sessions, so that a page that needs only the name loads no parser. */

/** The header that a page of the host sends with its session, to use the scopes of its key. */
export const SESSION_TOKEN_HEADER = 'cairn-session-token';
