/** Recorded runs, decided again from a data folder or a bundle, without the host or the program that ran them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { eventsOf } from '../../test/kit/followed-run.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { openCrew, ranCrew } from '../server/runs/replay-crew.kit.ts';
import { type Typed, typed } from './recording-terminal.kit.ts';
import { servedCli } from './served-cli.kit.ts';

async function place() {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-replay-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'cairn.json'), '{"data":"data"}');
  const served = await servedCli(await openSqliteStore({ folder: join(cwd, 'data') }));
  const cairn = (...args: readonly string[]) => served.cairn(args, { cwd });
  return { cwd, cairn, runId: await served.detached('review') };
}

test('a run in the data folder and its bundle are decided as recorded', async () => {
  const { cairn, runId } = await place();
  const file = String(JSON.parse((await cairn('export', runId, '--json')).out).file);
  const { code, out } = await cairn('replay', runId, file, '--json');
  expect(code).toBe(0);
  const verdicts = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(verdicts).toHaveLength(2);
  for (const verdict of verdicts) expect(verdict).toMatchObject({ ok: true, runId, problem: null, divergence: null });
  expect((await cairn('replay', runId)).out).toMatch(/\d+ events, decided as recorded/);
});

test('the first divergence ends the command with 1, and is shown from both sides', async () => {
  const { cwd, cairn, runId } = await place();
  const db = new DatabaseSync(join(cwd, 'data', 'cairn.db'));
  const found = db.prepare('SELECT hash, body FROM definitions').all();
  for (const { hash, body } of found) {
    const changed = String(body).replace(/"core\.approvalGate"/, '"core.noop"');
    db.prepare('UPDATE definitions SET body = ? WHERE hash = ?').run(changed, String(hash));
  }
  db.close();
  const { code, out } = await cairn('replay', runId, 'nobody-looks-at-this');
  expect(code).toBe(1);
  expect(out).toMatch(/event \d+ differs/);
  expect(out).toMatch(/recorded: node\.started of \w+, cause \d+: .*core\.approvalGate/);
  expect(out).toMatch(/now: {6}node\.started of \w+, cause \d+: .*core\.noop/);
});

test('a folder stands for the bundles in it, in the order of their names', async () => {
  const { cwd, cairn, runId } = await place();
  const folder = join(cwd, 'runs');
  mkdirSync(folder);
  for (const name of ['b', 'a']) await cairn('export', runId, '-o', join(folder, `${name}.cairn.jsonl`));
  writeFileSync(join(folder, 'README.md'), 'Runs that matter.');
  const lines = (await cairn('replay', 'runs/')).out.split('\n');
  expect(lines.map((line) => / in (\S+): \d+ events/.exec(line)?.[1])).toEqual([
    'runs/a.cairn.jsonl',
    'runs/b.cairn.jsonl',
  ]);
  writeFileSync(join(folder, 'a.cairn.jsonl'), '{}');
  const { code, out, err } = await cairn('replay', 'runs');
  expect([code, out]).toEqual([4, '']);
  expect(err).toContain('a.cairn.jsonl');
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  expect(await cairn('replay', 'runs')).toMatchObject({ code: 3, err: expect.stringContaining('neither bundles') });
});

test('a name of neither a file nor a run is reported with both', async () => {
  const { cairn } = await place();
  const { code, err } = await cairn('replay', 'run_00000000-0000-7000-8000-000000000000');
  expect(code).toBe(3);
  expect(err).toMatch(/no file .* and no run/);
});

test('agents, supervisors and children are decided again from a folder or a bundle, once their host is gone', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-replay-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const data = join(cwd, 'data');
  const crew = await openCrew(await openSqliteStore({ folder: data }));
  const runId = await ranCrew(crew);
  const events = (await crew.client.events.all(runId)).length;
  // A branch with children of its own, a replay of it, and a replay that finds no answer in its record.
  const { sequence: fromSeq = 0 } =
    (await crew.client.events.all(runId)).find(({ type, nodeId }) => type === 'node.started' && nodeId === 'boss') ??
    {};
  const branch = await crew.client.runs.fork(runId, { mode: 'branch', fromSeq });
  await eventsOf(crew.client, branch.runId);
  const replay = await crew.client.runs.fork(branch.runId, { mode: 'replay', fromSeq: 30 });
  await eventsOf(crew.client, replay.runId);
  const open = await crew.client.runs.create({ workflowId: 'inner' });
  await crew.client.runs.wait(open.runId);
  const left = await crew.client.runs.fork(open.runId, { mode: 'replay' });
  await eventsOf(crew.client, left.runId);
  await crew.close();
  const cairn = (...args: readonly string[]) => typed([...args, '--data', data], { cwd });
  const { file } = JSON.parse((await cairn('export', runId, '--json')).out);
  const tree = ['', '.0', '.1', '.2'].map((suffix) => `${runId}${suffix}`);
  for (const name of [runId, String(file)]) {
    const { code, out } = await cairn('replay', name, '--json');
    const verdicts = out.split('\n').map((line): { runId: string; events: number } => JSON.parse(line));
    expect([code, verdicts.map((verdict) => verdict.runId).sort()]).toEqual([0, tree]);
    expect(verdicts.find((verdict) => verdict.runId === runId)?.events).toBe(events);
  }
  for (const all of [await cairn('replay'), await cairn('replay', 'data')]) {
    expect(all.code).toBe(0);
    const lines = all.out.split('\n');
    expect(lines).toHaveLength(10);
    expect(lines.filter((line) => line.includes('that left its record'))).toEqual([
      expect.stringContaining(left.runId),
    ]);
  }
  const db = new DatabaseSync(join(data, 'cairn.db'));
  db.exec(`UPDATE definitions SET body = replace(body, '"defaultThreshold":0.8', '"defaultThreshold":0.3')`);
  db.close();
  const { code, out } = await cairn('replay', runId);
  expect(code).toBe(1);
  expect(out).toMatch(
    /event \d+ differs\n {2}differs: {2}type\n {2}recorded: node\.suspended of judge, .*low-confidence/,
  );
  expect(out).toMatch(/now: {6}agent\.invocation\.completed of judge, /);
});

test('who watches a long replay is told how far it is; a pipe is not', async () => {
  const { cwd, runId } = await place();
  const replayed = async (how: Typed) => {
    let clock = 0;
    const now = () => {
      clock += 1_500;
      return clock;
    };
    return (await typed(['replay', runId, runId], { cwd, now, ...how })).err;
  };
  expect(await replayed({ person: () => Promise.resolve(null) })).toMatch(/: \d+ events so far/);
  expect(await replayed({})).toBe('');
});
