/** Subscribers of one ring share texts: by the key of their lens, and by what it shows. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Row } from '../ports/rows.ts';
import { type Lens, payloads } from './lens.ts';
import { Ring, type Wanted } from './ring.ts';

const rowOf = (type: string, seq: number): Row => ({
  runId: 'run_1' as RunId,
  seq,
  contextId: 'ctx_1' as ContextId,
  cursor: seq,
  at: 0,
  type,
  nodeId: null,
  cause: null,
  audience: 'client',
  payload: '{}',
  task: null,
  face: 0,
  rowHash: 'r',
  hash: 'h',
});

const hiding = (hidden: string): Lens =>
  payloads(`without ${hidden}`, (type) => (type === hidden ? null : type), 'frames');

const wanted = (lens: Lens, after = -1): Wanted => ({ runId: null, after, audience: undefined, lens });

function ringOf(...types: readonly string[]): Ring {
  const ring = new Ring({ events: 100, size: 100_000 });
  ring.isShared = true;
  ring.push(types.map(rowOf));
  return ring;
}

test('lenses that show the same rows share one text, though they hide different types', () => {
  const ring = ringOf('a', 'b', 'a');
  const first = ring.read(0, wanted(hiding('x')), 10_000);
  const second = ring.read(0, wanted(hiding('y')), 10_000);
  expect(first.text.match(/^event: .$/gm)).toEqual(['event: a', 'event: b', 'event: a']);
  expect(second.text).toBe(first.text);
  expect(first.shared).toBeDefined();
  expect(second.shared).toBe(first.shared);
});

test('a lens that shows other rows gets a text of its own, also at the same place and of the same length', () => {
  const ring = ringOf('a', 'b');
  const [withoutA, withoutB] = [ring.read(0, wanted(hiding('a')), 10_000), ring.read(0, wanted(hiding('b')), 10_000)];
  expect(withoutA.text).toContain('event: b');
  expect(withoutB.text).toContain('event: a');
  expect(withoutB.shared).not.toBe(withoutA.shared);
});

test('one that shares a text still has a place of its own', () => {
  const ring = ringOf('a', 'b', 'c');
  ring.read(0, wanted(hiding('x')), 10_000);
  const stretch = ring.read(0, wanted(hiding('c')), 10_000);
  expect(stretch).toMatchObject({ upTo: 1, end: 3, after: 2 });
  expect(ring.read(0, wanted(hiding('y')), 10_000)).toMatchObject({ upTo: 2, end: 3, after: 2 });
});
