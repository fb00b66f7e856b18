/** The database schema as numbered, forward-only migrations. */

import { artifactTables } from './artifact-tables.ts';
import { blobTables } from './blob-tables.ts';
import { contextIndex, contextRuns, indexOlderRows } from './context-index.ts';
import { credentialTables } from './credential-tables.ts';
import { expiringTable } from './expiring-table.ts';
import { forks } from './forks.ts';
import { idempotencyTable } from './idempotency-table.ts';
import { largeValues } from './large-values.ts';
import { listIndexes } from './list-indexes.ts';
import { marks } from './marks.ts';
import type { Migration } from './migration.ts';
import { purgedRuns } from './purged-runs.ts';
import { rehashRows } from './rehash.ts';
import { agentsOfOlderRuns, runSummaries, summariseOlderRuns } from './run-summaries.ts';

/**
 * Migration n+1 is at index n. A released migration never changes.
 *
 * Every set of filters of the run list has an index of its own, in the order of the list. Measured with commits of 40
 * runs, the two indexes by shown status add 3 microseconds of CPU and 0.6 KiB of WAL to a run that starts and ends.
 *
 * Events have one index beside the table. A second index, by context, doubled the cost of an insert: 22 against 11
 * microseconds of CPU a row, and 1.8 times the WAL (batches of 64 over 1,000 contexts). So a context has an index of
 * segments instead, one each time it goes on with another run. Measured once each, on a shared machine: the WAL is a count, the CPU time is approximate.
 */
