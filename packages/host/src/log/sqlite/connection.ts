/** Shared by the ports of the store: one connection, its writer, and a read that sees only durable data. */
import type { DatabaseSync } from 'node:sqlite';
import type { GroupCommit, Read } from './commit/group-commit.ts';
import type { SharedValues } from './values/shared-values.ts';

export interface Connection {
  readonly db: DatabaseSync;
  readonly writer: GroupCommit;
  readonly read: Read;
  readonly values: SharedValues;
}
