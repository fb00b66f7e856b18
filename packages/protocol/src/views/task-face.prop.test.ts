/** Properties of the task view over random legal histories. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FoldEvent } from '../events/event.ts';
import type { JsonObject } from '../json.ts';
import { legalHistory, someRun } from './legal-history.kit.ts';
import { foldRun } from './run.ts';
import { newRunView } from './run-view.ts';
import { taskFace } from './task-face.ts';

function facesOf(events: readonly FoldEvent[]): JsonObject[] {
  const view = newRunView(someRun);
  return events
    .map((event) => {
      foldRun(view, event);
      return taskFace(view, event);
    })
    .filter((face) => face !== null);
}

const ofKind = (faces: readonly JsonObject[], kind: string) => faces.filter((face) => face.kind === kind);

test('a task begins with task-created and ends with its one end', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const faces = facesOf(events);
      expect(faces[0]?.kind).toBe('task-created');
      expect(ofKind(faces, 'task-created')).toHaveLength(1);
      const ends = faces.filter(
        (face) => face.kind === 'task-complete' || face.status === 'failed' || face.status === 'canceled',
      );
      expect(ends).toEqual([faces.at(-1)]);
    }),
  );
});

test('no status follows itself, but for a pause and a resume, which say that they are', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const isPause = ({ metadata }: JsonObject) => (metadata as JsonObject | undefined)?.reason !== undefined;
      const statuses = ofKind(facesOf(events), 'task-status')
        .filter((face) => !isPause(face))
        .map((face) => face.status);
      for (const [i, status] of statuses.entries()) expect(status).not.toBe(statuses[i - 1]);
    }),
  );
});

test('every tool-start has one tool-complete after it, and no tool-complete lacks a start', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const open = new Set<unknown>();
      const seen = new Set<unknown>();
      for (const face of facesOf(events)) {
        if (face.kind === 'tool-start') {
          expect(seen.has(face.toolCallId)).toBe(false);
          seen.add(face.toolCallId);
          open.add(face.toolCallId);
        }
        if (face.kind === 'tool-complete') expect(open.delete(face.toolCallId)).toBe(true);
      }
      expect([...open]).toEqual([]);
    }),
  );
});

test('a waiting status lists exactly the questions that wait, after each was asked', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const asked = new Set<unknown>();
      for (const face of facesOf(events)) {
        if (face.kind === 'input-required') asked.add(face.inputId);
        if (face.status !== 'waiting-input') continue;
        const { pending } = face.metadata as { pending: { type: string; id: string }[] };
        expect(pending.length).toBeGreaterThan(0);
        for (const { type, id } of pending) expect([type, asked.has(id)]).toEqual(['input', true]);
      }
    }),
  );
});

test('a face holds plain JSON and none of the fields that a frame adds', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      for (const face of facesOf(events)) {
        expect(JSON.parse(JSON.stringify(face))).toStrictEqual(face);
        for (const field of ['contextId', 'taskId', 'timestamp', 'cursor', 'eventId', 'parentTaskId']) {
          expect(face).not.toHaveProperty(field);
        }
      }
    }),
  );
});

test('a log without the node column shows the same', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const bare = events.map(({ nodeId: _, ...event }) => event);
      expect(JSON.stringify(facesOf(bare))).toBe(JSON.stringify(facesOf(events)));
    }),
  );
});
