/** Names of advisory locks as numbers. Two names with one number only wait for each other. */
import { hash } from 'node:crypto';

/** A safe integer. */
export const lockKey = (name: string): number => Number.parseInt(hash('sha256', name, 'hex').slice(0, 12), 16);
