/** What a notification brings: rows that fit, and the place of all others. */
import { expect, test } from 'vitest';
import type { Row } from '../../ports/rows.ts';
import { context, runA } from '../../ports/samples.kit.ts';
import { hear, NOTIFY, tell } from './said.ts';

const told = (row: Row) => ({
  batch: {
    groups: new Map([[runA, { runId: runA, head: { record: { contextId: context } }, before: { key: 7 } }]]),
  },
  admitted: [{ rows: [row] }],
});

const rowOf = (payload: string): Row => ({
  ...{ runId: runA, seq: 3, contextId: context, cursor: 0, at: 1, type: 'a', nodeId: null, cause: null },
  ...{ audience: 'client' as const, payload, task: null, face: 0, rowHash: 'r', hash: 'h' },
});

test('a small row of one run goes with the notification', () => {
  const { text, values } = tell('channel', 'node', told(rowOf('{"a":1}')));
  expect(text).not.toBe(NOTIFY);
  expect(values[2]).toContain('{\\"a\\":1}');
});

test('of a large row the place is told, and its texts are not rendered for that', () => {
  const row = rowOf(JSON.stringify({ text: 'x'.repeat(8_000) }));
  Object.defineProperty(row, 'rowHash', {
    get: () => {
      throw new Error('the row was rendered');
    },
  });
  const { text, values } = tell('channel', 'node', told(row));
  expect(text).toBe(NOTIFY);
  expect(hear(String(values[1]))).toEqual({ name: 'node', places: [{ runId: runA, contextId: context }], news: null });
});
