import { expect, test } from 'vitest';
import { FileCutter } from './file-cutter.ts';
import { PieceCount } from './piece.ts';
import { type PieceSink, pieceWriter } from './piece-writer.ts';

test('a writer may use its bytes again at once, whether or not it waits for the write', async () => {
  const kept: Buffer[] = [];
  const count = new PieceCount();
  const sink: PieceSink = {
    isInline: (bytes) => count.isInline(bytes),
    async blob(bytes) {
      // A store takes its time.
      await Promise.resolve();
      kept.push(Buffer.from(bytes));
      return { sha256: '', bytes: bytes.length };
    },
    async add(piece) {
      count.next('dump.bin', piece);
      const { content } = piece;
      if ('data' in content && content.data !== undefined) kept.push(Buffer.from(content.data, 'base64'));
    },
    ref: async () => ({ artifactId: 'dump.bin', version: 1 }),
    abandon: async () => undefined,
  };
  const file = pieceWriter(sink, new FileCutter(sink, { name: 'dump.bin', redactor: null }));
  const bytes = Buffer.alloc(300_000);
  const writes = [];
  for (const value of [1, 2, 3]) {
    bytes.fill(value);
    writes.push(file.write(bytes));
  }
  bytes.fill(9);
  await Promise.all(writes);
  await file.close();
  const expected = Buffer.concat([1, 2, 3].map((value) => Buffer.alloc(300_000, value)));
  expect(Buffer.concat(kept).equals(expected)).toBe(true);
});
