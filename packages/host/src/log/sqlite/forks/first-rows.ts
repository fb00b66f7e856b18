/** A fork and its first own rows in one work, so that neither exists without the other. */
import type { Appended } from '../../ports/event-log.ts';
import type { Work } from '../commit/job.ts';

/** The rows are admitted once the run exists, within the same transaction. */
export function withFirstRows(fork: Work<void>, rows: Work<Appended>): Work<void> {
  let appended: Appended | null = null;
  return {
    rows: fork.rows + rows.rows,
    bytes: fork.bytes + rows.bytes,
    prepare: () => fork.prepare?.(),
    apply: () => {
      fork.apply();
      rows.prepare?.();
      appended = rows.apply();
    },
    committed: () => {
      if (appended !== null) rows.committed?.(appended);
    },
  };
}
