import { expect, test } from 'vitest';
import { foldedTask, foldTask, newTaskFold } from './fold-task.ts';
import { stamped, TASK } from './task-log.kit.ts';
import { a2aUpdates, newA2aView } from './view.ts';

test('a task holds the first thousand of its artifacts, however large the others are', () => {
  const fold = newTaskFold();
  const view = newA2aView({ taskId: TASK, hostId: 'host/1', artifactUrl: (_, id) => `https://host.example/${id}` });
  const [created] = stamped([{ kind: 'task-created', initiator: 'user' }]).flatMap((event) => a2aUpdates(view, event));
  if (created === undefined) throw new Error('The task was not created.');
  foldTask(fold, created);
  const text = 'x'.repeat(10_000);
  for (let i = 0; i < 1_200; i += 1) {
    const artifact = { artifactId: `a${i}`, parts: [{ text }] };
    const place = { taskId: TASK, contextId: 'ctx_1', append: false, lastChunk: true, storedAt: null };
    foldTask(fold, { type: 'artifact', artifact, ...place });
  }
  const artifacts = foldedTask(fold)?.artifacts ?? [];
  expect(artifacts.map(({ artifactId }) => artifactId)).toEqual(Array.from({ length: 1_000 }, (_, i) => `a${i}`));
  expect(JSON.stringify(artifacts).length).toBeLessThan(1_200_000);
});
