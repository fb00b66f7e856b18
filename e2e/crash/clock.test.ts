/** A clock that jumps back an hour: histories keep their order, timers still fire, runs end. On a real database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../packages/host/src/engine/engine.ts';
import { createEngine } from '../../packages/host/src/engine/stepping/runtime.ts';
import { openSqliteStore, type SqliteStore } from '../../packages/host/src/log/sqlite/folder/open.ts';
import { sha256 } from '../../packages/host/src/server/compose.ts';
import { countedIds } from '../../packages/host/test/kit/counted-ids.ts';
import { VirtualClock } from '../../packages/host/test/kit/virtual-clock.ts';
import { crashWorkflows } from './crash-workflows.ts';

const HOUR_MS = 3_600_000;
const tenant = 'clock';

/** Two delays, a step between them. */
const delays = workflow('crash-delays');
const gates = workflow('crash-gates');

class ClockWorld implements AsyncDisposable {
  readonly clock = new VirtualClock(1_000 * HOUR_MS);
  readonly #folder: string;
  readonly #ids = countedIds();
  #life = 0;
  store!: SqliteStore;
  engine!: Engine;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<ClockWorld> {
    const world = new ClockWorld(await mkdtemp(join(tmpdir(), 'cairn-clock-')));
    await world.start();
    for (const definition of [delays, gates]) await world.engine.register(tenant, definition);
    return world;
  }

  async start(): Promise<void> {
    this.#life += 1;
    this.store = await openSqliteStore({ folder: this.#folder });
    this.engine = createEngine({
      store: this.store,
      clock: this.clock,
      uniqueId: this.#ids,
      sha256,
      owner: `life-${this.#life}`,
      steps: ['read', 'write', 'idempotent'].map((safety) => ({
        typeId: `crash.${safety}`,
        safety: safety as 'read' | 'write' | 'idempotent',
        run: async () => ({}),
      })),
      limits: { maxNodeExecutions: 100, maxRunDurationMs: null },
      report: () => undefined,
    });
    await this.engine.open();
  }

  async stop(): Promise<void> {
    await this.engine.close();
    await this.store.close();
  }

  async run({ id }: WorkflowDefinition): Promise<RunId> {
    return (await this.engine.start({ tenant, workflowId: id, inputs: {}, options: {} })).runId;
  }

  /** Lets time pass, step by step, until the run has this status; gives how much had to pass. */
  async passUntil(runId: RunId, status: string, stepMs: number, atMostMs: number): Promise<number> {
    for (let passed = 0; passed <= atMostMs; passed += stepMs) {
      for (let turn = 0; turn < 20; turn += 1) {
        if ((await this.engine.snapshot(tenant, runId)).status === status) return passed;
        await new Promise((resolve) => setImmediate(resolve));
      }
      this.clock.advance(stepMs);
    }
    const snapshot = await this.engine.snapshot(tenant, runId);
    expect(snapshot.status, `after ${atMostMs} ms`).toBe(status);
    return atMostMs;
  }

  /** Instants of a run's rows, in order. */
  async instants(runId: RunId): Promise<readonly number[]> {
    return (await this.store.log.read({ runId, after: -1, limit: 1_000 })).map(({ at }) => at);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const ascending = (instants: readonly number[]): readonly number[] => [...instants].sort((a, b) => a - b);

describe('a clock that jumps back an hour', () => {
  test('does not turn a history around, and a timer set before fires once its instant comes', async () => {
    await using world = await ClockWorld.open();
    const before = await world.run(delays);
    await world.passUntil(before, 'running', 1, 10);
    world.clock.set(world.clock.now() - HOUR_MS);
    await world.passUntil(before, 'completed', 10_000, HOUR_MS + 60_000);
    const instants = await world.instants(before);
    expect(instants).toEqual(ascending(instants));
  });

  test('does not hold up runs that start after it', async () => {
    await using world = await ClockWorld.open();
    const before = await world.run(delays);
    world.clock.set(world.clock.now() - HOUR_MS);
    const after = await world.run(delays);
    expect(await world.passUntil(after, 'completed', 10, 5_000)).toBeLessThan(1_000);
    expect((await world.engine.snapshot(tenant, before)).status).toBe('running');
  });

  test('while the host was down: a run that waits is answered and ends, its history in order', async () => {
    await using world = await ClockWorld.open();
    const runId = await world.run(gates);
    await world.passUntil(runId, 'waiting-approval', 10, 1_000);
    await world.stop();
    world.clock.forget();
    world.clock.set(world.clock.now() - HOUR_MS);
    await world.start();
    await world.engine.answer({ tenant, runId, nodeId: 'approve', value: { action: 'accept' } });
    await world.passUntil(runId, 'waiting-input', 10, 1_000);
    await world.engine.answer({ tenant, runId, nodeId: 'ask', value: { answers: { q1: 'late' } } });
    await world.passUntil(runId, 'completed', 10, 1_000);
    const instants = await world.instants(runId);
    expect(instants).toEqual(ascending(instants));
  });

  test('in the other direction: everything that fell due meanwhile fires', async () => {
    await using world = await ClockWorld.open();
    const runs = await Promise.all([world.run(delays), world.run(delays), world.run(delays)]);
    world.clock.set(world.clock.now() + HOUR_MS);
    for (const runId of runs) expect(await world.passUntil(runId, 'completed', 10, 5_000)).toBeLessThan(1_000);
  });
});

function workflow(id: string): WorkflowDefinition {
  return crashWorkflows.find((definition) => definition.id === id) as WorkflowDefinition;
}
