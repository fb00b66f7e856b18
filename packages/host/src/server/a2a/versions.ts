/** The versions of A2A that this host can serve. */
export const a2aVersions = ['1.0', '0.3'] as const;

export type A2aVersion = (typeof a2aVersions)[number];
