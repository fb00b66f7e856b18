import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OperatorNotice } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Store } from '../../log/ports/store.ts';
import { ManualTimers } from '../../server/manual-timers.kit.ts';
import { Meter } from '../meter.ts';
import { Outage } from '../outage.ts';
import { eventsOf, nodeStarted, type Said, START_AT, started } from '../run-history.kit.ts';
import { spanIdOf } from '../trace-context.ts';
import { SpanExport, type SpanSink } from './span-export.ts';
import type { RunSpan } from './span-model.ts';

const GATHER_MS = 1_000;

/** Appends the events of a run, from a place on, each in a commit of its own. */
async function happens(store: Store, said: readonly Said[], run = 'run_a', from = 0): Promise<void> {
  const runId = run as RunId;
  for (const { seq, at, type, nodeId, payload } of eventsOf(said).slice(from)) {
    const rows = [{ at, type, nodeId, audience: 'client' as const, payload: JSON.stringify(payload), task: null }];
    const create = { tenant: 't', contextId: `ctx_${run}` as ContextId, originRunId: runId };
    await store.log.append({ runId, rows, ...(seq === 0 ? { create } : {}) });
  }
}

const whole: readonly Said[] = [
  started(),
  nodeStarted('a'),
  ['node.completed', { nodeId: 'a' }, 10],
  ['run.completed', {}, 5],
];

interface Exporting {
  readonly export: SpanExport;
  readonly taken: RunSpan[];
  readonly timers: ManualTimers;
  readonly notices: OperatorNotice[];
  readonly meter: Meter;
  /** How many times the collector was asked. */
  readonly asked: () => number;
}

interface ExportingOptions {
  readonly share?: number;
  readonly maxOpenNodes?: number;
  readonly now?: () => number;
  readonly answer?: (spans: readonly RunSpan[], time: number) => ReturnType<SpanSink>;
}

function exporting(store: Store, options: ExportingOptions = {}): Exporting {
  const taken: RunSpan[] = [];
  const timers = new ManualTimers();
  const notices: OperatorNotice[] = [];
  const meter = new Meter();
  let asked = 0;
  const { answer = async () => 'taken' as const } = options;
  const sink: SpanSink = async (spans) => {
    asked += 1;
    const said = await answer(spans, asked);
    if (said === 'taken') taken.push(...spans);
    return said;
  };
  const spans = new SpanExport({
    store,
    sink,
    share: options.share ?? 1,
    ...(options.maxOpenNodes !== undefined && { maxOpenNodes: options.maxOpenNodes }),
    outage: new Outage({ signal: 'spans', endpoint: 'http://collector' }, (notice) => void notices.push(notice)),
    recorder: meter,
    timers,
    now: options.now ?? (() => START_AT + 1_000),
  });
  onTestFinished(() => spans.close());
  return { export: spans, taken, timers, notices, meter, asked: () => asked };
}

