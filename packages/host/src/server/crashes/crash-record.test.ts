import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { CRASH_RECORD, openCrashRecord } from './crash-record.ts';
import { DecisionMemory } from './decision-memory.ts';
import { DecisionWatch, keptInFile } from './decision-watch.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cairn-deciding-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A process: it dies when nobody closes its record. */
function process(path: string) {
  const turns: (() => void)[] = [];
  const failures: unknown[] = [];
  // No thread: each decision is written at once.
  const watch = () => {};
  const eventLoop = { elapsedMs: () => 0, nextTurn: (go: () => void) => void turns.push(go) };
  const record = openCrashRecord(path, { eventLoop, watch, failed: (error) => failures.push(error) });
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

test('one death counts once, however often the decision names its cause', () => {
  const path = folder();
  process(path).record.deciding(a, ['turn#0', 'turn#0', 'turn#0']);
  expect(process(path).record.deaths()).toEqual([{ runId: a, cause: 'turn#0', count: 1 }]);
});

test('a process that dies between decisions blames nobody', () => {
  const path = folder();
  const { record, nextTurn } = process(path);
  record.deciding(a, ['']);
  nextTurn();
  expect(process(path).record.deaths()).toEqual([]);
  expect(process(path).record.deaths()).toEqual([]);
});

test('a process that dies while the rows of a decision are written blames nobody, even after an earlier death', () => {
  const path = folder();
  process(path).record.deciding(a, ['pay#0']);
  const second = process(path).record;
  second.deciding(a, ['pay#0']);
  second.composed();
  expect(process(path).record.deaths()).toEqual([{ runId: a, cause: 'pay#0', count: 1 }]);
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

describe('with a thread that watches', () => {
  /** A process whose thread looks when it is told to. */
  function watched(path: string) {
    const turns: (() => void)[] = [];
    const eventLoop = { elapsedMs: () => 0, nextTurn: (go: () => void) => void turns.push(go) };
    const watches: DecisionWatch[] = [];
    const record = openCrashRecord(path, {
      eventLoop,
      failed: () => {},
      watch: ({ file, shared }) => {
        const fd = openSync(file, 'r+');
        onTestFinished(() => closeSync(fd));
        watches.push(new DecisionWatch(new DecisionMemory(shared), keptInFile(fd)));
      },
    });
    // The thread starts with the first decision.
    record.deciding(b, ['']);
    const nextTurn = () => {
      for (const go of turns.splice(0)) go();
    };
    nextTurn();
    return { record, nextTurn, look: () => present(watches[0]).look() };
  }

  const content = (path: string) => readFileSync(join(path, CRASH_RECORD), 'utf8').split('\n')[0];

  test('a decision that two looks see is in the file until the turn is over', () => {
    const path = folder();
    const { record, nextTurn, look } = watched(path);
    record.deciding(a, ['pay#0']);
    look();
    expect(content(path)).toBe('');
    look();
    expect(content(path)).toBe('["run_a","pay#0"]');
    nextTurn();
    look();
    expect(content(path)).toBe('');
  });

  test('a decision whose rows wait for the disk is not written', () => {
    const path = folder();
    const { record, look } = watched(path);
    record.deciding(a, ['pay#0']);
    record.composed();
    look();
    look();
    expect(content(path)).toBe('');
  });

  test('a mark gives way to the decision that follows', () => {
    const path = folder();
    const { record, look } = watched(path);
    record.deciding(a, ['pay#0']);
    look();
    look();
    record.deciding(b, ['mail#0']);
    look();
    expect(content(path)).toBe('["run_b","mail#0"]');
  });

  test('the real thread writes a decision that lasts, and removes it', async () => {
    const path = folder();
    const turns: (() => void)[] = [];
    const eventLoop = { elapsedMs: () => 0, nextTurn: (go: () => void) => void turns.push(go) };
    const record = openCrashRecord(path, { eventLoop, failed: () => {} });
    onTestFinished(() => record.close());
    const nextTurn = () => {
      for (const go of turns.splice(0)) go();
    };
    // The event loop writes decisions itself until the thread is ready.
    await vi.waitFor(() => {
      nextTurn();
      record.deciding(a, ['pay#0']);
      expect(content(path)).toBe('');
    }, 10_000);
    await vi.waitFor(() => expect(content(path)).toBe('["run_a","pay#0"]'), 10_000);
    nextTurn();
    await vi.waitFor(() => expect(content(path)).toBe(''), 10_000);
  });

  test('decisions that each end between two looks are never written', () => {
    const path = folder();
    const { record, look } = watched(path);
    for (let i = 0; i < 5; i++) {
      record.deciding(a, ['']);
      look();
    }
    expect(content(path)).toBe('');
  });

  test('after a death each decision is written at once', () => {
    const path = folder();
    process(path).record.deciding(a, ['pay#0']);
    const { record } = watched(path);
    record.deciding(b, ['mail#0']);
    expect(content(path)).toBe('["run_b","mail#0"]');
  });

  test('a host that stops while a decision is marked leaves no mark', () => {
    const path = folder();
    const { record, look } = watched(path);
    record.deciding(a, ['']);
    look();
    look();
    record.close();
    look();
    expect(process(path).record.deaths()).toEqual([]);
  });
});
