/** A data folder with something in every table that verification covers; not shipped. */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContextId, RunId } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { chainHash, chainStart, rowHash } from '../../chain.ts';
import { dropped, kept } from '../../ports/memory-samples.kit.ts';
import { purge } from '../../ports/purging.kit.ts';
import type { NewRow } from '../../ports/rows.ts';
import { asked, context, creation, resolved, row, runA, started } from '../../ports/samples.kit.ts';
import { taskFaces } from '../../task-faces.ts';
import { openSqliteStore } from '../folder/open.ts';
import { openReadOnly } from '../folder/read-only.ts';
import type { Problem } from './problem.ts';

export const definition = '{"id":"wf"}';
const agent = '{"packName":"desk"}';
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

export const child = `${runA}.1` as RunId;

/** Rows with the faces that their run gives them. */
export function faced(runId: RunId, rows: readonly NewRow[]): readonly NewRow[] {
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

/** The same with forks, purged runs and forks of them, an imported run, and checkpoints. */
export async function fullFolder(): Promise<string> {
  const folder = await sampleFolder();
  const store = await openSqliteStore({ folder });
  const [source, gone, keptFork, lostFork] = ['run_s', 'run_g', 'run_f', 'run_l'] as RunId[] as [
    RunId,
    RunId,
    RunId,
    RunId,
  ];
  const contextOf = (runId: RunId): ContextId => `ctx_${runId}` as ContextId;
  const end = row('run.completed', { payload: '{"outputs":{}}' });
  const note = row('log.appended', { audience: 'operator', nodeId: 'n', cause: 0, payload: '{"text":"x"}' });
  const whole = (runId: RunId) => [
    started({ definitionHash: sha256(definition), contextId: contextOf(runId) }),
    note,
    end,
  ];
  for (const runId of [source, gone]) {
    const create = { tenant: 't', contextId: contextOf(runId), originRunId: runId };
    await store.log.append({ runId, create, rows: faced(runId, whole(runId)) });
  }
  const below = `${gone}.1` as RunId;
  const pins = { definitionHash: sha256(definition), contextId: contextOf(gone), parentRunId: gone };
  const create = { tenant: 't', contextId: contextOf(gone), originRunId: below, parentRunId: gone };
  await store.log.append({ runId: below, create, rows: faced(below, [started(pins), end]) });
  const forked = async (runId: RunId, sourceRunId: RunId, fromSeq: number) => {
    const identity = { runId, tenant: 't', contextId: contextOf(runId), originRunId: sourceRunId };
    await store.log.fork({ ...identity, fork: { sourceRunId, fromSeq, mode: 'branch' }, at: 2_000 });
    const rows = faced(runId, [...whole(sourceRunId).slice(0, fromSeq), note, end]).slice(fromSeq);
    await store.log.append({ runId, rows });
  };
  await forked(keptFork, source, 2);
  await forked(lostFork, gone, 1);
  await forked('run_pf' as RunId, source, 1);
  await purge(store, gone);
  await purge(store, 'run_pf' as RunId);
  const there = 'run_i' as RunId;
  const rows = faced(there, [started({ definitionHash: sha256(definition), contextId: contextOf(there) })]);
  const [first] = rows;
  const payload = first?.payload ?? '';
  const only = rowHash({ ...row('run.started', first), seq: 0, nodeId: null, cause: null, payload });
  const hash = chainHash(chainStart(there), only);
  const identity = { runId: there, tenant: 't', contextId: contextOf(there), originRunId: there };
  await store.log.importRun({ ...identity, importedAt: 3_000, seq: 0, hash }, rows);
  await store.checkpoints.put({ runId: source, seq: 1, format: 'state/1', body: '{"state":1}' });
  await store.checkpoints.put({ runId: 'cairn.sessions' as RunId, seq: 0, format: 'f', body: '{}' });
  await store.close();
  return folder;
}

/** Everything that verification finds in a folder. */
export function problemsOf(folder: string): readonly Problem[] {
  const problems: Problem[] = [];
  const log = openReadOnly(folder);
  try {
    for (const runId of [...Array.from(log.runs(), ({ runId }) => runId), ...log.purgedRuns()]) {
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
