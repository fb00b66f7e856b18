/** The event that the host reads itself is the one that it sends. */
import type { ContextId, RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plain } from '../feed/plain-row.kit.ts';
import { row } from '../ports/samples.kit.ts';
import { faceColumns } from './face-columns.ts';
import { taskEventOf, taskEventText } from './task-frame.ts';

const face = fc.record({
  kind: fc.constantFrom('task-created', 'content-delta'),
  more: fc.dictionary(fc.string(), fc.jsonValue()),
});

test('an event is what its text says, whatever its face, its context and its place', () => {
  fc.assert(
    fc.property(
      face,
      fc.record({
        contextId: fc.string(),
        isSubtask: fc.boolean(),
        seq: fc.nat(),
        cursor: fc.nat(),
        indent: fc.nat(2),
      }),
      ({ kind, more }, { contextId, isSubtask, seq, cursor, indent }) => {
        // A face may have members of the envelope: the envelope counts.
        const task = JSON.stringify({ kind, ...more, cursor: 'odd' }, null, indent);
        const stored = {
          ...row('node.started', { task }),
          ...{ runId: (isSubtask ? 'run_a.1' : 'run_a') as RunId, contextId: contextId as ContextId, seq, cursor },
          ...{ nodeId: null, cause: null, rowHash: '', hash: '' },
          face: faceColumns(task, { audience: 'client', isSubtask }),
        };
        const event = taskEventOf(stored, '2026-01-01T00:00:00.000Z');
        expect(event).toEqual(JSON.parse(taskEventText(stored, '2026-01-01T00:00:00.000Z')));
      },
    ),
  );
});

test('readers of one row share what was parsed of it; another row at its place is parsed for itself', () => {
  const stored = (text: string, kind = 'content-delta') => {
    const task = JSON.stringify({ kind, text });
    return { ...plain, cursor: 7, task, face: faceColumns(task, { audience: 'client', isSubtask: false }) };
  };
  const [one, other, large] = [stored('one'), stored('other'), stored('x'.repeat(3_000))];
  const at = '2026-01-01T00:00:00.000Z';
  expect(taskEventOf(one, at)).toBe(taskEventOf(one, at));
  expect(taskEventOf(other, at)).toMatchObject({ text: 'other' });
  expect(taskEventOf(one, at)).toMatchObject({ text: 'one' });
  expect(taskEventOf(large, at)).not.toBe(taskEventOf(large, at));
});
