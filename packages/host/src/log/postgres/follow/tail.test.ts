/** Rows that a notification brings are told in the order of their context, once. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { Followers } from '../../feed/followers.ts';
import type { Row } from '../../ports/rows.ts';
import type { Queries } from '../database.ts';
import { Horizon } from '../horizon.ts';
import { Tail } from './tail.ts';

const [runId, contextId] = ['run_a' as RunId, 'ctx_a' as ContextId];

const rowAt = (cursor: number): Row => ({
  ...{ runId, contextId, cursor, seq: cursor, at: 0, type: 'x', nodeId: null, cause: null, audience: 'client' },
  ...{ payload: '{}', task: null, face: 0, rowHash: '', hash: '' },
});

it('tells rows that follow what was told, none before its turn, and none again', () => {
  const nothing: Queries = { rows: async () => [], changed: async () => 0 };
  const followers = new Followers();
  const heard: number[] = [];
  followers.follow(({ rows }) => heard.push(...rows.map(({ cursor }) => cursor)));
  const horizon = new Horizon(nothing, async () => undefined);
  const tail = new Tail({ queries: nothing, horizon, followers, writer: 1 }, 10);
  expect(tail.tellNews({ before: 12, rows: [rowAt(13)] })).toBe(false);
  expect(heard).toEqual([]);
  expect(tail.tellNews({ before: 9, rows: [rowAt(11), rowAt(12)] })).toBe(true);
  expect(tail.tellNews({ before: 12, rows: [rowAt(13)] })).toBe(true);
  expect(tail.tellNews({ before: 12, rows: [rowAt(13)] })).toBe(true);
  expect(heard).toEqual([11, 12, 13]);
});
