/** Names of runs: ids, their beginnings and `last`, in every verb that takes a run. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { interruptIdOf } from '../../test/kit/payload-ids.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { onlyRun } from './run-name.ts';
import { readerKey, servedCli } from './served-cli.kit.ts';

test('every verb that takes a run takes last and the beginning of an id', async () => {
  const { cairn, detached } = await servedCli();
  const outer = await detached('outermost');
  await cairn(['run', 'review', '--tag', 'other']);
  const newest = await detached('slow');
  const statusOf = async (name: string) => JSON.parse((await cairn(['show', name, '--json'])).out).runId;
  expect(await statusOf('last')).toBe(newest);
  expect(await statusOf(newest.slice(0, -2))).toBe(newest);
  expect(await statusOf(newest.slice('run_'.length, -2))).toBe(newest);
  expect(await statusOf(outer.slice(0, -2))).toBe(outer);
  expect((await cairn(['tail', 'last', '--no-follow', '--types', 'run', '--json'])).out).toContain(newest);
  expect((await cairn(['pause', 'last', '--now'])).out).toBe(`‖ ${newest} is paused`);
  expect((await cairn(['resume', newest.slice(0, -3)])).out).toBe(`● ${newest} is running`);
  expect((await cairn(['cancel', 'last'])).out).toContain(newest);
  const review = await detached('review');
  expect((await cairn(['answer', 'last', 'yes'])).out).toContain('approve is answered');
  expect(await statusOf('last')).toBe(review);
  const asked = await detached('review');
  expect((await cairn(['answer', `${asked.slice(0, -2)}/${interruptIdOf(asked, 'approve')}`, 'yes'])).code).toBe(0);
});

test('the beginning of several ids lists them, and a name of no run is reported by the host', async () => {
  const { cairn, detached } = await servedCli();
  const runs = [await detached('slow'), await detached('slow')];
  const { code, err } = await cairn(['cancel', 'run_']);
  expect(code).toBe(2);
  expect(err).toContain('run_ is the beginning of 2 runs.');
  for (const run of runs) expect(err).toContain(run);
  expect((await cairn(['show', 'run_nobody'])).code).toBe(3);
  const { cairn: empty } = await servedCli();
  expect((await empty(['show', 'last'])).err).toContain('There is no run yet.');
});

test('a key that may not list runs can still name one by its whole id', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('slow');
  expect((await cairn(['cancel', runId], { env: { CAIRN_KEY: readerKey } })).err).toContain(
    'lacks the scope runs:cancel',
  );
});

test('a run stands for the runs below it, whatever their order', () => {
  const found = ['run_ab.0.1', 'run_ab', 'run_ab.0'].map((runId) => ({ runId }));
  expect(onlyRun(found, 'run_a')).toBe('run_ab');
  expect(onlyRun(found, 'run_ab.0')).toBe('run_ab.0');
  expect(() => onlyRun([...found, { runId: 'run_ac' }], 'run_a')).toThrow('the beginning of 4 runs');
  expect(onlyRun([], 'run_a')).toBeUndefined();
});

test('verbs without a host take the same names from the data folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-names-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { cairn } = await servedCli(await openSqliteStore({ folder }));
  await cairn(['run', 'outer-broken']);
  await cairn(['run', 'sum', '-i', 'n=1']);
  const { runs } = JSON.parse((await cairn(['runs', '--json'])).out);
  const [sum] = runs.filter((run: { workflowId: string }) => run.workflowId === 'sum');
  expect((await cairn(['verify', 'last', '--data', folder])).out).toContain(sum.runId);
  const [outer] = runs.filter((run: { workflowId: string }) => run.workflowId === 'outer-broken');
  expect((await cairn(['verify', outer.runId.slice(0, -2), '--data', folder])).out).toContain(`${outer.runId}:`);
  expect((await cairn(['verify', 'run_', '--data', folder])).err).toContain('is the beginning of 3 runs.');
  const exported = await cairn(['export', 'last', '--data', folder, '-o', join(folder, 'x.jsonl'), '--json']);
  expect(JSON.parse(exported.out).runId).toBe(sum.runId);
});
