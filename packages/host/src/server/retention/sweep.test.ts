/** The rules of retention, applied to runs of several tenants and workflows. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { emptyStore } from '../../log/empty-store.kit.ts';
import { childOf } from '../../log/ports/memory-samples.kit.ts';
import { creation, row, started } from '../../log/ports/samples.kit.ts';
import type { Store } from '../../log/ports/store.ts';
import { Meter } from '../../telemetry/meter.ts';
import { TreePurger } from './purger.ts';
import type { RetentionRule } from './rules.ts';
import { startRetention, sweep, sweepBlobs } from './sweep.ts';

const DAY = 86_400_000;
const NOW = 100 * DAY;

interface Sample {
  readonly tenant?: string;
  readonly workflowId?: string;
  /** Days since its end; null for a run that has not ended. */
  readonly age: number | null;
}

async function filled(samples: Readonly<Record<string, Sample>>): Promise<Store> {
  const store = await emptyStore();
  for (const [name, { tenant = 't', workflowId = 'wf', age }] of Object.entries(samples)) {
    const runId = `run_${name}` as RunId;
    const at = NOW - (age ?? 50) * DAY;
    const end = age === null ? [] : [row('run.completed', { at })];
    const create = { tenant, contextId: `ctx_${name}` as ContextId, originRunId: runId };
    await store.log.append(creation(runId, { rows: [started({ workflowId }, at), ...end], create }));
  }
  return store;
}

/** Pauses end at once; the next sweep never begins. */
const timers = {
  after: (ms: number, wake: () => void) => {
    if (ms < 100) queueMicrotask(wake);
    return () => {};
  },
};

function portsOf(store: Store) {
  const removed: string[] = [];
  const recorder = new Meter();
  const world = { timers, now: () => NOW, recorder };
  const removeFiles = async (runId: RunId) => void removed.push(runId);
  const purger = new TreePurger({ ...store, removeFiles, ...world });
  return { ports: { store, purger, report: () => undefined, ...world }, removed };
}

async function left(store: Store): Promise<string> {
  const names: string[] = [];
  for (const tenant of ['t', 'u']) {
    for (const { runId } of (await store.runIndex.list({ tenant, limit: 99 })).runs) names.push(runId.slice(4));
  }
  return names.sort().join(' ');
}

const samples = {
  a: { age: 40 },
  b: { age: 20 },
  c: { age: 5 },
  d: { age: 30, workflowId: 'audit' },
  e: { age: 90, workflowId: 'audit' },
  f: { age: 40, tenant: 'u' },
  g: { age: null },
};

test.each<[string, readonly RetentionRule[], string]>([
  ['no rules', [], 'a b c d e f g'],
  ['an age', [{ afterDays: 30 }], 'b c g'],
  ['a count, for each tenant and workflow', [{ keepLast: 1 }], 'c e f g'],
  ['one of both', [{ afterDays: 10, keepLast: 2 }], 'c g'],
  ['a workflow before the others', [{ workflow: 'audit', afterDays: 60 }, { afterDays: 10 }], 'c d g'],
  ['a tenant', [{ tenant: 'u', afterDays: 0 }], 'a b c d e g'],
  ['a rule that matches first and keeps', [{ tenant: 't', keepLast: 9 }, { afterDays: 0 }], 'a b c d e g'],
  ['nothing kept', [{ keepLast: 0 }], 'g'],
])('%s', async (_, rules, expected) => {
  const store = await filled(samples);
  const { ports, removed } = portsOf(store);
  const swept = await sweep(rules, ports);
  expect(await left(store)).toBe(expected);
  expect([swept.trees, swept.kept]).toEqual([removed.length, 0]);
  expect(await sweep(rules, ports)).toMatchObject({ trees: 0 });
});

test('a tree goes whole with its root; one with an active run stays, and is counted', async () => {
  const store = await filled({ a: { age: 40 }, b: { age: 40 } });
  const [a, b] = ['run_a', 'run_b'] as [RunId, RunId];
  const end = row('run.completed', { at: NOW });
  await store.log.append({ ...childOf(a, 'run_a.1' as RunId), rows: [started({}, NOW), end] });
  await store.log.append({ ...childOf(b, 'run_b.1' as RunId), rows: [started({}, NOW)] });
  const { ports, removed } = portsOf(store);
  expect(await sweep([{ afterDays: 10 }], ports)).toMatchObject({ trees: 1, runs: 2, kept: 1 });
  expect(removed).toEqual(['run_a', 'run_a.1']);
  expect(await left(store)).toBe('b b.1');
  const kept = ports.recorder.read().find(({ instrument }) => instrument.name === 'cairn.retention.kept');
  expect(kept?.points[0]?.value).toBe(1);
});

