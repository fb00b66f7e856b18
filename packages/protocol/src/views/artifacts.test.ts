/** The artifacts of a context as a fold of its events. */
import { expect, test } from 'vitest';
import { typedEvent } from '../events/row.ts';
import type { RunId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { foldArtifacts, newArtifactsView } from './artifacts.ts';

type Said = readonly [run: string, type: string, payload?: JsonObject];

function folded(...said: readonly Said[]) {
  const view = newArtifactsView();
  for (const [seq, [run, type, payload = {}]] of said.entries()) {
    foldArtifacts(view, Object.assign(typedEvent({ seq, at: seq, type, payload }), { runId: run as RunId }));
  }
  return view;
}

const piece = (run: string, index: number, fields: JsonObject = {}): Said => [
  run,
  'cairn.artifact.chunk',
  { artifactId: 'a', index, complete: false, data: 'xy', ...fields },
];

const last = { complete: true };

test('a version is current once it is complete, and a piece out of order is no part of it', () => {
  const view = folded(piece('r', 0), piece('r', 2, last), piece('q', 1, last), piece('r', 1, last), piece('r', 0));
  expect(view.artifacts.a).toMatchObject({
    current: 1,
    versions: [
      { version: 1, state: 'complete', size: 4, pieces: 2 },
      { version: 2, state: 'open' },
    ],
  });
});

test('an open version is abandoned when its run ends or begins again, and another run cannot take it', () => {
  const again = folded(piece('r', 0), piece('q', 0), piece('r', 0, last));
  expect(again.artifacts.a?.versions).toMatchObject([
    { runId: 'r', state: 'abandoned' },
    { runId: 'r', state: 'complete' },
  ]);
  const ended = folded(piece('r', 0), ['r', 'run.failed'], piece('q', 0, last));
  expect(ended.artifacts.a).toMatchObject({ current: 2, versions: [{ state: 'abandoned' }, { runId: 'q' }] });
  expect(ended.openOf).toEqual({});
});

test('a name is only a name', () => {
  const view = folded(piece('r', 0, { artifactId: '__proto__', ...last }));
  expect(Object.keys(view.artifacts)).toEqual(['__proto__']);
});
