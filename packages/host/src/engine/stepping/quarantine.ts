/**
 * Handles runs in whose decisions earlier processes died. Such a run is tried once more, alone; if the process dies again,
 * the run fails with `run_quarantined`, and the host goes on without it.
 */
import { eventOf, foldEventOf, foldRun, newRunView, type RunId, type RunView, row, taskFace } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import { newRow } from '../../log/ports/new-row.ts';
import type { Claim } from '../../log/ports/queue.ts';
import type { Store } from '../../log/ports/store.ts';
import { awaited, type Fact } from '../core/facts.ts';
import type { Clock, CrashRecord, Report } from '../ports.ts';

/** A decision that killed the process this often is not made again. */
const MAX_DEATHS = 2;

/** The host's own failure of a run: its state may be what kills, so nothing folds it. */
const CODE = 'run_quarantined';

export const isQuarantined = ({ record }: Pick<RunHead, 'record'>): boolean => record.errorCode === CODE;

interface SettlePorts {
  readonly store: Pick<Store, 'log'>;
  readonly clock: Clock;
  readonly owner: string;
  readonly leaseMs: number;
  readonly report: Report;
  readonly crashes: CrashRecord | null;
}

interface Opened {
  post(fact: Fact, urgency: 'step'): void;
}

export interface QuarantinePorts extends SettlePorts {
  readonly open: (run: { readonly tenant: string; readonly runId: RunId }) => Opened;
}

export interface TakeOverPorts extends SettlePorts {
  /** Null while the engine is closing. */
  readonly adopt: (claim: Claim) => Opened | null;
}

/** Call it before the host steps any run, so that a run that is tried is alone. */
export async function settleDeaths(ports: QuarantinePorts): Promise<void> {
  const { crashes } = ports;
  if (crashes === null) return;
  const suspects = new Map<RunId, number>();
  for (const { runId, count } of crashes.deaths()) suspects.set(runId, Math.max(count, suspects.get(runId) ?? 0));
  const tried: RunHead[] = [];
  for (const [runId, deaths] of suspects) {
    const head = await ports.store.log.head(runId);
    if (head === null || head.record.endedAt !== null || head.record.importedAt !== null) crashes.forget(runId);
    else if (deaths < MAX_DEATHS) tried.push(head);
    else if (await quarantine(ports, head)) crashes.forget(runId);
  }
  for (const { record } of tried) await tryAlone(ports, record, () => ports.open(record));
}

/**
 * The same for runs of another node, when its leases ended. Returns the claims that are left to adopt. A run that is tried
 * is decided before them.
 */
export async function settleTakenOver(ports: TakeOverPorts, claims: readonly Claim[]): Promise<readonly Claim[]> {
  const { crashes } = ports;
  const taken = claims.flatMap(({ runId, former }) => (former === undefined ? [] : [{ runId, former }]));
  const suspects = new Map<RunId, number>();
  for (const { runId, count } of (await crashes?.takenOver?.(taken)) ?? [])
    suspects.set(runId, Math.max(count, suspects.get(runId) ?? 0));
  const left: Claim[] = [];
  for (const claim of claims) {
    const deaths = suspects.get(claim.runId);
    const head = deaths === undefined ? null : await ports.store.log.head(claim.runId);
    if (deaths === undefined || head === null) left.push(claim);
    else if (deaths < MAX_DEATHS) await tryAlone(ports, head.record, () => ports.adopt(claim));
    else if (await quarantine(ports, head)) crashes?.forget(claim.runId);
    else left.push(claim);
  }
  return left;
}

/** Loads the run and decides it once, for no other reason than to see that this can be done. */
async function tryAlone({ report }: SettlePorts, run: RunHead['record'], open: () => Opened | null): Promise<void> {
  const facts = { runId: run.runId, tenant: run.tenant };
  report({ level: 'warn', event: 'run.suspected', facts });
  try {
    const { fact, done } = awaited(nothing, () => ({}));
    const opened = open();
    if (opened === null) return;
    opened.post({ ...fact, subject: '' }, 'step');
    await done;
  } catch (error) {
    // It did not end the process, so it is left to the scheduler.
    report({ level: 'warn', event: 'run.load_failed', facts, error });
  }
}

const nothing: Fact['propose'] = () => [];

/** Fails the run without loading or deciding it. Returns false if that could not be written. */
async function quarantine(ports: SettlePorts, head: RunHead): Promise<boolean> {
  const { store, clock, owner, leaseMs, report } = ports;
  const { runId, tenant, parentRunId } = head.record;
  const facts = { runId, tenant };
  try {
    const view = await outlineOf(store.log, head);
    const now = Math.max(clock.now(), view.lastAt);
    const message = `The host died ${MAX_DEATHS} times while it decided run ${runId}, so it does not try again.`;
    const durationMs = now - (view.startedAt ?? now);
    const draft = row('run.failed', { error: { code: CODE, message, retryable: false }, durationMs });
    const event = eventOf(draft, head.seq + 1, now);
    foldRun(view, event);
    const { type, audience, payload } = draft;
    const fields = { at: now, type, audience, payload: JSON.stringify(payload) };
    await store.log.append({
      runId,
      rows: [newRow(fields, taskFace(view, event))],
      at: head.seq + 1,
      claim: { owner, now, until: now + leaseMs },
      // The parent learns of the end when it is loaded; so do attached children.
      wakes: parentRunId === null ? [] : [{ runId: parentRunId, at: now }],
    });
    report({ level: 'error', event: 'run.quarantined', facts });
    return true;
  } catch (error) {
    report({ level: 'warn', event: 'store.append_failed', facts, error });
    return false;
  }
}

/** The view after only the first and the last row: who started the run, with which inputs, and how it ended. */
export async function outlineOf(log: Pick<EventLog, 'read'>, { record, seq }: RunHead): Promise<RunView> {
  const { runId } = record;
  const view = newRunView(runId);
  for (const at of seq === 0 ? [0] : [0, seq]) {
    const rows = await log.read({ runId, after: at - 1, limit: 1 });
    for (const found of rows) {
      const event = foldEventOf(found);
      if (at === 0 || found.type === 'run.failed') foldRun(view, event);
      else view.lastAt = found.at;
    }
  }
  return view;
}
