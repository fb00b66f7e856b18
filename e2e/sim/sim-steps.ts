/** Steps whose functions end when the scheduler decides, and a ledger of every entry into them. */
import { type Json, type JsonObject, RetryableError, type RunId, TerminalError } from '@cairn/protocol';
import { COORDINATOR_PERFORMER } from '../../packages/host/src/engine/performer-ids.ts';
import type { CallContext, Performer, Step, StepContext, StepSafety } from '../../packages/host/src/engine/ports.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { Complain } from './breach.ts';
import { drawVerdict } from './coordinators.ts';
import type { Interesting } from './coverage.ts';
import type { LeaseWatch } from './lease-watch.ts';
import type { RunAudit } from './run-audit.ts';
import type { Pending, Schedule } from './schedule.ts';

export const safeties = ['pure', 'read', 'write', 'idempotent'] as const satisfies readonly StepSafety[];

/** The behaviour of a step's function, passed as its input `behaviour`. */
export const behaviours = ['quick', 'slow', 'flaky', 'fails', 'throws', 'hangs', 'deaf'] as const;
export type Behaviour = (typeof behaviours)[number];

export const stepTypeId = (safety: StepSafety): string => `sim.${safety}`;

export interface StepWorld {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly leases: LeaseWatch;
  readonly audit: (runId: RunId) => RunAudit | undefined;
  readonly isReplay: (runId: RunId) => boolean;
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
  readonly note: (text: string) => void;
}

/** Every entry into a step's function, over all lives of all nodes. */
export class StepLedger {
  readonly #entered = new Map<string, Set<number>>();
  readonly #world: StepWorld;
  #hanging: Pending[] = [];

  constructor(world: StepWorld) {
    this.#world = world;
  }

  /** The steps for one life of a node. */
  steps(life: string): readonly Step[] {
    return safeties.map((safety) => ({
      typeId: stepTypeId(safety),
      safety,
      run: (input, context) => this.#enter(life, safety, input, context),
    }));
  }

  /** Performs the calls of driven nodes, for one life of a node. */
  performer(life: string): Performer {
    return {
      typeId: 'cairn.tool',
      run: (input, context) => {
        this.#emit(context);
        return this.#enter(life, input.safety as StepSafety, input, context);
      },
    };
  }

  /** Asks the agent of a run above, for one life of a node. */
  coordinator(life: string): Performer {
    return {
      typeId: COORDINATOR_PERFORMER,
      run: async (input, context) => {
        const { random, count } = this.#world;
        count('question put to an agent above');
        const behaviour = random.pick<Behaviour>(['quick', 'slow', 'slow', 'fails', 'deaf']);
        const verdict = drawVerdict(input, context.callId, random);
        await this.#enter(life, 'idempotent', { behaviour }, context);
        return verdict;
      },
    };
  }

  /** Lets hanging steps end. */
  release(): void {
    for (const pending of this.#hanging.splice(0)) this.#world.schedule.add(pending);
  }

  forget(life: string): void {
    this.#hanging = this.#hanging.filter((pending) => pending.life !== life);
  }

  /** Emits progress, which must neither get lost nor follow the result. */
  #emit(context: CallContext): void {
    const { random, count } = this.#world;
    for (let i = random.below(4); i > 0; i -= 1) {
      count('call emitted');
      context.emit([{ type: 'cairn.tool.progress', payload: { callId: context.callId, progress: 0.5 } }]);
    }
  }

  #enter(life: string, safety: StepSafety, input: JsonObject, context: StepContext): Promise<Json> {
    this.#check(life, safety, context);
    const { random, note } = this.#world;
    const behaviour = input.behaviour as Behaviour;
    note(`${life} enters ${context.runId} ${context.callId} attempt ${context.attempt} (${safety}, ${behaviour})`);
    const fails = behaviour === 'fails' || (behaviour === 'flaky' && random.chance(0.6));
    if (behaviour === 'throws') throw new Error('thrown before the first await');
    if (behaviour === 'quick') return Promise.resolve({ value: random.below(4), call: context.callId });
    return new Promise<Json>((resolve, reject) => {
      const pending: Pending = {
        kind: 'step',
        life,
        label: `step ${context.runId} ${context.callId}#${context.attempt}`,
        happen: () => {
          this.#returned(life, context);
          if (fails) reject(failure(behaviour));
          else resolve({ value: random.below(4), call: context.callId });
        },
      };
      if (behaviour === 'hangs') this.#hanging.push(pending);
      else this.#world.schedule.add(pending);
      context.signal.addEventListener('abort', () => this.#aborted(behaviour, pending, reject));
    });
  }

  #aborted(behaviour: Behaviour, pending: Pending, reject: (error: unknown) => void): void {
    if (!this.#hanging.includes(pending) && !this.#world.schedule.holds(pending)) return;
    this.#world.count('step aborted');
    // A deaf step continues regardless. Its result must then have no effect.
    if (behaviour === 'deaf') return;
    this.#hanging = this.#hanging.filter((other) => other !== pending);
    this.#world.schedule.remove(pending);
    reject(new Error('aborted'));
  }

  #returned(life: string, context: StepContext): void {
    const holder = this.#world.leases.holder(context.runId);
    if (holder !== life) this.#world.count('step returned after its node lost the lease');
  }

  #check(life: string, safety: StepSafety, { runId, callId, attempt }: StepContext): void {
    const { complain, leases, count } = this.#world;
    const where = { life, runId, callId, attempt, safety };
    if (this.#world.isReplay(runId)) complain('a replay performs nothing', where);
    const run = this.#world.audit(runId);
    const call = run?.calls.get(callId);
    if (run === undefined || call === undefined || call.attempt < attempt) {
      complain('an effect starts only after its request is durable', where);
      return;
    }
    const entries = this.#entered.get(`${runId} ${callId}`) ?? new Set<number>();
    this.#entered.set(`${runId} ${callId}`, entries);
    if (entries.has(attempt)) complain('an attempt is entered once', where);
    const holds = leases.holder(runId) === life;
    if (!holds) count('step entered by a node that lost the lease');
    const over = call.done || (call.returned && call.attempt === attempt);
    if (over && holds) complain('an attempt with a result is not entered again', where);
    // Entries without a recorded outcome may have taken effect. Only a person may allow such a write to run again.
    if (safety === 'write' && entries.size > call.settled) {
      complain('a write whose end is unknown is entered again only after a human said so', where);
    }
    entries.add(attempt);
  }
}

const failure = (behaviour: Behaviour): Error =>
  behaviour === 'flaky'
    ? new RetryableError('node_execution_failed', { message: 'The other side was busy.' })
    : new TerminalError('node_execution_failed', { message: 'The other side said no.' });
