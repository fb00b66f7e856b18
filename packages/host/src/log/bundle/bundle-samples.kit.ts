/** A sample run and its bundle, for tests of bundles and of the commands that handle them; not shipped. */

import { hash } from 'node:crypto';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { inMemoryStore } from '../in-memory/store.ts';
import type { NewRow } from '../ports/rows.ts';
import { context, creation, row, runA, started } from '../ports/samples.kit.ts';
import { bundleLines } from './bundle.ts';

export const definition = '{"id":"wf"}';
const definitionHash = hash('sha256', definition, 'hex');

/** A run of three events. The middle one is for operators, and the text holds multi-byte characters. */
export const sampleRows: readonly NewRow[] = [
  started({ definitionHash, contextId: context, inputs: { city: 'Zürich' } }),
  row('cairn.timer.set', {
    at: 1_001,
    audience: 'operator',
    cause: 0,
    payload: '{"timerId":"t1","purpose":"delay","fireAt":"2026-01-01T00:00:00.000Z"}',
  }),
  row('run.completed', { at: 1_002, payload: '{"outputs":{"sum":3}}', task: '{"status":"completed"}' }),
];

/** The bundle lines of a run with these rows. */
export async function bundleOf(rows: readonly NewRow[] = sampleRows): Promise<readonly string[]> {
  const store = inMemoryStore();
  await store.log.append(creation(runA, { rows }));
  const stored = await rowsOf(store, runA);
  const { seq, hash: last } = present(stored.at(-1));
  const run = {
    runId: runA,
    contextId: context,
    originRunId: runA,
    parentRunId: null,
    definitionHash,
    seq,
    hash: last,
  };
  return [...bundleLines({ run, definition, exportedAt: 5_000, rows: stored })];
}
