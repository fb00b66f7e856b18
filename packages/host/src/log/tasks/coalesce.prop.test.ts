/** Fewer events say the same: whatever the rows, a reader that joins deltas and keeps the last progress ends alike. */
import type { JsonObject, RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Row } from '../ports/rows.ts';
import { context, row } from '../ports/samples.kit.ts';
import { coalesced } from './coalesce.ts';

type Face = JsonObject & { readonly kind: string };

const runs = ['run_a', 'run_b'] as RunId[];
const stored = (runId: RunId): Row => ({
  ...row('output.chunk'),
  runId,
  contextId: context,
  seq: 0,
  cursor: 0,
  nodeId: null,
  cause: null,
  face: 0,
  rowHash: '',
  hash: '',
});
const move = fc.oneof(
  fc.record({ what: fc.constant('delta'), run: fc.nat(1), text: fc.string({ maxLength: 4 }) }),
  fc.record({ what: fc.constant('complete'), run: fc.nat(1), text: fc.constant('') }),
  fc.record({ what: fc.constant('progress'), run: fc.nat(1), text: fc.constantFrom('c', 'd') }),
  fc.record({ what: fc.constant('done'), run: fc.nat(1), text: fc.constantFrom('c', 'd') }),
  fc.record({ what: fc.constant('hidden'), run: fc.nat(1), text: fc.constant('') }),
);

/** Rows of two runs that write blocks and call tools at the same time. */
function history(moves: readonly { what: string; run: number; text: string }[]): readonly Row[] {
  const next = [0, 0];
  const block = [0, 0];
  let steps = 0;
  return moves.map(({ what, run, text }, place) => {
    const contentId = `${runs[run]}/${block[run]}`;
    const face = ((): Face | null => {
      switch (what) {
        case 'delta':
          return { kind: 'content-delta', delta: text, index: next[run] ?? 0, contentId };
        case 'complete':
          return { kind: 'content-complete', content: '', contentId };
        case 'progress':
          return { kind: 'tool-progress', toolCallId: text, progress: Math.min(1, steps++ / 100) };
        case 'done':
          return { kind: 'tool-complete', toolCallId: text, toolName: 't', success: true, result: place };
        default:
          return null;
      }
    })();
    if (what === 'delta') next[run] = (next[run] ?? 0) + 1;
    if (what === 'complete') {
      next[run] = 0;
      block[run] = (block[run] ?? 0) + 1;
    }
    return {
      ...stored(runs[run] ?? ('' as RunId)),
      seq: place,
      cursor: place + 1,
      task: face === null ? null : JSON.stringify(face),
    };
  });
}

/** What a reader holds after the rows. */
function read(rows: readonly Row[]) {
  const blocks: Record<string, string> = {};
  const progress: Record<string, unknown> = {};
  const calls: Record<string, unknown> = {};
  const order: string[] = [];
  for (const { runId, task } of rows) {
    const face: Face = JSON.parse(task ?? '{"kind":""}');
    const call = `${runId} ${String(face.toolCallId)}`;
    if (face.kind === 'content-delta')
      blocks[String(face.contentId)] = (blocks[String(face.contentId)] ?? '') + face.delta;
    if (face.kind === 'tool-progress') progress[call] = face.progress;
    if (face.kind === 'tool-complete') calls[call] = face.result;
    if (face.kind === 'content-complete' || face.kind === 'tool-complete') order.push(`${face.kind} ${call}`);
  }
  return { blocks, progress, calls, order };
}

const kindOf = ({ task }: Row): string | null => (task === null ? null : (JSON.parse(task) as Face).kind);

it('ends with the same text, progress and order, in one pass and in pages', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), fc.nat(60), (moves, cut) => {
      const rows = history(moves);
      const whole = coalesced(rows, kindOf);
      expect(read(whole)).toEqual(read(rows));
      const pages = [...coalesced(rows.slice(0, cut), kindOf), ...coalesced(rows.slice(cut), kindOf)];
      expect(read(pages)).toEqual(read(rows));
      const cursors = whole.map(({ cursor }) => cursor);
      expect(cursors).toEqual([...cursors].sort((a, b) => a - b));
    }),
  );
});

it('joins a block with its first index, its last cursor and the number of deltas, and shows only the newest progress', () => {
  const delta = { what: 'delta', run: 0, text: 'ab' };
  const progress = { what: 'progress', run: 0, text: 'c' };
  const rows = history([delta, delta, delta, progress, progress, delta]);
  const shown = coalesced(rows, kindOf).map(({ cursor, task }) => ({ cursor, ...(JSON.parse(task ?? '') as Face) }));
  expect(shown).toEqual([
    { cursor: 3, kind: 'content-delta', delta: 'ababab', index: 0, contentId: 'run_a/0', metadata: { coalesced: 3 } },
    { cursor: 5, kind: 'tool-progress', toolCallId: 'c', progress: 0.01 },
    { cursor: 6, kind: 'content-delta', delta: 'ab', index: 3, contentId: 'run_a/0' },
  ]);
});
