/** A row whose class computes more of it. A copy with another payload must not take along what this row knows of its own. */
import type { Row } from '../ports/rows.ts';

export class CopiedRow implements Row {
  readonly runId: Row['runId'];
  readonly seq: number;
  readonly contextId: Row['contextId'];
  readonly cursor: number;
  readonly at: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly cause: Row['cause'];
  readonly audience: Row['audience'];
  readonly payload: string;
  readonly task: string | null;
  readonly face: number;
  readonly rowHash: string;
  readonly hash: string;

  constructor(row: Row, { payload, task }: Pick<Row, 'payload' | 'task'> = row) {
    this.runId = row.runId;
    this.seq = row.seq;
    this.contextId = row.contextId;
    this.cursor = row.cursor;
    this.at = row.at;
    this.type = row.type;
    this.nodeId = row.nodeId;
    this.cause = row.cause;
    this.audience = row.audience;
    this.payload = payload;
    this.task = task;
    this.face = row.face;
    this.rowHash = row.rowHash;
    this.hash = row.hash;
  }
}
