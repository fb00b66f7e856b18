/** What the ports of the store share: one connection, its writer, and the way to read only what is durable. */
import type { DatabaseSync } from 'node:sqlite';
import type { GroupCommit, Read } from './group-commit.ts';

export interface Connection {
  readonly db: DatabaseSync;
  readonly writer: GroupCommit;
  readonly read: Read;
}
