/**
 * The schema as numbered, forward-only migrations. A released migration never changes. Nodes of the version before go on
 * while the database is migrated, until they are restarted one after the other: what they call stays, with its arguments
 * and its result.
 */
import { aloneFunction } from './alone-function.ts';
import { batchFunctions } from './batch-functions.ts';
import { clusterTables } from './cluster-tables.ts';
import { commitFunction } from './commit-function.ts';
import { horizonFunction, writersHorizonFunction } from './horizon-function.ts';
import { lookAtAllFunction, lookFunction } from './look-function.ts';
import { artifactFunctions, memoryFunctions } from './memory-functions.ts';
import { queueFunction } from './queue-function.ts';
import { recordTables } from './record-tables.ts';
import { rowsFunction } from './rows-function.ts';
import { logTables } from './tables.ts';
import { tellFunction } from './tell-function.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Migration n+1 is at index n. Everything is in the schema `cairn`, so that no search path matters. */
export const migrations: readonly Migration[] = [
  { name: 'log, index, queue and records', sql: `${logTables}${recordTables}${clusterTables}` },
  {
    name: 'commits',
    sql: `${batchFunctions}${memoryFunctions}${artifactFunctions}${aloneFunction}${commitFunction}${horizonFunction}${lookAtAllFunction}${rowsFunction}${queueFunction}${tellFunction}`,
  },
  {
    name: 'runs that no other run started',
    sql: 'CREATE INDEX runs_roots ON cairn.runs (tenant, key) WHERE parent IS NULL',
  },
  {
    name: 'imported runs that another run started',
    sql: `CREATE INDEX runs_imported_children ON cairn.runs (tenant, key)
      WHERE parent IS NOT NULL AND imported_at IS NOT NULL`,
  },
  { name: 'looks that bring what is needed', sql: lookFunction },
  { name: 'a horizon of those that write', sql: writersHorizonFunction },
];
