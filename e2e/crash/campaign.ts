/** Load, a number of kills, a clean shutdown, an audit: implements `npm run e2e:crash` as one function. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { campaignStore, type StoreKind } from '../campaign-store.ts';
import { type Audited, auditStore } from './audit-store.ts';
import type { Breach } from './breach.ts';
import { crashWorkflows } from './crash-workflows.ts';
import { HostProcess } from './host-process.ts';
import { type Death, HostLost, killAndRevive, moments, nextMoment } from './killer.ts';
import { patron } from './patron.ts';
import { checkResumes } from './resume-check.ts';
import { Wire } from './wire.ts';
import { Witness } from './witness.ts';

export interface CampaignOptions {
  readonly kills: number;
  readonly seed: string;
  readonly store?: StoreKind;
  readonly patrons?: number;
  /** Maximum time for runs to end after the last kill. */
  readonly endWithinMs?: number;
  readonly signal?: AbortSignal;
  readonly progress?: (text: string) => void;
}

export interface CampaignReport {
  readonly seed: string;
  readonly kills: Readonly<Record<string, number>>;
  /** Kills that hit their intended moment. */
  readonly hits: Readonly<Record<string, number>>;
  readonly runs: number;
  readonly events: number;
  readonly resumed: number;
  readonly answers: number;
  readonly audited: Audited | null;
  readonly breaches: readonly Breach[];
  /** The host's last warnings and errors. Reported only when a guarantee was broken. */
  readonly notices: readonly string[];
  readonly seconds: number;
  /** The data folder. Kept only when a guarantee was broken. */
  readonly folder: string | null;
}

const DEFAULT_PATRONS = 10;
const DEFAULT_END_WITHIN_MS = 60_000;

export async function campaign(options: CampaignOptions): Promise<CampaignReport> {
  const { seed, progress = () => undefined } = options;
  const began = performance.now();
  const home = await mkdtemp(join(tmpdir(), 'cairn-crash-'));
  await using store = await campaignStore(options.store ?? 'sqlite', home);
  const settings = {
    folder: store.folder,
    store: store.store,
    journal: join(home, 'journal.ndjson'),
    key: 'crash-b3ZtU6yKx9NdM1hQe8Vo',
    tenant: 'crash',
  };
  const witness = new Witness();
  const deaths: Death[] = [];
  const host = new HostProcess(settings);
  let audited: Audited | null = null;
  try {
    await underFire(host, witness, deaths, options);
    progress('every run has ended; auditing the store');
    audited = await auditStore(settings, witness);
  } catch (error) {
    if (!(error instanceof HostLost)) throw error;
    witness.complain('the host comes back after a crash', { said: error.message });
  } finally {
    await host.kill();
    if (witness.breaches.length === 0) await rm(home, { recursive: true, force: true });
  }
  return {
    seed,
    kills: countBy(deaths),
    hits: countBy(deaths.filter((death) => death.hit)),
    runs: witness.runs.length,
    events: witness.events,
    resumed: witness.runs.reduce((sum, run) => sum + run.resumed, 0),
    answers: witness.runs.reduce((sum, run) => sum + run.answers.length, 0),
    audited,
    breaches: witness.breaches,
    notices: witness.breaches.length === 0 ? [] : host.notices.slice(-50),
    seconds: Math.round((performance.now() - began) / 100) / 10,
    folder: witness.breaches.length === 0 ? null : home,
  };
}

const countBy = (deaths: readonly Death[]): Readonly<Record<string, number>> =>
  Object.fromEntries(moments.map((moment) => [moment, deaths.filter((death) => death.moment === moment).length]));

/** Runs patrons and a killer. Returns when all runs have ended and the host has stopped cleanly. */
async function underFire(
  host: HostProcess,
  witness: Witness,
  deaths: Death[],
  options: CampaignOptions,
): Promise<void> {
  const { kills, seed, patrons = DEFAULT_PATRONS, progress = () => undefined } = options;
  const random = createRandom(seed);
  const over = new AbortController();
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([over.signal, options.signal]);
  const wire = new Wire(host, signal);
  let finishing = false;
  const birth = await host.start();
  if (birth.kind !== 'ready') throw new HostLost(JSON.stringify(birth));
  await registerWorkflows(wire, witness);
  const working = Array.from({ length: patrons }, (_, index) =>
    patron({ name: `p${index}`, wire, witness, random: random.fork(`p${index}`), finishing: () => finishing }),
  );
  const all = Promise.all(working);
  all.catch(() => undefined);
  try {
    const killer = random.fork('killer');
    for (let kill = 1; kill <= kills; kill += 1) {
      const moment = nextMoment(killer);
      deaths.push(await killAndRevive(host, moment, killer, signal));
      progress(`kill ${kill}/${kills} (${moment}): ${witness.runs.length} runs, ${witness.events} events`);
    }
    finishing = true;
    await endOf(all, witness, options.endWithinMs ?? DEFAULT_END_WITHIN_MS, signal);
    await checkResumes(host, witness, random.fork('resume'));
    const ended = await host.stop();
    if (ended !== 'code 0') witness.complain('the host stops in order', { ended });
  } finally {
    for (const how of host.ownDeaths) witness.complain('the host does not die by itself', { how });
    over.abort();
    await all.catch(() => undefined);
  }
}

async function registerWorkflows(wire: Wire, witness: Witness): Promise<void> {
  for (const definition of crashWorkflows) {
    const { status, body } = await wire.post({ path: '/v1/workflows', body: definition as never });
    if (status !== 201) witness.complain('a workflow can be registered', { id: definition.id, status, body });
  }
}

/** Waits for the patrons to finish their last runs. A run that does not end is a broken guarantee. */
async function endOf(all: Promise<unknown>, witness: Witness, withinMs: number, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const timeout = pause(withinMs, 'late' as const, { signal: AbortSignal.any([signal, late.signal]) });
  try {
    if ((await Promise.race([all.then(() => 'done' as const), timeout])) === 'done') return;
    for (const { runId, workflowId, events, ended } of witness.runs) {
      if (ended === null) {
        witness.complain('every run ends by itself', { runId, workflowId, last: events.at(-1)?.slice(0, 400) });
      }
    }
  } finally {
    late.abort();
    timeout.catch(() => undefined);
  }
}
