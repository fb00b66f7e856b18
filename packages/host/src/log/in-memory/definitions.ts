import { utf8Size } from '../../utf8.ts';
import { workflowVersionExists } from '../errors.ts';
import type { Definitions, WorkflowRecord } from '../ports/definitions.ts';
import type { Tables } from './tables.ts';

export function inMemoryDefinitions(tables: Tables): Definitions {
  const definitions = new Map<string, string>();
  const workflows: WorkflowRecord[] = [];
  const latestOf = (tenant: string, workflowId: string): WorkflowRecord | null =>
    workflows.findLast((one) => one.tenant === tenant && one.workflowId === workflowId) ?? null;
  const versionOf = (tenant: string, workflowId: string, version: string): WorkflowRecord | null =>
    workflows.find((one) => one.tenant === tenant && one.workflowId === workflowId && one.version === version) ?? null;
  return {
    async put(hash, body, payer) {
      tables.assertOpen();
      if (definitions.has(hash)) return;
      if (payer !== undefined) tables.pay(payer, utf8Size(body));
      definitions.set(hash, body);
    },
    async get(hash) {
      tables.assertOpen();
      return definitions.get(hash) ?? null;
    },
    async putWorkflow(record, { replaces = false } = {}) {
      tables.assertOpen();
      const known = versionOf(record.tenant, record.workflowId, record.version);
      if (known !== null && !replaces) {
        if (known.hash !== record.hash) throw workflowVersionExists(record, known.hash);
        return;
      }
      if (known !== null) workflows.splice(workflows.indexOf(known), 1);
      workflows.push(record);
    },
    async workflow(tenant, workflowId, version) {
      tables.assertOpen();
      return version === undefined ? latestOf(tenant, workflowId) : versionOf(tenant, workflowId, version);
    },
    async workflows(tenant) {
      tables.assertOpen();
      const latest = new Map<string, WorkflowRecord>();
      for (const one of workflows) if (one.tenant === tenant) latest.set(one.workflowId, one);
      return [...latest.values()].sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
    },
    async count(tenant) {
      tables.assertOpen();
      return workflows.filter((one) => one.tenant === tenant).length;
    },
  };
}
