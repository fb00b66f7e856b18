/** Callers whose reactions are slow: the event loop turns between them, and no tenant waits for all of another's. */
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { Acknowledgements } from './acknowledgements.ts';
import { Job } from './job.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Callers that note their names, each after a reaction of this many milliseconds on a clock of our own. */
function world(reactionMs: number) {
  const noted: string[] = [];
  let [now, ends] = [0, 0];
  const allKnow = () => {
    ends += 1;
  };
  const acknowledgements = new Acknowledgements({ elapsedMs: () => now, allKnow });
  const job = (name: string, tenant: string, run = name): Job => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const react = async () => {
      await promise.catch(() => undefined);
      now += reactionMs;
      noted.push(name);
    };
    void react();
    return new Job({ runId: run as RunId, tenant, rows: 1, bytes: 100, apply: () => null }, resolve, reject);
  };
  const jobs = (count: number, tenant: string) =>
    Array.from({ length: count }, (_, index) => job(`${tenant}${index}`, tenant));
  return { acknowledgements, noted, job, jobs, ends: () => ends };
}

describe('acknowledgements', () => {
  it('lets the event loop turn between callers whose reactions are slow', async () => {
    const { acknowledgements, noted, jobs, ends } = world(1);
    acknowledgements.add(jobs(40, 'a'));
    const seen: number[] = [];
    for (let turns = 0; acknowledgements.isUnderWay && turns < 100; turns += 1) {
      const before = noted.length;
      await turn();
      seen.push(noted.length - before);
    }
    await turn();
    expect(noted).toEqual(Array.from({ length: 40 }, (_, index) => `a${index}`));
    expect(Math.max(...seen)).toBeLessThanOrEqual(8);
    expect(ends()).toBe(1);
  });

  it('has everybody go on in one turn while reactions are quick', async () => {
    const { acknowledgements, noted, jobs } = world(0.01);
    acknowledgements.add(jobs(200, 'a'));
    await turn();
    expect(noted.length).toBe(200);
    expect(acknowledgements.isUnderWay).toBe(false);
  });

  it('has a tenant with little work go on before the many of another tenant', async () => {
    const { acknowledgements, noted, job, jobs } = world(1);
    acknowledgements.add([...jobs(100, 'a'), job('b0', 'b')]);
    acknowledgements.add([job('b1', 'b')]);
    while (acknowledgements.isUnderWay) await turn();
    await turn();
    expect(noted.indexOf('b0')).toBeLessThan(2);
    expect(noted.indexOf('b1')).toBeLessThan(10);
    expect(noted.length).toBe(102);
  });

  it('keeps the order of the work of one run', async () => {
    const { acknowledgements, noted, job, jobs } = world(1);
    const ofRun = Array.from({ length: 30 }, (_, index) => job(`r${index}`, 'a', 'run'));
    acknowledgements.add([...jobs(20, 'b'), ...ofRun.slice(0, 20)]);
    await turn();
    acknowledgements.add([...jobs(20, 'c'), ...ofRun.slice(20)]);
    while (acknowledgements.isUnderWay) await turn();
    await turn();
    expect(noted.filter((name) => name.startsWith('r'))).toEqual(ofRun.map((_, index) => `r${index}`));
    expect(noted.length).toBe(70);
  });

  it('rejects what was refused, in its turn', async () => {
    const { acknowledgements, noted, job } = world(0);
    const refused = job('refused', 'a');
    refused.isRefused = true;
    acknowledgements.add([job('first', 'a'), refused, job('last', 'a')]);
    await turn();
    expect(noted).toEqual(['first', 'refused', 'last']);
  });
});
