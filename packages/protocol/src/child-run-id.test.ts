import { expect, test } from 'vitest';
import { childRunIdOf, forkedChildIdOf, isBelowRun, levelOfRun, runAbove } from './child-run-id.ts';
import { runId } from './ids.ts';

const root = runId('a');
const child = childRunIdOf(root, 1);
const grandchild = childRunIdOf(child, 12);

test('the id of a child leads back to every run above it', () => {
  expect(runAbove(grandchild)).toBe(child);
  expect(runAbove(grandchild, 2)).toBe(root);
  expect(runAbove(grandchild, 0)).toBe(grandchild);
  expect(runAbove(grandchild, 3)).toBeNull();
  expect(runAbove(root)).toBeNull();
  expect([root, child, grandchild].map(levelOfRun)).toEqual([0, 1, 2]);
});

test('a run is below those it descends from, and below none whose id only begins alike', () => {
  expect(isBelowRun(grandchild, root)).toBe(true);
  expect(isBelowRun(grandchild, child)).toBe(true);
  expect(isBelowRun(root, root)).toBe(false);
  expect(isBelowRun(child, grandchild)).toBe(false);
  expect(isBelowRun('run_a.12', 'run_a.1')).toBe(false);
});

test('the fork of a child keeps its number', () => {
  const fork = runId('b');
  expect(forkedChildIdOf(fork, child)).toBe(childRunIdOf(fork, 1));
  expect(forkedChildIdOf(childRunIdOf(fork, 1), grandchild)).toBe(childRunIdOf(childRunIdOf(fork, 1), 12));
});
