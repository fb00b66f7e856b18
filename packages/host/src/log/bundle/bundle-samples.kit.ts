/** A sample run and its bundle, for tests of bundles and of the commands that handle them; not shipped. */

import { hash } from 'node:crypto';
import type { RunId } from '@cairn/protocol';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { inMemoryStore } from '../in-memory/store.ts';
import type { NewRow } from '../ports/rows.ts';
import { context, creation, row, runA, started } from '../ports/samples.kit.ts';
import { bundleLines } from './bundle-lines.ts';

export const definition = '{"id":"wf"}';
export const agent = '{"packName":"desk"}';
const sha256 = (text: string): string => hash('sha256', text, 'hex');
const definitionHash = sha256(definition);

/** A run of three events. The middle one is for operators, and the text holds multi-byte characters. */
export const sampleRows: readonly NewRow[] = [
  started({
    definitionHash,
    contextId: context,
    inputs: { city: 'Zürich' },
    agents: { desk: { hash: sha256(agent), ref: { agentId: 'desk' } } },
  }),
  row('cairn.timer.set', {
    at: 1_001,
    audience: 'operator',
    cause: 0,
    payload: '{"timerId":"t1","purpose":"delay","fireAt":"2026-01-01T00:00:00.000Z"}',
  }),
  row('run.completed', { at: 1_002, payload: '{"outputs":{"sum":3}}', task: '{"status":"completed"}' }),
];

/** A run below it. */
export const childId = `${runA}.1` as RunId;
export const childRows: readonly NewRow[] = [started({ definitionHash, parentRunId: runA })];

interface Sample {
  readonly rows?: readonly NewRow[];
  readonly withChild?: boolean;
  /** Blobs that the rows name. */
  readonly blobs?: readonly string[];
}

/** The bundle lines of a run with these rows. */
export async function bundleOf({
  rows = sampleRows,
  withChild = false,
  blobs = [],
}: Sample = {}): Promise<readonly string[]> {
  const store = inMemoryStore();
  for (const text of blobs) await store.blobs.put({ tenant: 't', bytes: new TextEncoder().encode(text), at: 1 });
  const bundled = async (runId: RunId, own: readonly NewRow[], parentRunId: RunId | null) => {
    const create = { tenant: 't', contextId: context, originRunId: runId, parentRunId: parentRunId ?? undefined };
    await store.log.append({ ...creation(runId, { rows: own }), create });
    const stored = await rowsOf(store, runId);
    const { seq, hash: last } = present(stored.at(-1));
    const identity = { runId, contextId: context, originRunId: runId, parentRunId };
    return { run: { ...identity, definitionHash, fork: null, seq, hash: last }, rows: stored };
  };
  const runs = [await bundled(runA, rows, null)];
  if (withChild) runs.push(await bundled(childId, childRows, runA));
  const bodies = rows[0]?.payload.includes('"agents"') === true ? [definition, agent] : [definition];
  const definitions = bodies.map((body) => ({ hash: sha256(body), body })).sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const kept = blobs.map((text) => ({ sha256: sha256(text), data: Buffer.from(text).toString('base64') }));
  kept.sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  return [...bundleLines({ runId: runA, definitions, blobs: kept, runs })];
}
