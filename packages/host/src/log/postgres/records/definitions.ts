/** Definitions and workflow versions in Postgres. */
import { workflowVersionExists } from '../../errors.ts';
import type { Definitions, WorkflowRecord } from '../../ports/definitions.ts';
import { WORKFLOW_COLUMNS, type WorkflowColumns, workflowOf } from '../../record-columns.ts';
import type { Database } from '../database.ts';
import { lockKey } from '../lock-key.ts';

export function postgresDefinitions(database: Database): Definitions {
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
    put: async (hash, body) => {
      await database.changed('INSERT INTO cairn.definitions VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING', [
        hash,
        body,
      ]);
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