/** Lets everything happen that does not wait for time. */
const settled = async () => {
  for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Lets the time pass in which commits gather. */
async function gathered({ timers }: Exporting): Promise<void> {
  await settled();
  timers.pass(GATHER_MS);
  await settled();
}

const names = (spans: readonly RunSpan[]) => spans.map(({ name }) => name);
const allNames = ['openwop.node.type.a.attempt', 'openwop.node.type.a', 'openwop.run'];

describe('the export of spans', () => {
  it('sends spans once they have ended, those of one gathering together', async () => {
    const store = inMemoryStore();
    const one = exporting(store);
    await settled();
    await happens(store, whole);
    await settled();
    expect(one.asked()).toBe(0);
    await gathered(one);
    expect(names(one.taken)).toEqual(allNames);
    expect(one.asked()).toBe(1);
    expect(one.notices).toEqual([]);
  });

  it('sends what of a run has ended before the run has', async () => {
    const store = inMemoryStore();
    const one = exporting(store);
    await settled();
    await happens(store, whole.slice(0, 3));
    await gathered(one);
    expect(names(one.taken)).toEqual(allNames.slice(0, 2));
    await happens(store, whole, 'run_a', 3);
    await gathered(one);
    expect(names(one.taken)).toEqual(allNames);
  });

  it('caches runs with few open nodes in all, and folds one that was forgotten again', async () => {
    const store = inMemoryStore();
    const one = exporting(store, { maxOpenNodes: 2 });
    await settled();
    const runs = ['run_a', 'run_b', 'run_c', 'run_d'];
    for (const run of runs) await happens(store, whole.slice(0, 2), run);
    await gathered(one);
    expect(one.export.cachedRuns).toBe(2);
    for (const run of runs) await happens(store, whole, run, 2);
    await gathered(one);
    expect(names(one.taken)).toEqual(runs.flatMap(() => allNames));
  });

  it('begins, the first time ever, with what comes then', async () => {
    const store = inMemoryStore();
    await happens(store, whole, 'run_before');
    const one = exporting(store);
    await settled();
    await happens(store, whole, 'run_after');
    await gathered(one);
    expect(one.taken.every(({ attributes }) => attributes['openwop.run_id'] === 'run_after')).toBe(true);
    expect(one.taken).toHaveLength(3);
  });

  it('goes on after a restart where it was, also in the middle of a run, with the same spans', async () => {
    const alone = inMemoryStore();
    const unbroken = exporting(alone);
    await settled();
    await happens(alone, whole);
    await gathered(unbroken);

    const store = inMemoryStore();
    const first = exporting(store);
    await settled();
    await happens(store, whole.slice(0, 2));
    await gathered(first);
    await first.export.close();
    await happens(store, whole, 'run_a', 2);
    const second = exporting(store);
    await settled();
    expect(first.taken).toEqual([]);
    expect(second.taken).toEqual(unbroken.taken);
  });

  it('sends again what it does not know to have arrived: at least once, under the same ids', async () => {
    const base = inMemoryStore();
    let isDead = false;
    const store: Store = {
      ...base,
      checkpoints: {
        ...base.checkpoints,
        putPosition: (...position) => (isDead ? new Promise(() => {}) : base.checkpoints.putPosition(...position)),
      },
    };
    const first = exporting(store);
    await settled();
    isDead = true;
    await happens(store, whole);
    await gathered(first);
    expect(first.taken).toHaveLength(3);
    const second = exporting(base);
    await settled();
    expect(second.taken).toEqual(first.taken);
    const closing = first.export.close();
    first.timers.pass(2_000);
    await closing;
  });
});

describe('a collector that is away', () => {
  it('is asked again, less and less often, told of once, and gets everything when it is back', async () => {
    const store = inMemoryStore();
    let isAway = true;
    const one = exporting(store, {
      answer: async () => {
        if (isAway) throw new Error('connect ECONNREFUSED');
        return 'taken';
      },
    });
    await settled();
    await happens(store, whole);
    await gathered(one);
    for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      one.timers.pass(ms);
      await settled();
    }
    expect(one.asked()).toBe(8);
    expect(one.notices).toHaveLength(1);
    expect(one.notices[0]).toMatchObject({
      level: 'warn',
      event: 'telemetry.export_failed',
      facts: { reason: expect.stringContaining('ECONNREFUSED') },
    });
    expect(one.export.behindMs).toBe(1_000);
    await happens(store, whole, 'run_b');
    isAway = false;
    one.timers.pass(30_000);
    await settled();
    expect(names(one.taken)).toEqual([...allNames, ...allNames]);
    expect(one.notices.map(({ level }) => level)).toEqual(['warn', 'info']);
    expect(one.export.behindMs).toBe(0);
  });

  it('gets the same spans the second time, of a run that is still under way', async () => {
    const store = inMemoryStore();
    const one = exporting(store, {
      answer: async (_, time) => {
        if (time === 1) throw new Error('away');
        return 'taken';
      },
    });
    await settled();
    await happens(store, whole.slice(0, 2));
    await gathered(one);
    await happens(store, whole.slice(0, 3), 'run_a', 2);
    await gathered(one);
    one.timers.pass(1_000);
    await settled();
    expect(names(one.taken)).toEqual(allNames.slice(0, 2));
  });

  it('does not keep the host from stopping, nor does one that never answers', async () => {
    for (const answer of [() => Promise.reject(new Error('away')), () => new Promise<'taken'>(() => {})]) {
      const store = inMemoryStore();
      const one = exporting(store, { answer });
      await settled();
      await happens(store, whole);
      await gathered(one);
      const closing = one.export.close();
      one.timers.pass(2_000);
      await closing;
      expect(one.taken).toEqual([]);
    }
  });

  it('does not hold up runs, nor does memory grow with what it misses', async () => {
    const store = inMemoryStore();
    const one = exporting(store, { answer: () => new Promise<'taken'>(() => {}) });
    await settled();
    for (let i = 0; i < 50; i += 1) await happens(store, whole, `run_${i}`);
    await gathered(one);
    for (let i = 50; i < 100; i += 1) await happens(store, whole, `run_${i}`);
    await settled();
    // One request is under way with what the first gathering held; the rest is in the log and nowhere else.
    expect(one.asked()).toBe(1);
    const closing = one.export.close();
    one.timers.pass(2_000);
    await closing;
  });
});