test('a run whose events a fork shares stays until the fork goes, and with force the fork says what it lost', async () => {
  const store = await filled({ a: { age: 40 }, b: { age: 40 } });
  const [source, fork] = ['run_a', 'run_f'] as [RunId, RunId];
  const identity = { tenant: 't', contextId: 'ctx_f' as ContextId, originRunId: source };
  const of = { sourceRunId: source, fromSeq: 1, mode: 'branch' } as const;
  await store.log.fork({ ...identity, runId: fork, fork: of, at: NOW });
  await store.log.append({ runId: fork, rows: [row('run.completed', { at: NOW })] });
  const { ports } = portsOf(store);
  expect(await sweep([{ afterDays: 10 }], ports)).toMatchObject({ trees: 1, kept: 1 });
  expect(await left(store)).toBe('a f');
  const record = (await store.log.head(source))?.record;
  if (record === undefined) throw new Error('The source is gone.');
  await expect(ports.purger.purge(record, false)).rejects.toMatchObject({
    code: 'conflict',
    details: { forks: [fork] },
  });
  expect(await ports.purger.purge(record, true)).toMatchObject({ runs: 1, forks: [fork] });
  await expect(store.log.read({ runId: fork, after: -1, limit: 9 })).rejects.toMatchObject({ code: 'run_purged' });
  expect(await store.log.read({ runId: fork, after: 0, limit: 9 })).toMatchObject([{ seq: 1 }]);
  const again = { ...of, sourceRunId: fork };
  const refork = { ...identity, contextId: 'ctx_g' as ContextId, runId: 'run_g' as RunId, fork: again, at: NOW };
  await expect(store.log.fork(refork)).rejects.toMatchObject({ code: 'replay_memory_snapshot_unavailable' });
  await expect(store.log.fork({ ...refork, fork: of })).rejects.toMatchObject({
    code: 'replay_memory_snapshot_unavailable',
    details: { sourceRunId: source, fromSeq: 1, reason: 'retention_expired' },
  });
});

test('an active fork keeps its source, also from force', async () => {
  const store = await filled({ a: { age: 40 } });
  const source = 'run_a' as RunId;
  const of = { sourceRunId: source, fromSeq: 1, mode: 'branch' } as const;
  const fork = { tenant: 't', contextId: 'ctx_f' as ContextId, originRunId: source, runId: 'run_f' as RunId };
  await store.log.fork({ ...fork, fork: of, at: NOW });
  const record = (await store.log.head(source))?.record;
  if (record === undefined) throw new Error('The source is gone.');
  const { ports } = portsOf(store);
  await expect(ports.purger.purge(record, true)).rejects.toMatchObject({ hint: expect.stringContaining('Cancel') });
});

test('goes on after a start with what an earlier process began, even without rules', async () => {
  const store = await filled({ a: { age: 40 }, b: { age: 1 } });
  await store.purges.retire('run_a' as RunId, NOW);
  const { ports, removed } = portsOf(store);
  const told: unknown[] = [];
  await new Promise<void>((resolve) => {
    const report = ({ facts }: { readonly facts?: object }) => {
      told.push(facts);
      resolve();
    };
    startRetention([], {
      ...ports,
      report,
    });
  });
  expect(told).toEqual([{ trees: 0, runs: 0, bytes: 0, kept: 0, resumed: 1, releasedBytes: 0 }]);
  expect(removed).toEqual(['run_a']);
  expect(await store.purges.unfinished(9)).toEqual([]);
});

test('a round removes blobs that no event names, and leaves those of the last hour', async () => {
  const store = await emptyStore();
  const put = (text: string, at: number) => store.blobs.put({ tenant: 't', bytes: new TextEncoder().encode(text), at });
  const [old, young] = [await put('old', NOW - 2 * 3_600_000), await put('young', NOW - 1)];
  const { ports } = portsOf(store);
  await sweepBlobs(ports, () => false);
  expect(await store.blobs.get('t', old.sha256)).toBeNull();
  expect(await store.blobs.get('t', young.sha256)).not.toBeNull();
});
