import { hash } from 'node:crypto';
import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import { callIdOf } from '../../../test/kit/payload-ids.ts';
import { present } from '../../../test/kit/present.ts';
import type { Store } from '../../log/ports/store.ts';
import { createLoadView } from '../loading/run-view.ts';
import type { CrashRecord, Death, OperatorNotice, Step } from '../ports.ts';
import { createEngine } from './runtime.ts';

/** A crash record in memory, and what the engine told it. */
function crashes(deaths: readonly Death[] = []) {
  const marks: string[] = [];
  const survived: string[] = [];
  const forgotten: RunId[] = [];
  let isMarked = false;
  const record: CrashRecord = {
    deaths: () => deaths,
    deciding: (_, causes) => {
      marks.push(causes.join());
      isMarked = true;
    },
    composed: () => {
      isMarked = false;
    },
    decided: (_, causes) => void survived.push(causes.join()),
    forget: (runId) => void forgotten.push(runId),
  };
  return { record, marks, survived, forgotten, isMarked: () => isMarked };
}

function restarted(
  { store, clock }: Pick<ReturnType<typeof bench>, 'store' | 'clock'>,
  record: CrashRecord,
  { steps = [], over = store }: { readonly steps?: readonly Step[]; readonly over?: Store } = {},
) {
  const notices: OperatorNotice[] = [];
  const engine = createEngine({
    store: over,
    clock,
    crashes: record,
    uniqueId: () => 'unused',
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: 'next',
    steps,
    limits: { maxNodeExecutions: 1_000, maxRunDurationMs: null },
    report: (notice) => void notices.push(notice),
    leaseMs: 10_000,
  });
  return { engine, notices, events: () => notices.map(({ event }) => event) };
}

const died = (runId: RunId, count: number, cause = ''): Death => ({ runId, cause, count });

test('a run in which the process died once is decided before any other run is claimed', async () => {
  const host = bench();
  const suspect = await host.begin(host.node('dead', [heldStep('work').step]), chain('local.step.work'));
  await host.begin(host.node('dead', [heldStep('work').step]), chain('local.step.work'));
  host.clock.advance(10_001);
  const order: string[] = [];
  const over: Store = {
    ...host.store,
    log: {
      ...host.store.log,
      append: (append) => {
        order.push(append.runId === suspect ? 'suspect' : 'other');
        return host.store.log.append(append);
      },
    },
    queue: {
      ...host.store.queue,
      claim: (request) => {
        order.push('claim');
        return host.store.queue.claim(request);
      },
    },
  };
  const { record, survived } = crashes([died(suspect, 1)]);
  const { engine, events } = restarted(host, record, { steps: [heldStep('work').step], over });
  await engine.open();
  await settled();
  expect(order.slice(0, 2)).toEqual(['suspect', 'claim']);
  expect(order).toContain('other');
  expect(events()).toEqual(['run.suspected']);
  expect(survived[0]).toBe('');
});

test('a decision is marked while its rows are made, and no longer when they are written', async () => {
  const host = bench();
  const { record, marks, isMarked } = crashes();
  const atAppend: boolean[] = [];
  const append: Store['log']['append'] = (rows) => {
    atAppend.push(isMarked());
    return host.store.log.append(rows);
  };
  const work = heldStep('work');
  const over = { ...host.store, log: { ...host.store.log, append } };
  const { engine } = restarted(host, record, { steps: [work.step], over });
  const run = await host.begin(engine, chain('local.step.work'));
  (await work.called(1)).resolve(null);
  await host.seen(run, 'run.completed');
  expect(marks.length).toBeGreaterThan(0);
  expect(new Set(atAppend)).toEqual(new Set([false]));
});

