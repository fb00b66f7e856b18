/** Tables of the ports beside the log, and the list of all tables. */
import { type CopiedTable, columns } from './copied-table.ts';
import { runTables } from './run-tables.ts';

const recordTables: readonly CopiedTable[] = [
  {
    name: 'definitions',
    key: ['hash'],
    columns: columns('text', 'hash body'),
    inPostgres: { size: 'octet_length(t.body)', ofRuns: 'true' },
  },
  {
    name: 'workflows',
    key: ['place'],
    columns: { ...columns('bigint', 'place registered_at'), ...columns('text', 'tenant id version hash') },
  },
  {
    name: 'packs',
    key: ['place'],
    columns: {
      ...columns('bigint', 'place installed_at'),
      ...columns('text', 'tenant name version hash body'),
      is_removed: 'boolean',
    },
    inSqlite: { read: { is_removed: 'removed' }, write: { is_removed: 'removed' } },
    inPostgres: { size: 'octet_length(t.body)' },
  },
  {
    name: 'checkpoints',
    key: ['run', 'seq'],
    columns: { ...columns('bigint', 'seq bytes'), ...columns('text', 'run format body') },
    inSqlite: { read: { bytes: 'octet_length(body)' }, write: { bytes: null } },
    inPostgres: { size: 't.bytes' },
  },
  {
    name: 'positions',
    key: ['reader'],
    columns: columns('text', 'reader position'),
    // The positions of the store itself follow from its rows.
    inSqlite: { name: 'marks', where: "reader NOT LIKE 'cairn.%'" },
  },
  {
    name: 'facts',
    key: ['name'],
    columns: columns('text', 'name value'),
    inSqlite: { name: 'folder_facts', where: "name IN ('host', 'key')" },
    inPostgres: { from: "(SELECT name, value FROM cairn.facts WHERE name IN ('host', 'key'))" },
  },
  {
    name: 'idempotency',
    key: ['tenant', 'endpoint', 'key'],
    columns: {
      ...columns('bigint', 'lease_until status at run'),
      ...columns('text', 'tenant endpoint key digest state owner headers body'),
    },
    inPostgres: { size: 'octet_length(t.body)' },
  },
  {
    name: 'subscriptions',
    key: ['place'],
    columns: { ...columns('bigint', 'place fence'), ...columns('text', 'id tenant kind body state') },
    // Leases by name begin anew in the other store, and so do their fences.
    inSqlite: { read: { fence: '0' } },
    inPostgres: { read: { fence: '0::bigint' }, size: 'octet_length(t.body) + octet_length(t.state)' },
  },
  {
    name: 'credentials',
    key: ['ref'],
    columns: {
      ...columns('bigint', 'expires_at stored_at'),
      ...columns('text', 'ref tenant principal provider scopes sealed'),
    },
    inPostgres: { size: 'octet_length(t.sealed)' },
  },
  {
    name: 'sign_in_attempts',
    key: ['request'],
    columns: { expires_at: 'bigint', ...columns('text', 'request state sealed') },
  },
  {
    name: 'expiring',
    key: ['place'],
    columns: { place: 'bigint', expires_at: 'double precision', ...columns('text', 'kind name owner body') },
    inPostgres: { size: 'octet_length(t.body)' },
  },
];

/** In the order in which they are copied. */
export const copiedTables: readonly CopiedTable[] = [...runTables, ...recordTables];

/** What is not copied: it follows from the copied tables, or is of no use to another store. A test knows both lists. */
export const derivedTables = {
  sqlite: ['large_values', 'tenant_usage', 'blob_usage', 'context_segments', 'migrations', 'memory_words'],
  postgres: ['contexts', 'heads', 'usage', 'sessions', 'named_leases', 'nodes', 'notices', 'migrations'],
} as const;