export const migrations: readonly Migration[] = [
  {
    name: 'log, index, queue and records',
    sql: `
      CREATE TABLE runs (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        context TEXT NOT NULL,
        origin TEXT NOT NULL,
        parent TEXT,
        workflow TEXT NOT NULL,
        definition TEXT NOT NULL,
        principal TEXT,
        status TEXT NOT NULL,
        node TEXT,
        tags TEXT NOT NULL,
        error_code TEXT,
        error_message TEXT,
        created_at INTEGER NOT NULL,
        ended_at INTEGER,
        fence INTEGER NOT NULL,
        owner TEXT,
        wake_at INTEGER
      ) STRICT;
      CREATE INDEX runs_by_context ON runs (context);
      CREATE INDEX runs_by_status ON runs (tenant, status) WHERE status <> 'running';
      CREATE INDEX runs_by_workflow ON runs (tenant, workflow);
      CREATE INDEX runs_by_tenant ON runs (tenant);
      CREATE INDEX runs_due ON runs (wake_at) WHERE owner IS NULL AND wake_at IS NOT NULL;
      CREATE INDEX runs_held ON runs (owner) WHERE owner IS NOT NULL;

      CREATE TABLE run_tags (
        tenant TEXT NOT NULL,
        tag TEXT NOT NULL,
        run INTEGER NOT NULL,
        PRIMARY KEY (tenant, tag, run)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE events (
        cursor INTEGER PRIMARY KEY,
        run INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        type TEXT NOT NULL,
        node TEXT,
        cause ANY,
        audience INTEGER NOT NULL,
        payload TEXT NOT NULL,
        task TEXT,
        row_hash TEXT NOT NULL,
        hash TEXT NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX events_by_run ON events (run, seq);

      CREATE TABLE interrupts (
        place INTEGER PRIMARY KEY,
        run INTEGER NOT NULL,
        id TEXT NOT NULL,
        node TEXT NOT NULL,
        kind TEXT NOT NULL,
        open INTEGER NOT NULL,
        requested_at INTEGER NOT NULL,
        UNIQUE (run, id)
      ) STRICT;

      CREATE TABLE definitions (hash TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;

      CREATE TABLE workflows (
        place INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        id TEXT NOT NULL,
        version TEXT NOT NULL,
        hash TEXT NOT NULL,
        registered_at INTEGER NOT NULL,
        UNIQUE (tenant, id, version)
      ) STRICT;

      CREATE TABLE checkpoints (
        run TEXT PRIMARY KEY,
        seq INTEGER NOT NULL,
        format TEXT NOT NULL,
        body TEXT NOT NULL
      ) STRICT;

      CREATE TABLE idempotency (
        tenant TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        key TEXT NOT NULL,
        digest TEXT NOT NULL,
        status INTEGER NOT NULL,
        body TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (tenant, endpoint, key)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX idempotency_by_age ON idempotency (at);
    `,
  },
  {
    name: 'runs that were imported',
    sql: 'ALTER TABLE runs ADD COLUMN imported_at INTEGER;',
  },
  {
    name: 'how far readers of the whole log got; which runs are not ours',
    sql: `
      CREATE TABLE marks (reader TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX runs_imported ON runs (status) WHERE imported_at IS NOT NULL;
    `,
  },
  {
    name: 'questions that wait, and who is told of events',
    sql: `
      CREATE INDEX interrupts_open ON interrupts (place) WHERE open = 1;
      CREATE TABLE subscriptions (
        place INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        state TEXT NOT NULL
      ) STRICT;
    `,
  },
  {
    name: 'what a run works on, and requests that are being carried out',
    sql: `
      ALTER TABLE runs ADD COLUMN scope TEXT;
      CREATE INDEX runs_in_scope ON runs (tenant, scope)
        WHERE scope IS NOT NULL AND ended_at IS NULL AND imported_at IS NULL;
      ALTER TABLE idempotency ADD COLUMN state TEXT NOT NULL DEFAULT 'completed';
      ALTER TABLE idempotency ADD COLUMN owner TEXT;
      ALTER TABLE idempotency ADD COLUMN lease_until INTEGER;
      ALTER TABLE idempotency ADD COLUMN headers TEXT NOT NULL DEFAULT '{}';
    `,
  },
  {
    name: 'runs that run although no lease and no timer leads to them',
    sql: "CREATE INDEX runs_adrift ON runs (tenant) WHERE status = 'running' AND owner IS NULL AND wake_at IS NULL;",
  },
  {
    name: 'packs of agents',
    sql: `
      CREATE TABLE packs (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        hash TEXT NOT NULL,
        installed_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        removed INTEGER NOT NULL,
        UNIQUE (tenant, name, version)
      ) STRICT;
    `,
  },
  {
    // Entries are immutable: a drop is a separate row. Positions are the cursors of the events that wrote them.
    name: 'what agents remember',
    sql: `
      CREATE TABLE memory_scopes (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        ref TEXT NOT NULL,
        UNIQUE (tenant, ref)
      ) STRICT;
      CREATE TABLE memory_entries (
        cursor INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL,
        id TEXT NOT NULL,
        run INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        turn TEXT NOT NULL,
        content TEXT NOT NULL,
        tags TEXT NOT NULL,
        at INTEGER NOT NULL,
        expires_at INTEGER,
        UNIQUE (scope, id)
      ) STRICT;
      CREATE INDEX memory_entries_newest ON memory_entries (scope, cursor);
      CREATE INDEX memory_entries_by_run ON memory_entries (run);
      CREATE TABLE memory_drops (
        scope INTEGER NOT NULL,
        id TEXT NOT NULL,
        cursor INTEGER NOT NULL,
        run INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        turn TEXT NOT NULL,
        PRIMARY KEY (scope, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX memory_drops_by_run ON memory_drops (run);
      CREATE TABLE memory_tags (
        scope INTEGER NOT NULL,
        tag TEXT NOT NULL,
        entry INTEGER NOT NULL,
        PRIMARY KEY (scope, tag, entry)
      ) STRICT, WITHOUT ROWID;
      CREATE VIRTUAL TABLE memory_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
    `,
  },
  {
    name: 'where interrupts were asked, and the votes on them',
    sql: `
      ALTER TABLE interrupts ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE interrupts ADD COLUMN votes TEXT NOT NULL DEFAULT '[]';
      UPDATE interrupts SET seq = asked.seq FROM (
        SELECT run, seq, coalesce(payload ->> '$.interruptId', payload ->> '$.key') AS id
        FROM events WHERE type = 'interrupt.requested' ORDER BY cursor DESC
      ) AS asked WHERE asked.run = interrupts.run AND asked.id = interrupts.id;
      UPDATE interrupts SET votes = cast_.votes FROM (
        SELECT run, id, json_group_array(json_object('principal', principal, 'action', action)) AS votes FROM (
          SELECT run, payload ->> '$.interruptId' AS id, payload ->> '$.decidedBy' AS principal,
            payload ->> '$.action' AS action
          FROM events WHERE type = 'approval.received' AND payload ->> '$.decidedBy' IS NOT NULL ORDER BY cursor
        ) GROUP BY run, id
      ) AS cast_ WHERE cast_.run = interrupts.run AND cast_.id = interrupts.id AND interrupts.open = 1;
    `,
  },
  listIndexes,
  largeValues,
  {
    name: 'due runs by tenant',
    sql: 'CREATE INDEX runs_due_of_tenant ON runs (tenant, wake_at) WHERE owner IS NULL AND wake_at IS NOT NULL;',
  },
  {
    name: 'what a host knows of its own folder',
    sql: 'CREATE TABLE folder_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;',
  },
  rehashRows,
  forks,
  purgedRuns,
  contextIndex,
  indexOlderRows,
  blobTables,
  marks,
  contextRuns,
  artifactTables,
  credentialTables,
  {
    name: 'forks that go on, by their source',
    sql: 'CREATE INDEX runs_with_source ON runs (fork_source) WHERE fork_source IS NOT NULL AND ended_at IS NULL;',
  },
  runSummaries,
  summariseOlderRuns,
  expiringTable,
  {
    name: 'runs that no other run started',
    sql: 'CREATE INDEX runs_roots ON runs (tenant) WHERE parent IS NULL;',
  },
  idempotencyTable,
  agentsOfOlderRuns,
  {
    name: 'imported runs that another run started',
    sql: 'CREATE INDEX runs_imported_children ON runs (tenant) WHERE parent IS NOT NULL AND imported_at IS NOT NULL;',
  },
];
