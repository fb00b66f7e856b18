/** Forks: their shared events are verified through their source, and a bundle of a fork is whole. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { row } from '../../log/ports/samples.kit.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { child, sampleFolder } from '../../log/sqlite/verify/damaged-folder.kit.ts';
import { typed } from '../recording-terminal.kit.ts';

const fork = 'run_fork' as RunId;

/** A folder with a fork of its child run, which goes on with an end of its own. */
async function place() {
  const folder = await sampleFolder();
  writeFileSync(join(folder, 'host.key'), `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  const store = await openSqliteStore({ folder });
  const identity = { tenant: 't', contextId: 'ctx_fork' as ContextId, originRunId: child };
  await store.log.fork({
    ...identity,
    runId: fork,
    fork: { sourceRunId: child, fromSeq: 1, mode: 'branch' },
    at: 2_000,
  });
  const payload = '{"timerId":"t1","purpose":"delay","fireAt":"2026-01-01T00:00:00.000Z"}';
  const own = row('cairn.timer.set', { at: 2_000, audience: 'operator', payload });
  await store.log.append({ runId: fork, at: 1, rows: [own] });
  await store.close();
  const cairn = (...args: readonly string[]) => typed(args, { cwd: folder, env: { CAIRN_DATA: folder } });
  return { folder, cairn };
}

test('a fork is verified with the events of its source, and agrees with a checkpoint of itself and of them', async () => {
  const { cairn } = await place();
  expect(await cairn('verify')).toMatchObject({ code: 0 });
  expect(await cairn('verify', fork)).toMatchObject({ code: 0, out: expect.stringContaining('2 events') });
  await cairn('checkpoint', '--all', '-o', 'all.jsonl');
  expect(await cairn('verify', '--against', 'all.jsonl')).toMatchObject({ code: 0 });
});

test('a change in a shared event is found in the source and in the fork', async () => {
  const { cairn, folder } = await place();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec("UPDATE events SET type = 'run.restarted' WHERE run = 2 AND seq = 0");
  db.close();
  const { problems } = JSON.parse((await cairn('verify', '--json')).out);
  for (const runId of [child, fork])
    expect(problems).toContainEqual({ runId, seq: 0, message: 'event 0 (run.restarted) does not match its hash' });
});

test('a bundle of a fork has all of its events, and says what it is a fork of', async () => {
  const { cairn, folder } = await place();
  await cairn('export', fork, '-o', 'fork.jsonl');
  const lines = readFileSync(join(folder, 'fork.jsonl'), 'utf8').trim().split('\n');
  expect(lines.filter((line) => line.startsWith('{"kind":"row"'))).toHaveLength(2);
  expect(JSON.parse(String(lines.find((line) => line.startsWith('{"kind":"run"'))))).toMatchObject({
    originRunId: child,
    fork: { sourceRunId: child, fromSeq: 1, mode: 'branch' },
  });
  expect((await cairn('verify', 'fork.jsonl')).code).toBe(0);
  const there = join(folder, 'there');
  expect(await cairn('import', 'fork.jsonl', '--data', there, '--tenant', 't')).toMatchObject({ code: 0 });
  expect(await cairn('verify', '--data', there)).toMatchObject({ code: 0 });
});
