/** The source of the run screen: which rows it shows when, however they arrive. */
import type { EventDoc, RunSnapshot } from '@cairn/client';
import { expect, test } from 'vitest';
import type { Frames } from './frames.ts';
import { type RunClient, type RunData, RunSource } from './run-source.ts';

const eventAt = (sequence: number): EventDoc => ({
  eventId: `run_a:${sequence}`,
  runId: 'run_a',
  sequence,
  timestamp: '2026-01-05T09:00:00.000Z',
  type: 'log.appended',
  payload: { level: 'info', message: `${sequence}` },
});

const snapshot: RunSnapshot = { runId: 'run_a', workflowId: 'w', status: 'running' };

/** A host with so many rows. The stream gives them when the test says so. */
function scripted(rows: number, visible: (sequence: number) => boolean = () => true) {
  const gate = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const asked: number[] = [];
  const all = Array.from({ length: rows }, (_, sequence) => eventAt(sequence)).filter(({ sequence }) =>
    visible(sequence),
  );
  const client: RunClient = {
    async *watch() {
      yield { ...snapshot, atSeq: rows - 1 };
    },
    async *follow(_runId, { after = -1 } = {}) {
      asked.push(after);
      await gate.promise;
      yield* all.filter(({ sequence }) => sequence > after);
      await end.promise;
    },
    runs: { get: async () => snapshot },
    events: {
      poll: async (_runId, { after = -1 } = {}) => ({
        events: all.filter(({ sequence }) => sequence > after),
        isComplete: false,
        lastEventSeq: rows - 1,
        runStatus: 'running',
      }),
    },
  };
  return { client, open: gate.resolve, end: end.resolve, asked };
}

/** Frames at once, and time that passes by a step with each look at the clock. */
function quickFrames(msPerLook = 0) {
  let now = 0;
  let drawn = 0;
  const frames: Frames = {
    next: (draw) =>
      void setImmediate(() => {
        drawn += 1;
        draw();
      }),
    drawn: () => Promise.resolve(),
    later: () => undefined,
    wait: () => new Promise((resolve) => setImmediate(resolve)),
    now: () => {
      now += msPerLook;
      return now;
    },
  };
  return { frames, drawn: () => drawn };
}

const until = (source: RunSource, is: (data: RunData) => boolean): Promise<RunData> =>
  new Promise((resolve) => {
    let leave = (): void => undefined;
    const look = (): void => {
      if (!is(source.getSnapshot())) return;
      leave();
      resolve(source.getSnapshot());
    };
    leave = source.subscribe(look);
    look();
  });

test('a long run shows its last rows before the first ones are read, and then all of them', async () => {
  const host = scripted(5_000);
  const source = new RunSource(host.client, 'run_a', quickFrames().frames);
  const tail = await until(source, ({ isWhole }) => !isWhole);
  expect([tail.history.rows[0]?.seq, tail.history.lastSeq, tail.headSeq]).toEqual([4_600, 4_999, 4_999]);
  host.open();
  const whole = await until(source, ({ phase }) => phase === 'live');
  expect([whole.history.rows.length, whole.isWhole, whole.behind]).toEqual([5_000, true, 0]);
  host.end();
});

test('a short run is read from its start', async () => {
  const host = scripted(20);
  const source = new RunSource(host.client, 'run_a', quickFrames().frames);
  host.open();
  const data = await until(source, ({ phase }) => phase === 'live');
  expect([data.history.rows.length, host.asked]).toEqual([20, [-1]]);
  host.end();
});

test('rows that take long are folded in many frames, and the rest is told as behind', async () => {
  const host = scripted(1_000);
  const { frames, drawn } = quickFrames(8);
  const source = new RunSource(host.client, 'run_a', frames);
  host.open();
  const some = await until(source, ({ behind, history }) => behind > 0 && history.lastSeq >= 0);
  expect(some.phase).toBe('reading');
  await until(source, ({ phase }) => phase === 'live');
  expect(drawn()).toBeGreaterThan(20);
  host.end();
});

test('only a transition that the first snapshot does not cover asks for another', async () => {
  const { client, ...host } = scripted(20);
  const gets: string[] = [];
  const paused = (sequence: number): EventDoc => ({ ...eventAt(sequence), type: 'run.paused', payload: {} });
  const late = Promise.withResolvers<void>();
  const source = new RunSource(
    {
      ...client,
      async *follow() {
        for (let sequence = 0; sequence < 20; sequence += 1) yield paused(sequence);
        await late.promise;
        yield paused(20);
        await new Promise(() => undefined);
      },
      runs: {
        get: async (runId) => {
          gets.push(runId);
          return { ...snapshot, status: 'paused' };
        },
      },
    },
    'run_a',
    quickFrames().frames,
  );
  await until(source, ({ phase, history }) => phase === 'live' && history.lastSeq === 19);
  expect(gets).toEqual([]);
  late.resolve();
  await until(source, (data) => data.snapshot?.status === 'paused');
  expect(gets).toEqual(['run_a']);
  host.end();
});

test('a reader who may not see the last rows is not behind for ever', async () => {
  const host = scripted(30, (sequence) => sequence < 25);
  const source = new RunSource(host.client, 'run_a', quickFrames().frames);
  host.open();
  const data = await until(source, ({ phase }) => phase === 'live');
  expect([data.history.lastSeq, data.headSeq, data.behind]).toEqual([24, 24, 0]);
  host.end();
});

test('while the host is away, one reader asks whether it is back, however often the stream breaks', async () => {
  const { client, open } = scripted(3);
  const away = Promise.withResolvers<RunSnapshot>();
  let asked = 0;
  let isAway = false;
  const broken: RunClient = {
    ...client,
    async *follow(runId, options = {}) {
      yield* (await client.events.poll(runId, {})).events;
      isAway = true;
      for (let tries = 0; tries < 5; tries += 1) options.onBreak?.();
      await away.promise;
    },
    runs: {
      get: () => {
        asked += 1;
        return isAway ? away.promise : Promise.resolve(snapshot);
      },
    },
  };
  open();
  const { frames } = quickFrames();
  const source = new RunSource(broken, 'run_a', frames);
  source.subscribe(() => undefined);
  await until(source, ({ phase }) => phase === 'broken');
  const before = asked;
  for (let turn = 0; turn < 20; turn += 1) await frames.wait(0);
  expect(asked - before).toBe(1);
});

test('a run that cannot be read says why, and a second try reads it', async () => {
  const host = scripted(3);
  let isBroken = true;
  const { watch } = host.client;
  const client: RunClient = {
    ...host.client,
    watch: (...given) => {
      if (isBroken) throw new Error('The host is away.');
      return watch(...given);
    },
  };
  const source = new RunSource(client, 'run_a', quickFrames().frames);
  const failed = await until(source, ({ phase }) => phase === 'failed');
  expect(failed.error).toMatchObject({ message: 'The host is away.' });
  isBroken = false;
  host.open();
  source.retry();
  await until(source, ({ phase }) => phase === 'live');
  host.end();
});
