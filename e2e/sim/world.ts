/** One simulated world: two nodes, one store, clients, and a seed that decides everything that happens. */
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { countedIds } from '../../packages/host/test/kit/counted-ids.ts';
import { createRandom, type Random } from '../../packages/host/test/kit/random.ts';
import { watchingRejections } from '../../packages/host/test/kit/uncaught-rejections.ts';
import { Auditor } from './auditor.ts';
import { type Breach, Complaints } from './breach.ts';
import { Clients, TENANT } from './clients.ts';
import { type Coverage, type Interesting, newCoverage } from './coverage.ts';
import { LeaseWatch } from './lease-watch.ts';
import { Misfortune } from './misfortune.ts';
import { drawProfile, kindProfile, type Profile } from './profile.ts';
import { checkRedecisions } from './redecision.ts';
import { Schedule } from './schedule.ts';
import { type AskedTurns, LEASE_MS, type Life, SimNode } from './sim-node.ts';
import { StepLedger } from './sim-steps.ts';
import { oneAtATime, type StoreWorld } from './sim-store.ts';
import { Trace } from './trace.ts';
import { drawWorkflow } from './workflows.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly steps: number;
  /** Receives every line of the trace. */
  readonly sink?: ((line: string) => void) | undefined;
}

export interface WorldResult {
  readonly seed: number;
  readonly steps: number;
  readonly trace: string;
  readonly rows: number;
  readonly runs: number;
  readonly coverage: Coverage;
  readonly breach: (Breach & { readonly step: number; readonly last: readonly string[] }) | null;
}

const START = Date.UTC(2030, 0, 1);
/** Maximum rounds of the fault-free phase to bring every run to its end. A tenth of it is ample. */
const KIND_ROUNDS = 6_000;
const WORKFLOWS = 3;
/**
 * Leases it may take to notice that a run has ended. A lease that a dead node took with its clock 40 seconds ahead lasts
 * for 46 seconds, and a mailbox waits for up to 5 seconds before it reads again.
 */
const PATIENCE = 9;

/** An engine that asks for more turns in one instant has no end in sight. */
const MAX_TURNS = 1_000;

