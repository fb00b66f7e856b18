/** Revisions of MCP. The host and its configuration agree on them here. */

/** Each request says everything about itself. */
export const MODERN = '2026-07-28';

/** Revisions with a handshake and a session, the preferred one first. */
export const legacyRevisions = ['2025-11-25', '2025-06-18'] as const;

export const mcpRevisions: readonly string[] = [MODERN, ...legacyRevisions];
