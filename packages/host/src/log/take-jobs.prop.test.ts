import type { RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Job } from './sqlite/commit/job.ts';
import { takeJobs } from './take-jobs.ts';

const job = (bytes: number, run?: string, rows = 1, tenant?: string): Job =>
  new Job(
    { ...(run !== undefined && { runId: run as RunId }), tenant, rows, bytes, apply: () => null },
    () => {},
    () => {},
  );

const anyJob = fc
  .record({
    bytes: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 900_000 })),
    run: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined }),
    rows: fc.integer({ min: 0, max: 300 }),
    // The tenant of a run may be known for some of its work only. Other work has none.
    tenant: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
  })
  .map(({ bytes, run, rows, tenant }) => job(bytes, run, rows, run === undefined ? undefined : tenant));

/** All transactions, one after another. */
function transactions(queue: readonly Job[]) {
  const taken = [];
  for (let left = queue; left.length > 0; ) {
    const next = takeJobs(left);
    taken.push(next);
    left = next.left;
  }
  return taken;
}

test('a small append joins the next transaction, however much large work waits before it', () => {
  const large = Array.from({ length: 100 }, (_, i) => job(230_000, `large${i}`));
  const small = job(2_000, 'small');
  const { jobs, left } = takeJobs([...large, small]);
  expect(jobs).toEqual([large[0], small]);
  expect(left).toEqual(large.slice(1));
});

test('a small append of a run does not overtake a large one of the same run', () => {
  const queue = [job(230_000, 'a'), job(230_000, 'b'), job(2_000, 'b'), job(2_000, 'a')];
  expect(takeJobs(queue).jobs).toEqual([queue[0], queue[3]]);
});

test('work of another tenant joins the next transaction, however much one tenant queued before it', () => {
  const flood = Array.from({ length: 1_500 }, (_, i) => job(200, `flood${i % 500}`, 40, 'loud'));
  const quiet = [job(200, 'quiet', 5, 'quiet'), job(200, 'quiet', 5)];
  const { jobs } = takeJobs([...flood, ...quiet]);
  expect(jobs.filter((one) => quiet.includes(one))).toEqual(quiet);
  expect(jobs[0]).toBe(flood[0]);
});

test('work of nobody is not written before what was queued before it', () => {
  const flood = Array.from({ length: 20 }, (_, i) => job(200, `flood${i}`, 40, 'loud'));
  const nobodys = job(0);
  const order = transactions([...flood, nobodys, job(200, 'late', 40, 'quiet')]).flatMap(({ jobs }) => jobs);
  expect(order.indexOf(nobodys)).toBeGreaterThan(order.indexOf(flood[19] as Job));
});

test('all work is taken once, the oldest first, within the limits, and in the order of its run', () => {
  fc.assert(
    fc.property(fc.array(anyJob, { maxLength: 60 }), (queue) => {
      const all = transactions(queue);
      const order = all.flatMap(({ jobs }) => jobs);
      expect(new Set(order)).toEqual(new Set(queue));
      expect(order).toHaveLength(queue.length);
      for (const run of ['a', 'b', 'c', 'd', undefined]) {
        const ofRun = (jobs: readonly Job[]) => jobs.filter(({ work }) => work.runId === run);
        expect(ofRun(order)).toEqual(ofRun(queue));
      }
      let left: readonly Job[] = queue;
      for (const { jobs, rows, bytes, left: after } of all) {
        expect(jobs[0]).toBe(left[0]);
        expect(rows).toBe(jobs.reduce((sum, { work }) => sum + work.rows, 0));
        expect(bytes).toBe(jobs.reduce((sum, { work }) => sum + work.bytes, 0));
        const [first] = jobs;
        expect(rows).toBeLessThanOrEqual(Math.max(256, first?.work.rows ?? 0));
        expect(bytes).toBeLessThanOrEqual(Math.max(262_144, first?.work.bytes ?? 0) + 65_536);
        left = after;
      }
    }),
  );
});