/** Runs everything that is ready in the process. This is the only real wait. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function simulate(options: WorldOptions): Promise<WorldResult> {
  const world = new World(options);
  return watchingRejections(world.uncaught, () => world.run());
}

class World {
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #complaints = new Complaints();
  readonly #coverage = newCoverage();
  readonly #schedule = new Schedule();
  readonly #store: StoreWorld;
  readonly #auditor: Auditor;
  readonly #ledger: StepLedger;
  readonly #nodes: readonly SimNode[];
  readonly #clients: Clients;
  readonly #profile: Profile;
  readonly #misfortune: Misfortune;
  readonly #turns: AskedTurns = { count: 0 };
  #time = START;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#trace = new Trace(options.sink);
    this.#random = createRandom(options.seed);
    const profile = drawProfile(this.#random.fork('profile'));
    const { complain } = this.#complaints;
    const count = (name: Interesting): void => {
      this.#coverage[name] += 1;
    };
    const note = (text: string): void => this.#trace.write(text);
    const base = inMemoryStore({ onFault: (error) => complain('a listener does not throw', { error }) });
    const leases = new LeaseWatch(complain, count, (owner) => this.#nodes.some((node) => node.life?.name === owner));
    const common = { base, schedule: this.#schedule, leases, complain, count, note };
    this.#auditor = new Auditor({ ...common, onRow: (row) => this.#clients.onRow(row) });
    const random = (label: string): Random => this.#random.fork(label);
    this.#store = {
      ...common,
      forks: this.#auditor.forks,
      random: random('store'),
      inOrder: oneAtATime(),
      profile: kindProfile(profile),
      diskFull: false,
    };
    const audit = this.#auditor.runs.get.bind(this.#auditor.runs);
    const isReplay = this.#auditor.forks.isReplay.bind(this.#auditor.forks);
    this.#ledger = new StepLedger({ ...common, random: random('steps'), audit, isReplay });
    const uniqueId = countedIds();
    const nodeWorld = {
      ...{ ...common, store: this.#store, ledger: this.#ledger, uniqueId, turns: this.#turns },
      time: () => this.#time,
    };
    this.#nodes = ['a', 'b'].map((name) => new SimNode(name, nodeWorld));
    const workflowIds = Array.from({ length: WORKFLOWS }, (_, i) => `wf-${i}`);
    const { runs } = profile;
    const isUpToDate = (life: string): boolean => !this.#schedule.has('notice', life);
    const outside = { auditor: this.#auditor, isUpToDate, workflowIds, runs };
    this.#clients = new Clients({ ...common, random: random('clients'), ...outside });
    this.#profile = profile;
    this.#misfortune = new Misfortune({
      ...{ profile, count, note, random: random('misfortune'), nodes: this.#nodes, store: this.#store },
      crashed: (life) => this.#clients.forget(life),
      stops: (life) => this.#clients.streams.forget(life),
    });
  }

  /** An uncaught rejection would end a real process. */
  readonly uncaught = (error: unknown): void => this.#complaints.complain('no rejection is left uncaught', { error });

  async run(): Promise<WorldResult> {
    const { steps } = this.#options;
    await this.#begin();
    this.#store.profile = this.#profile;
    while (this.#trace.step < steps && this.#complaints.first === null) {
      this.#trace.step += 1;
      this.#step();
      await settle();
    }
    if (this.#complaints.first === null) await this.#end();
    const { first } = this.#complaints;
    let rows = 0;
    for (const run of this.#auditor.runs.values()) rows += run.rows.length;
    return {
      seed: this.#options.seed,
      steps: this.#trace.step,
      trace: this.#trace.digest(),
      rows,
      runs: this.#auditor.runs.size,
      coverage: this.#coverage,
      breach: first === null ? null : { ...first, step: this.#trace.step, last: [...this.#trace.last] },
    };
  }

  async #begin(): Promise<void> {
    for (const node of this.#nodes) node.boot();
    await settle();
    const random = this.#random.fork('workflows');
    for (let i = 0; i < WORKFLOWS; i += 1) {
      const below = Array.from({ length: WORKFLOWS - 1 - i }, (_, k) => `wf-${i + 1 + k}`);
      const definition = drawWorkflow(random, `wf-${i}`, below);
      this.#trace.write(`workflow ${JSON.stringify(definition)}`);
      const life = this.#nodes[0]?.life;
      await life?.engine
        .register(TENANT, definition)
        .catch((error: unknown) => this.#complaints.complain('a legal workflow registers', { definition, error }));
    }
    await settle();
  }

  #step(): void {
    if (this.#misfortune.strike()) return;
    const random = this.#random;
    const profile = this.#profile;
    const due = this.#lives().filter(({ clock }) => clock.due().length > 0);
    const choice = random.weighted({
      write: Math.min(this.#schedule.count('write'), 3) * 2,
      reply: Math.min(this.#schedule.count('reply'), 2) * 2,
      notice: Math.min(this.#schedule.count('notice'), 2),
      step: Math.min(this.#schedule.count('step'), 3),
      timer: due.length * 2,
      time: profile.timeWeight,
      client: profile.clientWeight,
    });
    switch (choice) {
      case 'timer':
        this.#fire(random.pick(due));
        return;
      case 'time':
        this.#advance();
        return;
      case 'client':
        this.#clients.act(this.#serving());
        return;
      case null:
        return;
      default: {
        const pending = this.#schedule.take(choice, random);
        if (pending === null) return;
        this.#trace.write(`${pending.life} ${pending.label}`);
        pending.happen();
      }
    }
  }

  #fire({ name, clock }: Life): void {
    const wake = this.#random.pick(clock.due());
    this.#trace.write(`${name} wakes for ${wake.at}`);
    clock.fire(wake);
  }

  #advance(): void {
    const random = this.#random;
    const next = this.#nextWake();
    const how = random.weighted({ next: next === null ? 0 : 7, little: 2, far: 1 });
    if (how === 'next' && next !== null) this.#moveTo(next);
    else this.#moveTo(this.#time + (how === 'little' ? random.between(1, 50) : random.between(500, LEASE_MS * 2)));
  }

  /** The earliest time, on the world's clock, at which a node wants to be woken. */
  #nextWake(): number | null {
    let earliest: number | null = null;
    for (const { life, skew } of this.#nodes) {
      const next = life?.clock.next() ?? null;
      if (next !== null && (earliest === null || next - skew < earliest)) earliest = next - skew;
    }
    return earliest;
  }

  #moveTo(time: number): void {
    this.#time = Math.max(this.#time, time);
    this.#trace.write(`time ${this.#time - START}`);
    for (const node of this.#nodes) node.tick();
  }

  #serving(): readonly Life[] {
    return this.#nodes.flatMap(({ serving, life }) => (serving && life !== null ? [life] : []));
  }

  #lives(): readonly Life[] {
    return this.#nodes.flatMap(({ life }) => (life === null ? [] : [life]));
  }

  /**
   * Starts the fault-free phase: nothing fails, questions are answered, time passes. Every run must now end by itself.
   */
  async #end(): Promise<void> {
    this.#trace.write('the world becomes kind');
    this.#store.profile = kindProfile(this.#profile);
    this.#store.diskFull = false;
    for (const node of this.#nodes) {
      if (node.life !== null) node.life.line.cutOff = false;
      node.skew = 0;
      if (node.life === null) node.boot();
    }
    // A node that boots asks for nothing yet. Without this, time would pass it by.
    await this.#settleAll();
    await this.#letEndsBeHeard();
    let rounds = 0;
    while (this.#complaints.first === null && !this.#allDone() && rounds < KIND_ROUNDS) {
      rounds += 1;
      this.#kindRound();
      await this.#settleAll();
    }
    const forgotten = [...this.#auditor.runs.values()].filter((run) => run.ended === null);
    const facts = { runs: forgotten.map((run) => run.runId), requests: this.#clients.waiting };
    if (!this.#allDone()) this.#complaints.complain('no run and no request is forgotten', facts);
    // Stalled watchers resume now. Everything they have left to read is available.
    this.#clients.streams.resumeAll();
    await this.#settleAll();
    await this.#auditor.checkAll(this.#random.fork('cuts'));
    const steps = this.#ledger.steps('nobody');
    await checkRedecisions(
      { base: this.#store.base, steps, complain: this.#complaints.complain },
      this.#auditor.runs.values(),
    );
    this.#clients.promises.checkAll();
    this.#clients.streams.checkAll();
    if (this.#complaints.first === null) await this.#checkMemory();
  }

  /** No time of the world passes while an engine needs several turns of the event loop for what it does. */
  async #settleAll(): Promise<void> {
    for (let turn = 0; turn === 0 || (this.#turns.count > 0 && turn < MAX_TURNS); turn += 1) await settle();
  }

  /** Answers no questions: orphaned runs must end by themselves once the leases of dead nodes expire. */
  async #letEndsBeHeard(): Promise<void> {
    const until = this.#time + PATIENCE * LEASE_MS;
    while (this.#complaints.first === null && this.#auditor.orphans().length > 0 && this.#time < until) {
      if (!this.#kindMove()) this.#moveTo(Math.min(Math.max(this.#nextWake() ?? until, this.#time + 1), until));
      await this.#settleAll();
    }
    const [orphan] = this.#auditor.orphans();
    if (orphan !== undefined) this.#complaints.complain('no run outlives what it was started for', orphan);
  }

  /** Performs the next ready operation, in order. Returns false when there is none. */
  #kindMove(): boolean {
    this.#ledger.release();
    this.#clients.streams.resumeAll();
    const pending = this.#schedule.takeOldest();
    if (pending !== null) {
      this.#trace.write(`${pending.life} ${pending.label}`);
      pending.happen();
      return true;
    }
    for (const node of this.#nodes) if (node.life === null) node.boot();
    for (const { clock } of this.#lives()) {
      const [wake] = clock.due();
      if (wake === undefined) continue;
      clock.fire(wake);
      return true;
    }
    return false;
  }

  #kindRound(): void {
    if (this.#kindMove()) return;
    const [life] = this.#serving();
    if (life !== undefined && this.#clients.waiting === 0) {
      if (this.#clients.resumeAll(life, this.#time) || this.#clients.answerAll(life, this.#time)) return;
    }
    const next = this.#nextWake();
    if (next !== null) this.#moveTo(next);
  }

  #allDone(): boolean {
    if (this.#clients.waiting > 0 || this.#schedule.size > 0) return false;
    for (const run of this.#auditor.runs.values()) if (run.ended === null) return false;
    return true;
  }

  /**
   * A node renews its session only while it holds a run, so a whole lease without a renewal means that no mailbox is
   * left.
   */
  async #checkMemory(): Promise<void> {
    for (let lease = 0; lease < PATIENCE; lease += 1) {
      for (const { life } of this.#nodes) if (life !== null) life.line.renewals = 0;
      await this.#letTimePass(LEASE_MS);
      if (this.#nodes.every(({ life }) => life === null || life.line.renewals === 0)) return;
    }
    const holding = this.#nodes.filter(({ life }) => (life?.line.renewals ?? 0) > 0).map(({ name }) => name);
    this.#complaints.complain('no mailbox is left once every run has ended', { holding });
  }

  async #letTimePass(ms: number): Promise<void> {
    const until = this.#time + ms;
    while (this.#time < until) {
      this.#moveTo(Math.max(this.#nextWake() ?? until, this.#time + 1));
      for (const { clock } of this.#lives()) for (const wake of clock.due()) clock.fire(wake);
      await this.#settleAll();
    }
  }
}
