import { expect, test } from 'vitest';
import { isBelowTask, noteParent, type TaskParents } from './task-parents.ts';

const tree = (...pairs: readonly (readonly [taskId: string, parentTaskId?: string])[]): TaskParents => {
  const parents: TaskParents = new Map();
  for (const [taskId, parentTaskId] of pairs) noteParent(parents, { taskId, parentTaskId });
  return parents;
};

test('a task is below its parent and below all that are above that one', () => {
  const parents = tree(['a'], ['b', 'a'], ['c', 'b']);
  expect(isBelowTask(parents, 'c', 'b')).toBe(true);
  expect(isBelowTask(parents, 'c', 'a')).toBe(true);
  expect(isBelowTask(parents, 'b', 'c')).toBe(false);
  expect(isBelowTask(parents, 'a', 'a')).toBe(false);
});

test('only the fields of events count, not how an id begins', () => {
  expect(isBelowTask(tree(['run_a.1']), 'run_a.1', 'run_a')).toBe(false);
  expect(isBelowTask(tree(['x', 'run_a']), 'x', 'run_a')).toBe(true);
});

test('parents in a circle end the search', () => {
  expect(isBelowTask(tree(['a', 'b'], ['b', 'a']), 'a', 'c')).toBe(false);
});
