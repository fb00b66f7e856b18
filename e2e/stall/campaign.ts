/** Plays attacks one after another against a host and watches what its other tenant feels. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { present } from '../../packages/host/test/kit/present.ts';
import { campaignStore, type StoreKind } from '../campaign-store.ts';
import { HostProcess } from '../crash/host-process.ts';
import type { Attack } from './attack.ts';
import { Attacker } from './attacker.ts';
import { openHostilePeers } from './hostile-peers.ts';
import { ATTACKER_KEY, PEERS_ENV } from './tenants.ts';
import { Victim } from './victim.ts';
import type { Gaps } from './victim-main.ts';

export interface Bounds {
  /** The longest time that the victim may wait for anything. */
  readonly gapMs: number;
  /** Whether time counts in which the host was ready to go on and had no core. */
  readonly countsCoreWaits: boolean;
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

/** Where the victim is: at the node that is attacked, or at another one of the same database. */
export type VictimNode = 'same' | 'other';

export interface StageOptions {
  /** A data folder with one host, or a database with three nodes. Default: a data folder. */
  readonly store?: StoreKind | undefined;
  /** Default: at the same node. */
  readonly victimNode?: VictimNode | undefined;
}

export interface CampaignOptions extends StageOptions {
  readonly attacks: readonly Attack[];
  /** No attack begins after this time. Default: all are played. */
  readonly forMs?: number | undefined;
  /** Without bounds nothing is timed, and there is no victim. */
  readonly bounds: Bounds | null;
  readonly done: (report: CaseReport) => void;
}

const CASE_MS = 120_000;

export async function campaign(options: CampaignOptions): Promise<readonly CaseReport[]> {
  const { attacks, bounds, done, forMs = Number.POSITIVE_INFINITY } = options;
  const reports: CaseReport[] = [];
  let stage = await Stage.open(options);
  const begin = performance.now();
  try {
    for (const attack of attacks) {
      if (performance.now() - begin > forMs) break;
      const report = await play(attack, stage, bounds);
      reports.push(report);
      done(report);
      if (stage.nodes.every(({ ownDeaths }) => ownDeaths.length === 0)) continue;
      // The next attack gets a host of its own: this one may die again of what its log holds.
      await stage[Symbol.asyncDispose]();
      stage = await Stage.open(options);
    }
  } finally {
    await stage[Symbol.asyncDispose]();
  }
  return reports;
}

/** An attacker elsewhere takes no time of the host's cores, so this one leaves them to the host. */
const ATTACKER_PRIORITY = 19;

/**
 * The priority of this process, and of the processes that it starts from now on. On Linux each thread has one of its own,
 * and the threads that collect garbage would otherwise take turns with the host's.
 */
function givePriority(priority: number): void {
  for (const thread of ownThreads()) {
    try {
      setPriority(thread, priority);
    } catch {
      // Only some users may raise it again. A host that follows another one then has the attacker's priority.
    }
  }
}

function ownThreads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [process.pid];
  }
}

/** Nodes of a database. */
const NODES = 3;

class Stage implements AsyncDisposable {
  /** The first one is attacked. */
  readonly nodes: readonly HostProcess[];
  readonly victim: Victim | null;
  readonly #opened: AsyncDisposableStack;

  private constructor(nodes: readonly HostProcess[], victim: Victim | null, opened: AsyncDisposableStack) {
    this.nodes = nodes;
    this.victim = victim;
    this.#opened = opened;
  }

  static async open({ bounds, store = 'sqlite', victimNode = 'same' }: CampaignOptions): Promise<Stage> {
    const hasVictim = bounds !== null;
    if (hasVictim) givePriority(0);
    await using opening = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'cairn-stall-'));
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    const place = opening.use(await campaignStore(store, folder));
    const peers = await openHostilePeers();
    opening.defer(() => peers.close());
    // The host inherits it.
    process.env[PEERS_ENV] = peers.url;
    const nodes: HostProcess[] = [];
    const hosts: { readonly url: string; readonly pid: number }[] = [];
    for (let n = 0; n < (store === 'sqlite' ? 1 : NODES); n += 1) {
      const settings = { ...place, folder: `${place.folder}-${n}`, journal: '', key: ATTACKER_KEY, tenant: 'attacker' };
      const host = opening.use(new HostProcess(settings, join(import.meta.dirname, 'host-main.ts')));
      const birth = await host.start();
      if (birth.kind !== 'ready') throw new Error(`The host did not start: ${JSON.stringify(birth)}.`);
      nodes.push(host);
      hosts.push({ url: birth.url, pid: present(host.pid) });
    }
    const victims = hosts[victimNode === 'same' ? 0 : 1];
    if (victims === undefined) throw new Error('There is no other node.');
    const victim = hasVictim ? opening.use(await Victim.start(victims.url, victims.pid)) : null;
    // The first requests of a process are slow; they are not counted.
    if (victim !== null) await pause(2_000);
    if (hasVictim) givePriority(ATTACKER_PRIORITY);
    return new Stage(nodes, victim, opening.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

async function play(attack: Attack, { nodes, victim }: Stage, bounds: Bounds | null): Promise<CaseReport> {
  await settled(victim);
  const begin = performance.now();
  const memory = new PeakMemory(nodes);
  const attacker = new Attacker(present(nodes[0]));
  const late = pause(CASE_MS, 'late', { ref: false });
  const died = Promise.race(nodes.map((node) => node.gone())).then(() => 'died');
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

function beyond({ gapMs, countsCoreWaits, rssMb }: Bounds, seen: Pick<CaseReport, 'gaps' | 'rssMb'>): string[] {
  const { gaps } = seen;
  const judged = countsCoreWaits ? gaps : gaps?.onCores;
  const waits =
    judged === null || judged === undefined
      ? []
      : ([
          ['health', judged.healthMs],
          ['start', judged.startMs],
          ['delay', judged.delayMs],
        ] as const);
  return [
    ...waits.flatMap(([what, ms]) =>
      ms > gapMs ? [`${what} took ${Math.round(ms)} ms${countsCoreWaits ? '' : ' on cores'}, at most ${gapMs}`] : [],
    ),
    ...(gaps !== null && gaps.failed > 0 ? [`${gaps.failed} requests of the victim failed: ${gaps.reason}`] : []),
    ...(seen.rssMb > rssMb ? [`${seen.rssMb} MB of memory, at most ${rssMb}`] : []),
  ];
}

/** Samples the resident memory of each host. */
class PeakMemory {
  readonly #hosts: readonly HostProcess[];
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(hosts: readonly HostProcess[]) {
    this.#hosts = hosts;
    this.#timer = setInterval(() => this.#sample(), 100);
    this.#sample();
  }

  #sample(): void {
    for (const { pid } of this.#hosts) {
      try {
        const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
        this.#peak = Math.max(this.#peak, pages * 4_096);
      } catch {
        // The process is gone, or the system has no /proc.
      }
    }
  }

  /** Megabytes. */
  stop(): number {
    this.#sample();
    clearInterval(this.#timer);
    return Math.round(this.#peak / 1_048_576);
  }
}