describe('what the export leaves out', () => {
  it('is what a collector refuses for good: it is told of, counted, and does not stop what follows', async () => {
    const store = inMemoryStore();
    const one = exporting(store, { answer: async (_, time) => (time === 1 ? 'refused' : 'taken') });
    await settled();
    await happens(store, whole, 'run_bad');
    await gathered(one);
    await happens(store, whole, 'run_good');
    await gathered(one);
    expect(one.taken.map(({ attributes }) => attributes['openwop.run_id'])).toEqual(Array(3).fill('run_good'));
    expect(one.notices.map(({ level }) => level)).toEqual(['warn', 'info']);
    expect(one.meter.read().flatMap(({ points }) => points)).toEqual([
      { attributes: { outcome: 'refused' }, value: 3 },
      { attributes: { outcome: 'taken' }, value: 3 },
    ]);
  });

  it('is what ended more than a day ago', async () => {
    const store = inMemoryStore();
    const one = exporting(store, { now: () => START_AT + 15 + 86_400_000 });
    await settled();
    await happens(store, whole);
    await gathered(one);
    // The node ended five milliseconds before the run, and that long too early.
    expect(names(one.taken)).toEqual(['openwop.run']);
  });

  it('is what is not sampled; a caller decides for its own traces', async () => {
    const store = inMemoryStore();
    const one = exporting(store, { share: 0 });
    await settled();
    const parent = (flags: string) => ({
      traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`,
    });
    await happens(store, whole, 'run_alone');
    await happens(store, [started(parent('00')), ...whole.slice(1)], 'run_unsampled');
    await happens(store, [started(parent('01')), ...whole.slice(1)], 'run_sampled');
    await gathered(one);
    expect(new Set(one.taken.map(({ attributes }) => attributes['openwop.run_id']))).toEqual(new Set(['run_sampled']));
    expect(one.taken.at(-1)).toMatchObject({ parentSpanId: '00f067aa0ba902b7', spanId: spanIdOf('run_sampled', 0) });
  });
});

describe('a long backlog', () => {
  it('goes out in requests of bounded size, and runs that were forgotten meanwhile are folded again', async () => {
    const store = inMemoryStore();
    const sizes: number[] = [];
    const one = exporting(store, {
      answer: async (spans) => {
        sizes.push(spans.length);
        return 'taken';
      },
    });
    await settled();
    await happens(store, whole.slice(0, 2), 'run_first');
    for (let i = 0; i < 1_100; i += 1) await happens(store, whole.slice(0, 2), `run_${i}`);
    await happens(store, whole, 'run_first', 2);
    const many = Array.from({ length: 700 }, (_, i): Said => nodeStarted(`n${i}`));
    await happens(store, [started(), ...many, ['run.cancelled', {}]], 'run_wide');
    await gathered(one);
    expect(Math.max(...sizes)).toBe(512);
    const ofFirst = one.taken.filter(({ attributes }) => attributes['openwop.run_id'] === 'run_first');
    expect(names(ofFirst)).toEqual(allNames);
    expect(one.taken).toHaveLength(3 + 1_401);
  });
});
