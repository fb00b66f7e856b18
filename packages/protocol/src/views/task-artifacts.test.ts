/** How artifacts appear in the task view. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typedEvent } from '../events/row.ts';
import type { JsonObject } from '../json.ts';
import { artifactFace } from './task-artifacts.ts';

const face = (type: string, payload: JsonObject): JsonObject | null =>
  artifactFace(typedEvent({ seq: 1, at: 0, type, payload }));

const described = { name: 'Report', description: 'The report', mimeType: 'text/plain', encoding: 'utf-8' };

test('the pieces of a file join to its text; only the first describes it and only the last has the hash', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 8 }), (texts) => {
      const faces = texts.map((data, index) =>
        face('cairn.artifact.chunk', {
          artifactId: 'a',
          version: 2,
          index,
          complete: index === texts.length - 1,
          callId: 'c',
          data,
          ...described,
          ...(index === texts.length - 1 && { sha256: 'h' }),
        }),
      );
      expect(faces.map((one) => one?.data).join('')).toBe(texts.join(''));
      for (const [index, one] of faces.entries()) {
        const isLast = index === faces.length - 1;
        expect(one).toMatchObject({ kind: 'file-write', artifactId: 'a', index, complete: isLast });
        expect(one?.name).toBe(index === 0 ? 'Report' : undefined);
        expect(one?.metadata).toEqual({
          toolCallId: 'c',
          ...(index === 0 && { version: 2 }),
          ...(isLast && { sha256: 'h' }),
        });
      }
    }),
  );
});

test('content in a blob is named, not shown', () => {
  const blob = { sha256: 'h', bytes: 262_144 };
  const piece = { artifactId: 'a', version: 1, index: 3, complete: false, blob };
  expect(face('cairn.artifact.chunk', piece)).toMatchObject({ data: '', metadata: { blob } });
  expect(face('cairn.artifact.rows', piece)).toMatchObject({ kind: 'dataset-write', rows: [], metadata: { blob } });
});

test('a record is one event with its version as a number; the row that closes a file is not shown', () => {
  const record = { artifactId: 'a', artifactType: 'data', version: '7', data: { sum: 1 }, callId: 'c' };
  expect(face('artifact.created', record)).toEqual({
    kind: 'data-write',
    artifactId: 'a',
    data: { sum: 1 },
    metadata: { toolCallId: 'c', version: 7 },
  });
  expect(face('artifact.created', { artifactId: 'a', artifactType: 'text/plain', version: '1' })).toBeNull();
});
