/** Tables of runs, and of what belongs to them. */
import { type CopiedTable, columns } from './copied-table.ts';

const OF_RUN = 't.run IN (SELECT key FROM keys)';
const OF_RUN_KEY = 't.key IN (SELECT key FROM keys)';
const OF_MEMORY = 't.entry IN (SELECT cursor FROM cairn.memory_entries WHERE run IN (SELECT key FROM keys))';
const ofBlob = (column: string): string =>
  `t.${column} IN (SELECT blob FROM cairn.blob_refs WHERE run IN (SELECT key FROM keys))`;

/** The row of a context is written with the first run that is in it. */
const CONTEXTS = `INSERT INTO cairn.contexts (id, tenant, head, edition)
  SELECT DISTINCT ON (x.context) x.context, x.tenant, 0, 0 FROM x ORDER BY x.context ON CONFLICT (id) DO NOTHING`;

/** In Postgres, the lease and the end of a run are in a table of their own. */
const runs: CopiedTable = {
  name: 'runs',
  key: ['key'],
  columns: {
    ...columns('bigint', 'key created_at ended_at imported_at fork_seq fence wake_at head_seq head_at'),
    ...columns('text', 'id tenant context origin parent workflow definition principal status node tags error_code'),
    ...columns('text', 'error_message scope fork_source fork_mode summary child_wait owner head_hash'),
  },
  inSqlite: {
    read: { head_seq: 'NULL', head_hash: 'NULL', head_at: 'NULL' },
    write: { head_seq: null, head_hash: null, head_at: null },
  },
  inPostgres: {
    from: `(SELECT r.*, h.fence, h.owner, h.wake_at, h.seq AS head_seq, h.hash AS head_hash, h.at AS head_at
      FROM cairn.runs r JOIN cairn.heads h ON h.run = r.key)`,
    write: [
      CONTEXTS,
      `INSERT INTO cairn.runs (key, id, tenant, context, context_key, origin, parent, workflow, definition, principal, status,
          node, tags, error_code, error_message, created_at, ended_at, imported_at, scope, fork_source, fork_seq, fork_mode,
          summary, child_wait) OVERRIDING SYSTEM VALUE
        SELECT x.key, x.id, x.tenant, x.context, c.key, x.origin, x.parent, x.workflow, x.definition, x.principal, x.status,
          x.node, x.tags, x.error_code, x.error_message, x.created_at, x.ended_at, x.imported_at, x.scope, x.fork_source,
          x.fork_seq, x.fork_mode, x.summary, x.child_wait FROM x JOIN cairn.contexts c ON c.id = x.context`,
      `INSERT INTO cairn.heads (run, tenant, seq, hash, at, fence, owner, wake_at, is_over)
        SELECT x.key, x.tenant, x.head_seq, x.head_hash, x.head_at, x.fence, x.owner, x.wake_at,
          x.ended_at IS NOT NULL OR x.imported_at IS NOT NULL FROM x`,
    ],
    size: 'octet_length(t.summary) + octet_length(t.tags)',
    ofRuns: OF_RUN_KEY,
  },
};

const purgedRuns: CopiedTable = {
  name: 'purged_runs',
  key: ['key'],
  columns: {
    ...columns('bigint', 'key fork_seq purged_at seq'),
    ...columns('text', 'id tenant context origin parent fork_source fork_mode hash'),
    is_unfinished: 'boolean',
  },
  inSqlite: { read: { is_unfinished: 'unfinished' }, write: { is_unfinished: 'unfinished' } },
  inPostgres: {
    write: [
      CONTEXTS,
      `INSERT INTO cairn.purged_runs (key, id, tenant, context, origin, parent, fork_source, fork_seq, fork_mode, purged_at, seq,
          hash, is_unfinished)
        SELECT x.key, x.id, x.tenant, x.context, x.origin, x.parent, x.fork_source, x.fork_seq, x.fork_mode, x.purged_at, x.seq,
          x.hash, x.is_unfinished FROM x`,
    ],
    ofRuns: OF_RUN_KEY,
  },
};

/**
 * SQLite keeps large values apart (`cuts`); a copied row is whole. The rows of a run that is being purged belong to the
 * context that the run was in.
 */
const events: CopiedTable = {
  name: 'events',
  key: ['cursor'],
  columns: {
    ...columns('bigint', 'cursor run seq at face bytes payload_size task_size'),
    ...columns('text', 'type node payload task row_hash hash cuts'),
    cause: 'json',
    audience: 'smallint',
  },
  inSqlite: {
    read: { bytes: '0', payload_size: '0', task_size: '0' },
    write: { payload_size: null, task_size: null },
  },
  inPostgres: {
    read: { cuts: 'NULL::text' },
    write: [
      `INSERT INTO cairn.events (run, seq, cursor, context, at, writer, face, payload_size, task_size, bytes, audience, type, node,
          cause, row_hash, hash, payload, task)
        SELECT x.run, x.seq, x.cursor, coalesce(r.context_key, c.key), x.at, 0, x.face, x.payload_size, x.task_size, x.bytes,
          x.audience, x.type, x.node, x.cause, x.row_hash, x.hash, x.payload, x.task
        FROM x LEFT JOIN cairn.runs r ON r.key = x.run LEFT JOIN cairn.purged_runs p ON p.key = x.run
          LEFT JOIN cairn.contexts c ON c.id = p.context`,
    ],
    size: 't.payload_size + t.task_size',
    ofRuns: OF_RUN,
  },
};

