/** Compares the identity of a run with what its first event says. */
import { isJsonObject, type Json } from '@cairn/protocol';
import type { Row } from '../../ports/rows.ts';
import type { RunRecord } from '../../ports/run-index.ts';
import type { ReportProblem } from './problem.ts';

/** A fork shares its first event with its source, so its context and parent are its own. */
export function startedCheck(record: RunRecord, row: Row, report: ReportProblem): void {
  const payload: Json = JSON.parse(row.payload);
  if (!isJsonObject(payload)) return;
  const { owner, contextId, parentRunId = null } = payload;
  const tenant = isJsonObject(owner) ? owner.tenant : undefined;
  const differs = (said: Json | undefined, kept: string | null): boolean => said !== undefined && said !== kept;
  const say = (what: string, kept: string | null): void =>
    report(0, `the run list has the ${what} ${JSON.stringify(kept)}, but event 0 names another`);
  // The importer of a run chooses its tenant.
  if (record.importedAt === null && differs(tenant, record.tenant)) say('tenant', record.tenant);
  if (record.fork !== null) return;
  // An imported fork is a run of its own here.
  if (record.originRunId !== record.runId && record.importedAt !== null) return;
  if (record.originRunId !== record.runId)
    report(0, `the chain begins with ${record.originRunId}, but the run is not a fork`);
  if (differs(contextId, record.contextId)) say('context', record.contextId);
  if (differs(parentRunId, record.parentRunId)) say('parent', record.parentRunId);
}
