/** A data folder with something in every table that verification covers; not shipped. */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { dropped, kept } from '../../ports/memory-samples.kit.ts';
import type { NewRow } from '../../ports/rows.ts';
import { asked, context, creation, resolved, row, runA, started } from '../../ports/samples.kit.ts';
import { taskFaces } from '../../task-faces.ts';
import { openSqliteStore } from '../folder/open.ts';
import { openReadOnly } from '../folder/read-only.ts';
import type { Problem } from './problem.ts';

const definition = '{"id":"wf"}';
const agent = '{"packName":"desk"}';
const sha256 = (text: string): string => hash('sha256', text, 'hex');

export const child = `${runA}.1` as RunId;

/** Rows with the faces that their run gives them. */
function faced(runId: RunId, rows: readonly NewRow[]): readonly NewRow[] {
  const faceOf = taskFaces(runId);
  return rows.map((one, seq) => ({
    ...one,
    task: faceOf({ ...one, seq, nodeId: one.nodeId ?? null, cause: one.cause ?? null }),
  }));
}

/** A closed folder with a run that waits and its child, a large value, memories, tags and definitions. */
export async function sampleFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-verify-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openSqliteStore({ folder });
  const pins = {
    definitionHash: sha256(definition),
    contextId: context,
    agents: { desk: { hash: sha256(agent), ref: { agentId: 'desk' } } },
  };
  const large = JSON.stringify({ text: 'long '.repeat(2_000) });
  for (const body of [definition, agent]) await store.definitions.put(sha256(body), body);
  const workflow = { tenant: 't', workflowId: 'wf', version: '1', hash: sha256(definition), registeredAt: 1 };
  await store.definitions.putWorkflow(workflow);
  const blob = await store.blobs.put({ tenant: 't', bytes: new TextEncoder().encode('piece'), at: 1 });
  const chunk = { artifactId: 'a', version: 1, index: 0, complete: true, blob };
  const rows = [
    started({ ...pins, inputs: { city: 'Zürich' }, tags: ['red', 'blue'] }),
    row('log.appended', { payload: large, cause: 0 }),
    row('log.appended', { payload: large, audience: 'operator', nodeId: 'n' }),
    asked('i1'),
    resolved('i1'),
    kept('m1', { tags: ['x'] }),
    kept('m2'),
    dropped('m2'),
    asked('i2'),
    row('cairn.artifact.chunk', { payload: JSON.stringify(chunk) }),
  ];
  await store.log.append(creation(runA, { rows: faced(runA, rows) }));
  const below = [
    started({ ...pins, parentRunId: runA, tags: [] }),
    row('run.completed', { payload: '{"outputs":{}}' }),
  ];
  const create = { tenant: 't', contextId: context, originRunId: child, parentRunId: runA };
  await store.log.append({ runId: child, create, rows: faced(child, below) });
  await store.close();
  return folder;
}

/** Everything that verification finds in a folder. */
export function problemsOf(folder: string): readonly Problem[] {
  const problems: Problem[] = [];
  const log = openReadOnly(folder);
  try {
    for (const { runId } of log.runs()) {
      const run = log.run(runId);
      if (run === null) problems.push({ runId, seq: null, message: 'unknown id' });
      else log.checks.run(run, log.rows(run), (seq, message) => problems.push({ runId, seq, message }));
    }
    const ofFolder = (seq: number | null, message: string) => problems.push({ runId: null, seq, message });
    log.checks.folder(ofFolder, ofFolder);
    return problems;
  } finally {
    log.close();
  }
}
