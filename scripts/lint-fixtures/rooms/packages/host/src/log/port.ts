import type { id } from '@cairn/protocol';
import { DatabaseSync } from 'node:sqlite'; // refused
export type Row = typeof id;
export { DatabaseSync };
