/** Definitions and workflow versions in SQLite. */
import { utf8Size } from '../../utf8.ts';
import { quotaExceeded, workflowVersionExists } from '../errors.ts';
import type { Definitions, WorkflowRecord } from '../ports/definitions.ts';
import { WORKFLOW_COLUMNS, type WorkflowColumns, workflowOf } from '../record-columns.ts';
import type { BlobTables } from './blobs/blob-tables.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';
import type { TenantBytes } from './run-index/tenant-usage.ts';

/** Workflow names with a cached newest version. */
const CACHED_NAMES = 1_000;

interface DefinitionPorts extends Connection {
  readonly usage: TenantBytes;
  readonly blobs: BlobTables;
}

export function sqliteDefinitions(ports: DefinitionPorts): Definitions {
  const { db, writer, read } = ports;
  const get = query<[body: string]>(db, 'SELECT body FROM definitions WHERE hash = ?');
  const putWorkflow = db.prepare('INSERT INTO workflows VALUES (NULL, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const dropWorkflow = db.prepare('DELETE FROM workflows WHERE tenant = ? AND id = ? AND version = ?');
  const version = query<WorkflowColumns>(
    db,
    `SELECT ${WORKFLOW_COLUMNS} FROM workflows WHERE tenant = ? AND id = ? AND version = ?`,
  );
  const newest = query<WorkflowColumns>(
    db,
    `SELECT ${WORKFLOW_COLUMNS} FROM workflows WHERE tenant = ? AND id = ? ORDER BY place DESC LIMIT 1`,
  );
  const all = query<WorkflowColumns>(
    db,
    `SELECT ${WORKFLOW_COLUMNS} FROM workflows WHERE place IN
       (SELECT max(place) FROM workflows WHERE tenant = ? GROUP BY id) ORDER BY id`,
  );
  const counted = query<[count: number]>(db, 'SELECT count(*) FROM workflows WHERE tenant = ?');
  /** The newest version of each name, which every run start reads. Safe to cache: only this process writes them. */
  const cache = new Map<string, WorkflowRecord | null>();
  const nameOf = (tenant: string, id: string): string => JSON.stringify([tenant, id]);
  const newestOf = (tenant: string, id: string): WorkflowRecord | null => {
    const name = nameOf(tenant, id);
    if (cache.size === CACHED_NAMES) cache.clear();
    const found = recordOf(newest.get(tenant, id));
    cache.set(name, found);
    return found;
  };
  return {
    put: putter(ports),
    get: async (hash) => read(() => get.get(hash)?.[0] ?? null),
    putWorkflow: (workflow, { replaces = false } = {}) =>
      writer.submit({
        rows: 1,
        bytes: 0,
        prepare: () => {
          if (replaces) return;
          const known = recordOf(version.get(workflow.tenant, workflow.workflowId, workflow.version));
          if (known !== null && known.hash !== workflow.hash) throw workflowVersionExists(workflow, known.hash);
        },
        apply: () => {
          cache.clear();
          const { tenant, workflowId, version: named, hash, registeredAt } = workflow;
          if (replaces) dropWorkflow.run(tenant, workflowId, named);
          putWorkflow.run(tenant, workflowId, named, hash, registeredAt);
        },
      }),
    workflow: async (tenant, id, named) => {
      // A cached version was durable when it was read, and the next one clears the cache. So a start waits for no flush.
      const known = named === undefined ? cache.get(nameOf(tenant, id)) : undefined;
      if (known !== undefined) return known;
      return read(() => (named === undefined ? newestOf(tenant, id) : recordOf(version.get(tenant, id, named))));
    },
    workflows: async (tenant) => read(() => all.all(tenant).map(workflowOf)),
    count: async (tenant) => read(() => counted.get(tenant)?.[0] ?? 0),
  };
}

/** Stores a body, and counts it for its payer when it is new. */
function putter({ db, writer, usage, blobs }: DefinitionPorts): Definitions['put'] {
  const put = db.prepare('INSERT INTO definitions VALUES (?, ?) ON CONFLICT DO NOTHING');
  const known = query<[hash: string]>(db, 'SELECT hash FROM definitions WHERE hash = ?');
  return (hash, body, payer) => {
    const bytes = utf8Size(body);
    return writer.submit({
      ...(payer !== undefined && { tenant: payer.tenant }),
      rows: 1,
      bytes,
      prepare: () => {
        if (payer?.maxTenantBytes === undefined || known.get(hash) !== undefined) return;
        const used = usage.of(payer.tenant) + blobs.bytesOf(payer.tenant);
        if (used + bytes > payer.maxTenantBytes) throw quotaExceeded(payer.tenant, used, payer.maxTenantBytes);
      },
      apply: () => {
        const isNew = Number(put.run(hash, body).changes) > 0;
        if (isNew && payer !== undefined) usage.addOther(payer.tenant, bytes);
      },
    });
  };
}

const recordOf = (columns: WorkflowColumns | undefined): WorkflowRecord | null =>
  columns === undefined ? null : workflowOf(columns);
