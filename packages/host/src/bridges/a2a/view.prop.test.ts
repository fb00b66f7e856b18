/** The A2A view over random logs: valid in both versions, complete, with one end, and nothing from inside. */
import { StreamResponse } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INSIDE, TASK, taskLog } from './task-log.kit.ts';
import { type A2aUpdate, type ArtifactUpdate, isTerminal } from './update.ts';
import { v1Update } from './v1.ts';
import { v03Update } from './v03.ts';
import { a2aUpdates, newA2aView } from './view.ts';

const options = {
  taskId: TASK,
  hostId: 'host/1',
  artifactUrl: (_: string, id: string) => `https://host.example/${id}`,
};

const updatesOf = (events: Parameters<typeof a2aUpdates>[1][]): readonly A2aUpdate[] => {
  const view = newA2aView(options);
  return events.flatMap((event) => a2aUpdates(view, event));
};

const holds = (check: (updates: readonly A2aUpdate[], whole: Readonly<Record<string, unknown>>) => void) =>
  fc.assert(
    fc.property(taskLog, ({ events, whole }) => check(updatesOf([...events]), whole)),
    { numRuns: 150 },
  );

test('every update in the names of 1.0 is what the SDK reads and writes', () => {
  holds((updates) => {
    for (const update of updates) {
      const json = v1Update(update);
      expect(StreamResponse.toJSON(StreamResponse.fromJSON(json))).toEqual(json);
    }
  });
});

test('every update in the names of 0.3 is what the SDK makes of the one in 1.0', () => {
  const serializer = new V03PushNotificationSerializer();
  holds((updates) => {
    for (const update of updates) {
      const { body } = serializer.serialize(StreamResponse.fromJSON(v1Update(update)));
      expect(v03Update(update)).toEqual(JSON.parse(String(body)));
    }
  });
});

test('the pieces of every finished artifact join to its content', () => {
  holds((updates, whole) => {
    const joined = joinedArtifacts(updates);
    for (const [id, content] of Object.entries(whole)) expect([id, joined.get(id)]).toEqual([id, content]);
  });
});

test('an artifact begins without append and ends with its last chunk', () => {
  holds((updates, whole) => {
    for (const id of Object.keys(whole)) {
      const pieces = updates.filter((update) => isOf(update, id));
      expect(pieces[0]?.append).toBe(false);
      expect(pieces.at(-1)?.lastChunk).toBe(true);
    }
  });
});

test('a task is created once and has exactly one final update, its last', () => {
  holds((updates) => {
    expect(updates.filter(({ type }) => type === 'task')).toEqual([updates[0]]);
    const finals = updates.filter((update) => update.type === 'status' && update.isFinal);
    expect(finals).toEqual([updates.at(-1)]);
    const ends = updates.filter((update) => update.type === 'status' && isTerminal(update.status.state));
    expect(ends).toEqual(finals);
  });
});

test('an update that asks for input says what it asks', () => {
  holds((updates) => {
    const asking = updates.filter((update) => update.type === 'status' && update.status.state === 'input-required');
    for (const update of asking) expect(update).toMatchObject({ status: { message: { role: 'agent' } } });
  });
});

test('nothing from inside reaches a peer', () => {
  holds((updates) => {
    expect(JSON.stringify(updates)).not.toContain(INSIDE);
  });
});

test('the same events give the same updates', () => {
  fc.assert(
    fc.property(taskLog, ({ events }) => {
      expect(updatesOf([...events])).toEqual(updatesOf([...events]));
    }),
    { numRuns: 30 },
  );
});

const isOf = (update: A2aUpdate, id: string): update is ArtifactUpdate =>
  update.type === 'artifact' && update.artifact.artifactId === id;

/** What a peer has after the last update: text and bytes joined, rows in one list. */
function joinedArtifacts(updates: readonly A2aUpdate[]): ReadonlyMap<string, unknown> {
  const joined = new Map<string, unknown>();
  for (const update of updates) {
    if (update.type !== 'artifact') continue;
    const { artifactId, parts } = update.artifact;
    for (const part of parts) {
      const before = update.append ? joined.get(artifactId) : undefined;
      if ('text' in part) joined.set(artifactId, `${before ?? ''}${part.text}`);
      else if ('bytes' in part) joined.set(artifactId, `${before ?? ''}${part.bytes}`);
      else if ('data' in part) joined.set(artifactId, withRows(before, part.data));
    }
  }
  return joined;
}

function withRows(before: unknown, data: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(data.rows)) return data;
  const { rows = [] } = (before ?? {}) as { readonly rows?: readonly unknown[] };
  return { rows: [...rows, ...data.rows] };
}
