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

/** A database that fails while it is away. The node is writer 1, and has written the rows of `own`. */
function database(own: readonly number[], others: readonly number[]) {
  const state = { isAway: false };
  const columns = (cursor: number) => [cursor, cursor, 0, 'x', null, null, 0, 0, '{}', null, '', '', runId, contextId];
  const last = Math.max(...own, ...others);
  const rows = async (text: string, values: readonly unknown[] = []): Promise<never[]> => {
    if (state.isAway) throw Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
    const isLook = text.includes('cairn.look');
    const after = isLook ? Number(values[0]) : Number(/\d+/.exec(String(values[1]))?.[0]);
    const shown = [...(isLook ? [] : own), ...others].toSorted((a, b) => a - b).filter((cursor) => cursor > after);
    const found = shown.map(columns);
    if (!isLook) return found as never[];
    const head = [last, '[]', last, '[]'];
    return [head, ...found.map((one) => [null, null, null, null, ...one])] as never[];
  };
  const queries: Queries = { rows, changed: async () => 0 };
  return { queries, state };
}

function tailOf(queries: Queries) {
  const followers = new Followers();
  const heard: number[] = [];
  followers.follow(({ rows }) => heard.push(...rows.map(({ cursor }) => cursor)));
  const horizon = new Horizon(queries, async () => undefined);
  return { heard, tail: new Tail({ queries, horizon, followers, writer: 1 }, 10) };
}

const commitOf = (...cursors: number[]) => ({ runId, contextId, rows: cursors.map(rowAt) });

it('tells a commit later whose turn cannot be read, with what others wrote before it, and leaves nothing out', async () => {
  const { queries, state } = database([12, 13], [11]);
  const { heard, tail } = tailOf(queries);
  state.isAway = true;
  const end = tail.begin();
  await tail.deliver([{ contextId, before: 11, commits: [commitOf(12)] }]);
  end();
  expect(heard).toEqual([]);
  await expect(tail.read()).rejects.toThrow('lost');
  state.isAway = false;
  await tail.read();
  expect(heard).toEqual([11, 12, 13]);
  await tail.deliver([{ contextId, before: 13, commits: [commitOf(14)] }]);
  expect(heard).toEqual([11, 12, 13, 14]);
});

it('tells own rows of which the database never said whether they were written, before those that follow', async () => {
  const { queries } = database([11, 12], []);
  const { heard, tail } = tailOf(queries);
  const end = tail.begin();
  tail.lose([contextId]);
  end();
  await tail.read();
  await tail.deliver([{ contextId, before: 12, commits: [commitOf(13)] }]);
  expect(heard).toEqual([11, 12, 13]);
});
