import { type RunId, runId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { RunNotice } from '../../server/run-notices.ts';
import { RunLines } from './run-lines.ts';

const [demo, own] = [runId('demo'), runId('own')];
const below = (run: RunId, at = 0) => `${run}.${at}` as RunId;

const started = (id: RunId, parentRunId: RunId | null = null): RunNotice => ({
  ...{ type: 'run.started', runId: id, workflowId: 'w', parentRunId, depth: 0 },
});
const ended = (id: RunId, parentRunId: RunId | null = null): RunNotice => ({
  ...{ type: 'run.completed', runId: id, workflowId: 'w', parentRunId, depth: 0, durationMs: 1, reason: null },
});

test('runs of the demo and those below them have no lines, whichever ends first', async () => {
  const told: string[] = [];
  const lines = new RunLines({
    tell: (line) => told.push(line),
    colours: { out: false, err: false },
    now: () => 0,
  });
  const isAny = lines.without(async () => {
    lines.print(started(demo));
    lines.print(started(own));
    return [demo];
  });
  expect(told).toEqual([]);
  expect(await isAny).toBe(true);
  const [child, grandchild] = [below(demo), below(below(demo))];
  for (const notice of [
    started(child, demo),
    started(grandchild, child),
    ended(demo),
    ended(child, demo),
    ended(grandchild, child),
    started(below(own), own),
    ended(below(own), own),
    started(below(demo, 1), demo),
  ])
    lines.print(notice);
  expect(told.map((line) => line.replace(/^\S+ /, ''))).toEqual([
    '▸ w  run_own',
    '▸ w  run_own.0',
    '✓ w  run_own.0  completed in 1 ms',
  ]);
});
