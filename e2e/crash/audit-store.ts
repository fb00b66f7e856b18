/** Opens the folder a campaign leaves behind and audits every run in it. */
import type { RunId } from '@cairn/protocol';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { openCampaignStore } from '../campaign-store.ts';
import { auditRun } from './audit.ts';
import type { Complain } from './breach.ts';
import type { HostSettings } from './host-main.ts';
import { readJournal } from './journal.ts';
import type { Witness, WitnessedRun } from './witness.ts';

export interface Audited {
  readonly runs: number;
  readonly rows: number;
  /** Steps requested again after a crash. */
  readonly repeated: number;
  /** Questions to a person about an interrupted `write`. */
  readonly questions: number;
}

export async function auditStore({ journal, tenant, ...place }: HostSettings, witness: Witness): Promise<Audited> {
  const entries = Map.groupBy(readJournal(journal), ({ runId }) => runId);
  const witnessed = new Map(witness.runs.flatMap((run) => (run.runId === null ? [] : [[run.runId, run] as const])));
  const store = await openCampaignStore(place);
  let rowCount = 0;
  let repeated = 0;
  let questions = 0;
  try {
    const stored = await runsOf(store, tenant);
    compareRuns(stored, witnessed, witness.complain);
    for (const runId of stored) {
      const rows = await rowsOf(store, runId);
      rowCount += rows.length;
      repeated += rows.filter(
        ({ type, payload }) => type === 'cairn.step.requested' && !/"attempt":1\b/.test(payload),
      ).length;
      questions += rows.filter(
        ({ type, payload }) => type === 'interrupt.requested' && /"kind":"custom"/.test(payload),
      ).length;
      const seen = witnessed.get(runId);
      if (seen !== undefined)
        auditRun({ runId, rows, witnessed: seen, entries: entries.get(runId) ?? [] }, witness.complain);
    }
    const { repaired } = await store.runIndex.rebuild();
    if (repaired > 0) witness.complain('the run list and the inbox agree with the log', { repaired });
    return { runs: stored.length, rows: rowCount, repeated, questions };
  } finally {
    await store.close();
  }
}

/** Checks that each acknowledged run exists, and that every existing run was requested. */
function compareRuns(
  stored: readonly string[],
  witnessed: ReadonlyMap<string, WitnessedRun>,
  complain: Complain,
): void {
  const present = new Set(stored);
  for (const [runId, { idempotencyKey }] of witnessed) {
    if (!present.has(runId)) complain('an acknowledged run exists', { runId, idempotencyKey });
  }
  for (const runId of stored)
    if (!witnessed.has(runId)) complain('one idempotency key starts one run', { twin: runId });
}

async function runsOf(store: Store, tenant: string): Promise<readonly RunId[]> {
  const runs: RunId[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.runIndex.list({ tenant, limit: 200, cursor });
    runs.push(...page.runs.map(({ runId }) => runId));
    if (page.nextCursor === null) return runs;
    cursor = page.nextCursor;
  }
}

async function rowsOf(store: Store, runId: RunId): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await store.log.read({ runId, after: rows.at(-1)?.seq ?? -1, limit: 1_000 });
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}
