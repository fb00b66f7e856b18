/** Definitions and workflow versions in Postgres. */
import { utf8Size } from '../../../utf8.ts';
import { quotaExceeded, workflowVersionExists } from '../../errors.ts';
import type { Definitions, Payer, WorkflowRecord } from '../../ports/definitions.ts';
import { WORKFLOW_COLUMNS, type WorkflowColumns, workflowOf } from '../../record-columns.ts';
import type { TenantBytes } from '../commit/facts.ts';
import type { Database, Queries } from '../database.ts';
import { lockKey } from '../lock-key.ts';
import { addUsage } from './blobs.ts';

interface DefinitionPorts {
  readonly database: Database;
  readonly writer: number;
  /** What appends know of their tenants. */
  readonly bytes: TenantBytes;
}

export function postgresDefinitions({ database, writer, bytes }: DefinitionPorts): Definitions {
  const find = async (
    where: string,
    values: readonly [tenant: string, ...string[]],
  ): Promise<WorkflowRecord | null> => {
    const [found] = await database
      .of(values[0])
      .rows<WorkflowColumns>(`SELECT ${WORKFLOW_COLUMNS} FROM cairn.workflows WHERE ${where}`, values);
    return found === undefined ? null : workflowOf(found);
  };
  return {
    put: async (hash, body, payer) => {
      if (payer === undefined) return void (await database.changed(PUT, [hash, body]));
      await database.transaction((queries) => putPaid(queries, { hash, body, payer, writer }));
      bytes.forget(payer.tenant);
    },
    get: async (hash) => {
      const [found] = await database.rows<[string]>('SELECT body FROM cairn.definitions WHERE hash = $1::text', [hash]);
      return found?.[0] ?? null;
    },
    putWorkflow: (workflow, { replaces = false } = {}) => putWorkflow(database, workflow, replaces),
    workflow: (tenant, id, version) =>
      version === undefined
        ? find('tenant = $1::text AND id = $2::text ORDER BY place DESC LIMIT 1', [tenant, id])
        : find('tenant = $1::text AND id = $2::text AND version = $3::text', [tenant, id, version]),
    workflows: async (tenant) => {
      const found = await database.of(tenant).rows<WorkflowColumns>(
        `SELECT ${WORKFLOW_COLUMNS} FROM cairn.workflows WHERE place IN
           (SELECT max(place) FROM cairn.workflows WHERE tenant = $1::text GROUP BY id) ORDER BY id`,
        [tenant],
      );
      return found.map(workflowOf);
    },
    count: async (tenant) => {
      const [found] = await database
        .of(tenant)
        .rows<[number]>('SELECT count(*)::int FROM cairn.workflows WHERE tenant = $1::text', [tenant]);
      return found?.[0] ?? 0;
    },
  };
}

const PUT = 'INSERT INTO cairn.definitions VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING';

interface PaidDefinition {
  readonly hash: string;
  readonly body: string;
  readonly payer: Payer;
  readonly writer: number;
}

/** A refusal takes the row back. */
async function putPaid(queries: Queries, { hash, body, payer, writer }: PaidDefinition): Promise<void> {
  if ((await queries.changed(PUT, [hash, body])) === 0) return;
  const { tenant, maxTenantBytes } = payer;
  const bytes = utf8Size(body);
  if (maxTenantBytes !== undefined) {
    const [[used] = [0]] = await queries.rows<[number]>(
      'SELECT coalesce(sum(log_bytes + blob_bytes), 0)::bigint FROM cairn.usage WHERE tenant = $1::text',
      [tenant],
    );
    if (used + bytes > maxTenantBytes) throw quotaExceeded(tenant, used, maxTenantBytes);
  }
  await addUsage(queries, { tenant, writer, bytes: 0, logBytes: bytes });
}

/** One registration of a workflow at a time, so that the latest place is the last one that was acknowledged. */
function putWorkflow(database: Database, workflow: WorkflowRecord, replaces: boolean): Promise<void> {
  const { tenant, workflowId, version, hash, registeredAt } = workflow;
  return database.transaction(async (queries) => {
    const name = lockKey(`workflow ${JSON.stringify([tenant, workflowId])}`);
    await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [name]);
    const key = [tenant, workflowId, version];
    const where = 'tenant = $1::text AND id = $2::text AND version = $3::text';
    const [known] = await queries.rows<[string]>(`SELECT hash FROM cairn.workflows WHERE ${where}`, key);
    if (known !== undefined && !replaces) {
      if (known[0] !== hash) throw workflowVersionExists(workflow, known[0]);
      return;
    }
    if (known !== undefined) await queries.changed(`DELETE FROM cairn.workflows WHERE ${where}`, key);
    await queries.changed(
      `INSERT INTO cairn.workflows (${WORKFLOW_COLUMNS}) VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint)`,
      [...key, hash, registeredAt],
    );
  });
}