const memoryEntries: CopiedTable = {
  name: 'memory_entries',
  key: ['cursor'],
  columns: {
    ...columns('bigint', 'cursor scope run seq at expires_at'),
    ...columns('text', 'id turn content tags words'),
  },
  inSqlite: { read: { words: "''" }, write: { words: null } },
  inPostgres: {
    read: { words: "''::text" },
    write: [
      `INSERT INTO cairn.memory_entries (cursor, scope, id, run, seq, turn, content, tags, at, expires_at, words)
        SELECT x.cursor, x.scope, x.id, x.run, x.seq, x.turn, x.content, x.tags, x.at, x.expires_at,
          replace(x.words, '@', x.scope::text)::tsvector FROM x`,
    ],
    size: 'octet_length(t.content)',
    ofRuns: OF_RUN,
  },
};

const sharedRows: CopiedTable = {
  name: 'shared_rows',
  key: ['run', 'through'],
  columns: columns('bigint', 'run from_seq through owner'),
  inSqlite: {
    // A stretch begins where the one before it ends.
    read: {
      from_seq: `coalesce((SELECT max(b.through) FROM shared_rows AS b
        WHERE b.run = shared_rows.run AND b.through < shared_rows.through), 0)`,
    },
    write: { from_seq: null },
  },
  inPostgres: { ofRuns: OF_RUN },
};

/** What others refer to comes first. */
export const runTables: readonly CopiedTable[] = [
  runs,
  purgedRuns,
  sharedRows,
  events,
  {
    name: 'tombstones',
    key: ['run', 'seq'],
    columns: {
      ...columns('bigint', 'run seq cursor at'),
      ...columns('text', 'type node row_hash hash'),
      cause: 'json',
      audience: 'smallint',
    },
    inPostgres: { ofRuns: OF_RUN },
  },
  {
    name: 'run_tags',
    key: ['tenant', 'tag', 'run'],
    columns: { ...columns('text', 'tenant tag workflow shown'), run: 'bigint' },
    inPostgres: { ofRuns: OF_RUN },
  },
  {
    name: 'interrupts',
    key: ['place'],
    columns: {
      ...columns('bigint', 'place run requested_at seq'),
      ...columns('text', 'id node kind votes title tenant'),
      open: 'smallint',
    },
    inPostgres: { ofRuns: OF_RUN, size: 'octet_length(t.votes) + octet_length(t.title)' },
  },
  {
    name: 'index_checkpoints',
    key: ['run', 'seq'],
    columns: { ...columns('bigint', 'run seq'), body: 'text' },
    inPostgres: { ofRuns: OF_RUN, size: 'octet_length(t.body)' },
  },
  {
    name: 'artifacts',
    key: ['context', 'id', 'version'],
    columns: {
      ...columns('bigint', 'version run first_seq last_seq pieces size updated_at'),
      ...columns('text', 'context id family life call state name mime'),
    },
    inPostgres: { ofRuns: OF_RUN },
  },
  {
    name: 'blobs',
    key: ['key'],
    columns: { ...columns('bigint', 'key bytes put_at refs'), ...columns('text', 'tenant sha256') },
    inPostgres: { ofRuns: ofBlob('key') },
  },
  {
    name: 'blob_bodies',
    key: ['blob'],
    columns: { blob: 'bigint', body: 'bytea' },
    inPostgres: { ofRuns: ofBlob('blob'), size: 'octet_length(t.body)' },
  },
  { name: 'blob_refs', key: ['run', 'blob'], columns: columns('bigint', 'run blob'), inPostgres: { ofRuns: OF_RUN } },
  {
    name: 'memory_scopes',
    key: ['key'],
    columns: { key: 'bigint', ...columns('text', 'tenant ref') },
    inPostgres: { ofRuns: 'true' },
  },
  memoryEntries,
  {
    name: 'memory_drops',
    key: ['scope', 'id'],
    columns: { ...columns('bigint', 'scope cursor run seq'), ...columns('text', 'id turn') },
    inPostgres: { ofRuns: OF_RUN },
  },
  {
    name: 'memory_tags',
    key: ['scope', 'tag', 'entry'],
    columns: { ...columns('bigint', 'scope entry'), tag: 'text' },
    inPostgres: { ofRuns: OF_MEMORY },
  },
];
