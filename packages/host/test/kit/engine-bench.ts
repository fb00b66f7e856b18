/** Engines over one store with a virtual clock, steps that the test completes, and append failures on demand. */
import { hash } from 'node:crypto';
import type { Json, JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { RetryableError } from '@cairn/protocol';
import type { HostLimits } from '../../src/engine/core/limits.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Redactor, Step, StepContext, StepSafety } from '../../src/engine/ports.ts';
import { createEngine } from '../../src/engine/stepping/runtime.ts';
import { inMemoryStore } from '../../src/log/in-memory/store.ts';
import type { Append } from '../../src/log/ports/event-log.ts';
import type { Row } from '../../src/log/ports/rows.ts';
import type { Store } from '../../src/log/ports/store.ts';
import { present } from './present.ts';
import { rowsOf } from './rows-of.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A step whose calls wait until the test resolves or rejects them. */
export function heldStep(name: string, safety: StepSafety = 'read') {
  const calls: { input: JsonObject; context: StepContext; resolve(value: Json): void; reject(error: unknown): void }[] =
    [];
  const waiting: (() => void)[] = [];
  const step: Step = {
    typeId: `local.step.${name}`,
    safety,
    run: (input, context) =>
      new Promise((resolve, reject) => {
        calls.push({ input, context, resolve, reject });
        for (const wake of waiting.splice(0)) wake();
      }),
  };
  const called = async (count: number) => {
    while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return present(calls[count - 1]);
  };
  return { step, calls, called };
}

export function chain(
  ...typeIds: readonly (string | { typeId: string; config?: JsonObject; settings?: JsonObject })[]
) {
  const nodes = typeIds.map((entry, i) => {
    const { typeId, config = {}, settings } = typeof entry === 'string' ? { typeId: entry } : entry;
    const node = { id: `n${i + 1}`, typeId, name: `n${i + 1}`, position: { x: i, y: 0 }, config, inputs: {} };
    return settings === undefined ? node : { ...node, settings };
  });
  const edges = nodes.slice(1).map((node, i) => ({
    id: `e${i + 1}`,
    sourceNodeId: present(nodes[i]).id,
    targetNodeId: node.id,
  }));
  const definition: WorkflowDefinition = {
    id: 'flow',
    name: 'flow',
    version: '1',
    nodes,
    edges,
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
  return definition;
}

interface Bench {
  readonly store: Store;
  readonly clock: VirtualClock;
  node(owner: string, steps?: readonly Step[], over?: Store, redactor?: Redactor): Engine;
  begin(engine: Engine, definition: WorkflowDefinition): Promise<RunId>;
  rows(runId: RunId): Promise<readonly Row[]>;
  types(runId: RunId): Promise<readonly string[]>;
  /** Resolves once the run has `count` rows of this type. */
  seen(runId: RunId, type: string, count?: number): Promise<void>;
}

/** `limits` replace those of the host. */
export function bench(store: Store = inMemoryStore(), limits: Partial<HostLimits> = {}): Bench {
  const clock = new VirtualClock(1_000_000);
  let ids = 0;
  const rows = (runId: RunId) => rowsOf(store, runId);
  const types = async (runId: RunId) => (await rows(runId)).map((row) => row.type);
  return {
    store,
    clock,
    rows,
    types,
    node: (owner, steps = [], over = store, redactor) =>
      createEngine({
        store: over,
        clock,
        uniqueId: () => String(++ids),
        sha256: (text, encoding) => hash('sha256', text, encoding),
        owner,
        steps,
        limits: { maxNodeExecutions: 1_000, maxRunDurationMs: null, ...limits },
        report: () => undefined,
        leaseMs: 10_000,
        redactor: redactor ?? null,
      }),
    async begin(engine, definition) {
      await engine.register('t', definition);
      const { runId } = await engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: {} });
      return runId;
    },
    async seen(runId, type, count = 1) {
      const there = async () => (await types(runId)).filter((seen) => seen === type).length >= count;
      const found = Promise.withResolvers<void>();
      const stop = store.log.follow(() => void there().then((yes) => yes && found.resolve()));
      if (!(await there())) await found.promise;
      stop();
    },
  };
}

/** Resolves when all work has run that needs no time to pass and no step to return. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Wraps a store so that the test decides the result of each append. */
export function faulty(store: Store, fault: (append: Append) => 'pass' | 'fail' | 'lose-answer'): Store {
  const append = async (request: Append) => {
    const what = fault(request);
    if (what === 'fail') throw new RetryableError('store_failed', { message: 'no' });
    const appended = await store.log.append(request);
    if (what === 'lose-answer') throw new RetryableError('store_failed', { message: 'lost' });
    return appended;
  };
  return { ...store, log: { ...store.log, append } };
}
