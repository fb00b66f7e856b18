/** Plays attacks one after another against a host and watches what its other tenant feels. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HostProcess } from '../crash/host-process.ts';
import type { Attack } from './attack.ts';
import { Attacker } from './attacker.ts';
import { type HostilePeers, openHostilePeers } from './hostile-peers.ts';
import { ATTACKER_KEY, PEERS_ENV } from './tenants.ts';
import { Victim } from './victim.ts';
import type { Gaps } from './victim-main.ts';

export interface Bounds {
  /** The longest time that the victim may wait for anything. */
  readonly gapMs: number;
  readonly rssMb: number;
}

export interface CaseReport {
  readonly name: string;
  readonly ms: number;
  /** The victim's longest waits; null without a victim. */
  readonly gaps: Gaps | null;
  /** The most memory that the host had. */
  readonly rssMb: number;
  /** How often each code ended something. */
  readonly codes: Readonly<Record<string, number>>;
  readonly breaches: readonly string[];
}

export interface CampaignOptions {
  readonly attacks: readonly Attack[];
  /** Without bounds nothing is timed, and there is no victim. */
  readonly bounds: Bounds | null;
  readonly done: (report: CaseReport) => void;
}

const CASE_MS = 120_000;

export async function campaign({ attacks, bounds, done }: CampaignOptions): Promise<readonly CaseReport[]> {
  const reports: CaseReport[] = [];
  let stage = await Stage.open(bounds !== null);
  try {
    for (const attack of attacks) {
      const report = await play(attack, stage, bounds);
      reports.push(report);
      done(report);
      if (stage.host.ownDeaths.length === 0) continue;
      // The next attack gets a host of its own: this one may die again of what its log holds.
      await stage[Symbol.asyncDispose]();
      stage = await Stage.open(bounds !== null);
    }
  } finally {
    await stage[Symbol.asyncDispose]();
  }
  return reports;
}

/** An attacker elsewhere takes no time of the host's cores, so this one leaves them to the host. */
const ATTACKER_PRIORITY = 10;

/** The priority of this process, and of the processes that it starts from now on. */
function givePriority(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // Only some users may raise it again. A host that follows another one then has the attacker's priority.
  }
}

class Stage implements AsyncDisposable {
  readonly folder: string;
  readonly host: HostProcess;
  readonly victim: Victim | null;
  readonly #peers: HostilePeers;

  private constructor(folder: string, peers: HostilePeers, host: HostProcess, victim: Victim | null) {
    this.folder = folder;
    this.#peers = peers;
    this.host = host;
    this.victim = victim;
  }

  static async open(hasVictim: boolean): Promise<Stage> {
    if (hasVictim) givePriority(0);
    const folder = mkdtempSync(join(tmpdir(), 'cairn-stall-'));
    const settings = { folder: join(folder, 'data'), journal: '', key: ATTACKER_KEY, tenant: 'attacker' };
    const peers = await openHostilePeers();
    // The host inherits it.
    process.env[PEERS_ENV] = peers.url;
    const host = new HostProcess(settings, join(import.meta.dirname, 'host-main.ts'));
    const birth = await host.start();
    if (birth.kind !== 'ready') throw new Error(`The host did not start: ${JSON.stringify(birth)}.`);
    const victim = hasVictim ? await Victim.start(birth.url) : null;
    // The first requests of a process are slow; they are not counted.
    if (victim !== null) await pause(2_000);
    if (hasVictim) givePriority(ATTACKER_PRIORITY);
    return new Stage(folder, peers, host, victim);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.victim?.[Symbol.asyncDispose]();
    await this.host.kill();
    this.#peers.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function play(attack: Attack, { host, victim }: Stage, bounds: Bounds | null): Promise<CaseReport> {
  await settled(victim);
  const begin = performance.now();
  const memory = new PeakMemory(host);
  const attacker = new Attacker(host);
  const late = pause(CASE_MS, 'late', { ref: false });
  const died = host.gone().then(() => 'died');
  const end = await Promise.race([attack.run(attacker).then(() => 'done'), late, died]);
  if (end === 'late') attacker.fault(`the attack had no end after ${CASE_MS} ms`);
  if (end !== 'died') await Promise.race([attacker[Symbol.asyncDispose](), died]);
  const gaps = (await victim?.gaps()) ?? null;
  const rssMb = memory.stop();
  const seen = { gaps, rssMb, codes: attacker.codes };
  const breaches = [
    ...(end === 'died' ? ['the host died'] : attacker.faults),
    ...missingCode(attack, attacker.codes),
    ...(bounds === null ? [] : beyond(bounds, seen)),
  ];
  return { name: attack.name, ms: Math.round(performance.now() - begin), ...seen, breaches };
}

const SETTLE_MS = 60_000;

/** Waits until the victim feels nothing of the attack before. */
async function settled(victim: Victim | null): Promise<void> {
  if (victim === null) return;
  const until = Date.now() + SETTLE_MS;
  for (await victim.gaps(); Date.now() < until; ) {
    await pause(300);
    const { healthMs, startMs, delayMs } = await victim.gaps();
    if (Math.max(healthMs, startMs, delayMs) < CALM_MS) return;
  }
}

const CALM_MS = 50;

const missingCode = ({ endsWith }: Attack, codes: Readonly<Record<string, number>>): string[] =>
  endsWith === undefined || endsWith.some((code) => code in codes)
    ? []
    : [`it ended with ${Object.keys(codes).join(', ')} instead of ${endsWith.join(' or ')}`];

function beyond({ gapMs, rssMb }: Bounds, seen: Pick<CaseReport, 'gaps' | 'rssMb'>): string[] {
  const { gaps } = seen;
  const waits =
    gaps === null
      ? []
      : ([
          ['health', gaps.healthMs],
          ['start', gaps.startMs],
          ['delay', gaps.delayMs],
        ] as const);
  return [
    ...waits.flatMap(([what, ms]) => (ms > gapMs ? [`${what} took ${Math.round(ms)} ms, at most ${gapMs}`] : [])),
    ...(gaps !== null && gaps.failed > 0 ? [`${gaps.failed} requests of the victim failed: ${gaps.reason}`] : []),
    ...(seen.rssMb > rssMb ? [`${seen.rssMb} MB of memory, at most ${rssMb}`] : []),
  ];
}

/** Samples the resident memory of the host. */
class PeakMemory {
  readonly #host: HostProcess;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(host: HostProcess) {
    this.#host = host;
    this.#timer = setInterval(() => this.#sample(), 100);
    this.#sample();
  }

  #sample(): void {
    try {
      const pages = Number(readFileSync(`/proc/${this.#host.pid}/statm`, 'utf8').split(' ')[1]);
      this.#peak = Math.max(this.#peak, pages * 4_096);
    } catch {
      // The process is gone, or the system has no /proc.
    }
  }

  /** Megabytes. */
  stop(): number {
    this.#sample();
    clearInterval(this.#timer);
    return Math.round(this.#peak / 1_048_576);
  }
}
