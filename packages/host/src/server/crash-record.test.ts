import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { CRASH_RECORD, openCrashRecord } from './crash-record.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cairn-deciding-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A process: it dies when nobody closes its record. */
function process(path: string) {
  const turns: (() => void)[] = [];
  const failures: unknown[] = [];
  const eventLoop = { elapsedMs: () => 0, nextTurn: (go: () => void) => void turns.push(go) };
  const record = openCrashRecord(path, { eventLoop, failed: (error) => failures.push(error) });
  const nextTurn = () => {
    for (const go of turns.splice(0)) go();
  };
  return { record, nextTurn, turns, failures };
}

const a = 'run_a' as RunId;
const b = 'run_b' as RunId;

test('the next process learns which decisions the last one died in, and how often in succession', () => {
  const path = folder();
  process(path).record.deciding(a, ['pay#0', 'mail#0']);
  const second = process(path);
  expect(second.record.deaths()).toEqual([
    { runId: a, cause: 'pay#0', count: 1 },
    { runId: a, cause: 'mail#0', count: 1 },
  ]);
  second.record.decided(a, ['mail#0']);
  second.record.deciding(b, ['']);
  second.record.deciding(a, ['pay#0']);
  expect(process(path).record.deaths()).toEqual([{ runId: a, cause: 'pay#0', count: 2 }]);
});

test('a process that dies between decisions blames nobody', () => {
  const path = folder();
  const { record, nextTurn } = process(path);
  record.deciding(a, ['']);
  nextTurn();
  expect(process(path).record.deaths()).toEqual([]);
  expect(process(path).record.deaths()).toEqual([]);
});

test('a host that stops leaves no mark, even in the turn of its last decision', () => {
  const path = folder();
  const { record } = process(path);
  record.deciding(a, ['']);
  record.close();
  expect(process(path).record.deaths()).toEqual([]);
});

test('the mark is removed once for all decisions of a turn', () => {
  const { record, turns, nextTurn } = process(folder());
  for (let i = 0; i < 10; i++) record.deciding(a, ['']);
  expect(turns).toHaveLength(1);
  nextTurn();
  record.deciding(b, ['']);
  expect(turns).toHaveLength(1);
});

test('deaths outlive processes that did not decide the run, until it is forgotten', () => {
  const path = folder();
  process(path).record.deciding(a, ['pay#0']);
  process(path).record.close();
  const third = process(path).record;
  expect(third.deaths()).toHaveLength(1);
  third.decided(a, ['']);
  expect(third.deaths()).toHaveLength(1);
  third.forget(a);
  expect(process(path).record.deaths()).toEqual([]);
});

test.for(['', 'x', '[1,2]\n', '["no run id",""]\n', `["run_a"\n${' '.repeat(2_100)}{"deaths`])(
  'a torn or foreign file says nothing: %j',
  (content) => {
    const path = folder();
    writeFileSync(join(path, CRASH_RECORD), content);
    const { record, failures } = process(path);
    expect(record.deaths()).toEqual([]);
    record.deciding(a, ['']);
    expect(process(path).record.deaths()).toHaveLength(1);
    expect(failures).toEqual([]);
  },
);

test('the file is for its owner alone, and stays small', () => {
  const path = folder();
  const { record } = process(path);
  for (let i = 0; i < 1_000; i++) record.deciding(a, [`${i}`.repeat(60).slice(0, 60)]);
  const { mode, size } = statSync(join(path, CRASH_RECORD));
  expect(mode & 0o777).toBe(0o600);
  expect(size).toBeLessThan(4_096);
  expect(readFileSync(join(path, CRASH_RECORD), 'utf8')).toContain('run_a');
});
