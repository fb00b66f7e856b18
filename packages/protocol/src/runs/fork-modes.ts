/** The modes of a fork, apart from its schemas, so that snapshots and requests can both name them. */

/** `replay` walks the record again without an effect. `branch` shares it up to a sequence and goes on live. */
export const forkModes = ['replay', 'branch'] as const;
export type ForkMode = (typeof forkModes)[number];