test('a run in which the process died twice fails without being loaded, and the others go on', async () => {
  const host = bench();
  const { begin, types, seen, clock, store } = host;
  const other = heldStep('work');
  const bad = await begin(host.node('dead', [heldStep('work').step]), chain('core.noop', 'local.step.work'));
  const flow = { ...chain('local.step.work'), id: 'other' };
  const good = await begin(host.node('dead', [heldStep('work').step]), flow);
  const before = await types(bad);
  clock.advance(10_001);
  const { record, forgotten, marks } = crashes([died(bad, 2)]);
  const { engine, notices } = restarted(host, record, { steps: [other.step] });
  await engine.open();
  (await other.called(1)).resolve(null);
  await seen(good, 'run.completed');
  expect(await types(bad)).toEqual([...before, 'run.failed']);
  const head = present(await store.log.head(bad));
  expect(head.record).toMatchObject({ status: 'failed', errorCode: 'run_quarantined' });
  expect(head.owner).toBeNull();
  expect(forgotten).toEqual([bad]);
  expect(notices).toEqual([{ level: 'error', event: 'run.quarantined', facts: { runId: bad, tenant: 't' } }]);
  expect(other.calls).toHaveLength(1);
  expect(marks.length).toBeGreaterThan(0);
});

test('the snapshot of a quarantined run shows how it started and ended, and folds nothing between', async () => {
  const host = bench();
  const { begin, clock, store, types } = host;
  const steps = [heldStep('work').step];
  const bad = await begin(host.node('dead', steps), chain('core.noop', 'local.step.work'));
  clock.advance(10_001);
  const read: number[] = [];
  const over: Store = {
    ...store,
    log: {
      ...store.log,
      read: async (range) => {
        const rows = await store.log.read(range);
        read.push(rows.length);
        return rows;
      },
    },
  };
  const { engine } = restarted(host, crashes([died(bad, 2)]).record, { steps, over });
  await engine.open();
  read.length = 0;
  expect(await engine.snapshot('t', bad)).toMatchObject({
    runId: bad,
    status: 'failed',
    workflowId: 'flow',
    error: { code: 'run_quarantined' },
  });
  expect(await createLoadView(over)(bad)).toMatchObject({ status: 'failed', lastSeq: (await types(bad)).length - 1 });
  expect(read).toEqual([1, 1, 1, 1]);
  expect(await engine.cancel({ tenant: 't', runId: bad })).toEqual({ status: 'failed' });
});

test('a run that ended in spite of its deaths is only forgotten', async () => {
  const host = bench();
  const ended = await host.begin(host.node('dead'), chain('core.noop'));
  const before = await host.types(ended);
  const { record, forgotten } = crashes([died(ended, 2), died('run_unknown' as RunId, 2)]);
  const { engine, notices } = restarted(host, record);
  await engine.open();
  expect(await host.types(ended)).toEqual(before);
  expect(forgotten).toEqual([ended, 'run_unknown']);
  expect(notices).toEqual([]);
});

test('each decision is marked with the call whose result it handles, and not before the run exists', async () => {
  const host = bench();
  const held = heldStep('work');
  const { record, marks, survived } = crashes();
  const { engine } = restarted(host, record, { steps: [held.step] });
  const runId = await host.begin(engine, chain('local.step.work', { typeId: 'core.delay', config: { delayMs: 5 } }));
  expect(marks).toEqual([]);
  (await held.called(1)).resolve(null);
  await host.seen(runId, 'cairn.timer.set');
  host.clock.advance(5);
  await host.seen(runId, 'run.completed');
  await settled();
  expect(marks).toEqual([callIdOf(runId, 'n1#0'), '']);
  expect(survived.slice(-2)).toEqual([callIdOf(runId, 'n1#0'), '']);
});

test('the parent of a quarantined run is woken in the same append', async () => {
  const host = bench();
  const { begin, store, clock } = host;
  const runId = await begin(host.node('dead', [heldStep('work').step]), chain('local.step.work'));
  const parent = await begin(host.node('dead'), { ...chain('core.approvalGate'), id: 'parent' });
  clock.advance(10_001);
  const wakes: unknown[] = [];
  const over: Store = {
    ...store,
    log: {
      ...store.log,
      head: async (id) => {
        const head = await store.log.head(id);
        if (head === null || id !== runId) return head;
        return { ...head, record: { ...head.record, parentRunId: parent } };
      },
      append: (append) => {
        wakes.push(append.wakes);
        return store.log.append(append);
      },
    },
  };
  const { engine } = restarted(host, crashes([died(runId, 2)]).record, { over });
  await engine.open();
  expect(wakes[0]).toEqual([{ runId: parent, at: clock.now() }]);
});
