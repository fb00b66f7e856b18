/** Refuses commands for runs that their sender does not have. */
import type { EventLog } from '../../log/ports/event-log.ts';
import { runImported } from '../creation/imported-run.ts';
import type { RunOfTenant } from '../stepping/notify-relatives.ts';
import { missingRun } from './run-loader.ts';

export async function refuseForeignRun(log: EventLog, { tenant, runId }: RunOfTenant): Promise<void> {
  const head = await log.head(runId);
  if (head === null || head.record.tenant !== tenant) throw await missingRun(log, tenant, runId);
  if (head.record.importedAt !== null) throw runImported(runId);
}
