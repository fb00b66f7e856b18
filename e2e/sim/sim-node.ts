/** A simulated node: an engine with its own connection to the store. It can crash, stop cleanly, and restart. */
import { hash as digest } from 'node:crypto';
import type { LoopOptions } from '../../packages/host/src/agents/loop/loop-options.ts';
import { createSupervisor } from '../../packages/host/src/agents/orchestration/supervisor.ts';
import { PromptRegistry } from '../../packages/host/src/agents/prompts/prompt-registry.ts';
import type { Engine } from '../../packages/host/src/engine/engine.ts';
import { dispatch } from '../../packages/host/src/engine/nodes/dispatch.ts';
import type { EventLoop, Sha256, UniqueId } from '../../packages/host/src/engine/ports.ts';
import { createEngine } from '../../packages/host/src/engine/stepping/runtime.ts';
import { LiveFeed } from '../../packages/host/src/log/feed/feed.ts';
import { relayNode } from '../../packages/host/test/kit/relay-node.ts';
import { VirtualClock } from '../../packages/host/test/kit/virtual-clock.ts';
import type { Complain } from './breach.ts';
import { agents, bossNode } from './coordinators.ts';
import type { StepLedger } from './sim-steps.ts';
import { StoreLine, type StoreWorld } from './sim-store.ts';

/** Short, so that takeovers happen within a few hundred steps. */
export const LEASE_MS = 6_000;

/** Above the needs of any generated workflow, except those with a smaller limit on purpose. */
const limits = { maxNodeExecutions: 60, maxRunDurationMs: null };

/** Small, so that watchers fall off the ring and have to read from the log. */
const feedLimits = { ring: { events: 8, size: 10_000 }, page: { events: 5, size: 10_000 } };

const sha256: Sha256 = (text, encoding) => digest('sha256', text, encoding);

/** Turns of the event loop that engines have asked for and not got yet. */
export interface AskedTurns {
  count: number;
}

/** An event loop on which every look at the clock takes long, so that most runs have to wait for their turn. */
function hurriedLoop(asked: AskedTurns): EventLoop {
  let elapsed = 0;
  return {
    elapsedMs: () => {
      elapsed += 3;
      return elapsed;
    },
    nextTurn: (go) => {
      asked.count += 1;
      setImmediate(() => {
        asked.count -= 1;
        go();
      });
    },
  };
}

const nobody = (): never => {
  throw new Error('Nobody acts as an agent here.');
};

/** Supervisors follow their configuration in any workflow, so they need neither models nor tools. */
const loopWorld: LoopOptions = {
  sha256,
  prompts: new PromptRegistry([]),
  models: { find: nobody },
  toolAccess: nobody,
  reasoningVerbosity: 'off',
  reasoningTokenLimit: 1,
  lowConfidence: 'ask',
  clarificationRounds: 10,
  isConformanceHost: true,
};

const supervisor = createSupervisor(loopWorld);

/** The node types of every node, besides those of the steps. */
export const nodeTypes = [relayNode, dispatch, supervisor, bossNode];

export interface NodeWorld {
  readonly store: StoreWorld;
  readonly ledger: StepLedger;
  readonly uniqueId: UniqueId;
  readonly turns: AskedTurns;
  readonly complain: Complain;
  readonly note: (text: string) => void;
  readonly time: () => number;
}

/** One process lifetime of a node, from boot to crash or stop. */
export interface Life {
  readonly name: string;
  readonly engine: Engine;
  readonly line: StoreLine;
  readonly clock: VirtualClock;
  readonly feed: LiveFeed;
  stopping: boolean;
}

export class SimNode {
  readonly name: string;
  life: Life | null = null;
  readonly #world: NodeWorld;
  #lives = 0;
  #skew = 0;

  constructor(name: string, world: NodeWorld) {
    this.name = name;
    this.#world = world;
  }

  /** Offset of this node's clock. Somebody who sets it changes no delay of a timer. */
  get skew(): number {
    return this.#skew;
  }

  set skew(ms: number) {
    this.#skew = ms;
    this.life?.clock.set(this.#world.time() + ms);
  }

  get serving(): boolean {
    return this.life !== null && !this.life.stopping;
  }

  boot(): void {
    const { store, ledger, uniqueId, turns, complain, note } = this.#world;
    this.#lives += 1;
    const name = `${this.name}${this.#lives}`;
    const line = new StoreLine(name, store);
    const clock = new VirtualClock(this.#world.time() + this.#skew);
    const engine = createEngine({
      store: line,
      clock,
      eventLoop: hurriedLoop(turns),
      uniqueId,
      sha256,
      owner: name,
      steps: ledger.steps(name),
      nodeTypes,
      performers: [ledger.performer(name), ledger.coordinator(name)],
      agents,
      limits,
      leaseMs: LEASE_MS,
      report: ({ level, event, facts, error }) => {
        note(
          `${name} reports ${level}: ${event} ${JSON.stringify(facts ?? {})} ${error instanceof Error ? error.message : ''}`,
        );
        if (level === 'error')
          complain('no run is stopped by a fault of the engine', { node: name, event, facts, error });
      },
    });
    this.life = { name, engine, line, clock, feed: new LiveFeed(line, feedLimits), stopping: false };
    note(`${name} boots`);
    engine.open().catch((error: unknown) => complain('an engine opens', { node: name, error }));
  }

  /** Drops all in-memory state. */
  crash(): void {
    const { life } = this;
    if (life === null) return;
    this.#world.note(`${life.name} crashes`);
    life.line.kill();
    life.clock.forget();
    this.#world.ledger.forget(life.name);
    this.life = null;
  }

  /** A clean shutdown. It may take as long as the accepted writes do. */
  stop(): void {
    const { life } = this;
    if (life === null || life.stopping) return;
    const { complain, note, ledger } = this.#world;
    life.stopping = true;
    note(`${life.name} stops`);
    life.engine.close().then(
      () => {
        note(`${life.name} stopped`);
        if (life.clock.waiting > 0) complain('a closed engine waits for nothing', { node: life.name });
        life.line.retire();
        ledger.forget(life.name);
        if (this.life === life) this.life = null;
      },
      (error: unknown) => complain('an engine closes', { node: life.name, error }),
    );
  }

  /** Lets the time pass for the node that has passed in the world. */
  tick(): void {
    const { life } = this;
    life?.clock.pass(this.#world.time() + this.#skew - life.clock.now());
  }
}
