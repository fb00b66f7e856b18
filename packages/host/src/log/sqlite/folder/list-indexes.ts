/** The migration that gives every set of list filters its index, and runs the waits of the runs below them. */
import type { Migration } from './migration.ts';

/** The condition of an index and of the queries that use it. Part of a migration: it never changes. */
export const WAITING = "shown IN ('waiting-approval', 'waiting-input', 'waiting-external')";

/** Lets a wait rise one level, from runs to their parents. */
const RAISE_WAITS = `
  UPDATE runs SET child_wait = (
    SELECT child.shown FROM runs AS child INDEXED BY runs_waiting_children
    WHERE child.parent = runs.id AND child.imported_at IS NULL AND child.${WAITING} ORDER BY child.key LIMIT 1
  ) WHERE imported_at IS NULL AND id IN (
    SELECT parent FROM runs INDEXED BY runs_waiting_children
    WHERE parent IS NOT NULL AND imported_at IS NULL AND ${WAITING});
`;

/** Runs never nest deeper. */
const RAISED_LEVELS = 8;

/**
 * `shown` is the status in lists: a running run whose child waits shows the wait. Tags repeat what lists filter by.
 */
export const listIndexes: Migration = {
  name: 'an index for every pair of list filters, and what child runs wait for',
  sql: `
    ALTER TABLE runs ADD COLUMN child_wait TEXT;
    ALTER TABLE runs ADD COLUMN shown TEXT GENERATED ALWAYS AS
      (CASE WHEN status = 'running' THEN coalesce(child_wait, 'running') ELSE status END) VIRTUAL;
    CREATE INDEX runs_waiting_children ON runs (parent)
      WHERE parent IS NOT NULL AND imported_at IS NULL AND ${WAITING};
    ${RAISE_WAITS.repeat(RAISED_LEVELS)}
    DROP INDEX runs_by_status;
    DROP INDEX runs_adrift;
    CREATE INDEX runs_by_shown ON runs (tenant, shown);
    CREATE INDEX runs_by_workflow_shown ON runs (tenant, workflow, shown);

    ALTER TABLE run_tags RENAME TO old_run_tags;
    CREATE TABLE run_tags (
      tenant TEXT NOT NULL,
      tag TEXT NOT NULL,
      run INTEGER NOT NULL,
      workflow TEXT NOT NULL,
      shown TEXT NOT NULL,
      PRIMARY KEY (tenant, tag, run)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO run_tags SELECT old.tenant, old.tag, old.run, runs.workflow, runs.shown
      FROM old_run_tags AS old CROSS JOIN runs ON runs.key = old.run;
    DROP TABLE old_run_tags;
    CREATE INDEX run_tags_by_shown ON run_tags (tenant, tag, shown, run);
    CREATE INDEX run_tags_by_workflow ON run_tags (tenant, tag, workflow, run);
    CREATE INDEX run_tags_by_workflow_shown ON run_tags (tenant, tag, workflow, shown, run);

    ALTER TABLE interrupts ADD COLUMN tenant TEXT;
    UPDATE interrupts SET tenant = (SELECT tenant FROM runs WHERE key = interrupts.run AND imported_at IS NULL)
      WHERE open = 1;
    DROP INDEX interrupts_open;
    CREATE INDEX interrupts_pending ON interrupts (tenant) WHERE open = 1 AND tenant IS NOT NULL;
  `,
};
