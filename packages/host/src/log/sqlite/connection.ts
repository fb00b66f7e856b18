/** Shared by the ports of the store: one connection, its writer, and a read that sees only durable data. */
import type { DatabaseSync } from 'node:sqlite';
import type { GroupCommit, Read } from './commit/group-commit.ts';

export interface Connection {
  readonly db: DatabaseSync;
  readonly writer: GroupCommit;
  readonly read: Read;
}
