/** Forks that are cut while a version is written: the index is what verification and a rebuild expect. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import type { NewRow } from '../../ports/rows.ts';
import { creation, row, runA, started } from '../../ports/samples.kit.ts';
import { openSqliteStore } from '../folder/open.ts';
import { problemsOf } from '../verify/damaged-folder.kit.ts';

const piece = (version: number, index: number, complete = false): NewRow => {
  const payload = { artifactId: 'a.txt', name: 'a.txt', version, index, complete, data: 'ab', bytes: 2 };
  return row('cairn.artifact.chunk', { payload: JSON.stringify(payload) });
};

async function place(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-cut-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openSqliteStore({ folder });
  const rows = [started(), piece(1, 0, true), piece(2, 0), piece(2, 1), piece(2, 2, true)];
  await store.log.append(creation(runA, { rows }));
  const fork = async (runId: string, mode: 'branch' | 'replay', own: readonly NewRow[]) => {
    const identity = { runId: runId as RunId, tenant: 't', contextId: `ctx_${runId}` as ContextId, originRunId: runA };
    await store.log.fork({ ...identity, fork: { sourceRunId: runA, fromSeq: 3, mode }, at: 2_000 });
    await store.log.append({ runId: identity.runId, rows: own });
  };
  await fork('run_branch', 'branch', [piece(3, 0), piece(3, 1, true)]);
  await fork('run_replay', 'replay', rows.slice(3));
  await fork('run_open', 'replay', rows.slice(3, 4));
  // Earlier versions of the host gave the number again.
  await fork('run_older', 'branch', [row('log.appended')]);
  await store.close();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec("DELETE FROM artifacts WHERE context = 'ctx_run_older' AND version = 2");
  db.close();
  const again = await openSqliteStore({ folder });
  await again.log.append({ runId: 'run_older' as RunId, rows: [piece(2, 0), piece(2, 1, true)] });
  await again.close();
  return folder;
}

const ofArtifacts = (folder: string) => problemsOf(folder).filter(({ message }) => message.includes('artifact'));

test('nothing is wrong with them, and a rebuild keeps what they have', async () => {
  const folder = await place();
  expect(ofArtifacts(folder)).toEqual([]);
  const store = await openSqliteStore({ folder });
  await store.runIndex.rebuild();
  const found = async (run: string) => {
    const one = await store.artifacts.get(`ctx_${run}` as ContextId, 'a.txt');
    return [one?.version, one?.firstSeq, one?.lastSeq, one?.size];
  };
  expect(await found('run_branch')).toEqual([3, 3, 4, 4]);
  expect(await found('run_replay')).toEqual([2, 2, 4, 6]);
  expect(await found('run_open')).toEqual([1, 1, 1, 2]);
  expect(await found('run_older')).toEqual([2, 4, 5, 4]);
  expect(await store.runIndex.rebuild()).toMatchObject({ repaired: 0 });
  await store.close();
  expect(ofArtifacts(folder)).toEqual([]);
});
