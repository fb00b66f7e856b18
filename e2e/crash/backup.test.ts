/** A backup of a real host process under load, and a host that goes on from it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@cairn/client';
import { expect, onTestFinished, test } from 'vitest';
import { backupFolder, restoreFolder } from '../../packages/host/src/log/sqlite/folder/backup.ts';
import { chain } from '../../packages/host/src/server/sample-workflows.kit.ts';
import { HostProcess } from './host-process.ts';

const key = 'a-key-for-backups-under-load';
const quick = chain('quick', { typeId: 'core.noop' });
const waits = chain('waits', { typeId: 'core.approvalGate', config: { title: 'Go on?' } });

function home(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function started(folder: string): Promise<{ readonly host: HostProcess; readonly url: string }> {
  const host = new HostProcess({ folder, journal: join(folder, '..', 'journal'), key, tenant: 't' });
  onTestFinished(() => host.kill());
  const birth = await host.start();
  if (birth.kind !== 'ready') throw new Error(`The host did not start: ${JSON.stringify(birth)}`);
  return { host, url: birth.url };
}

test('a backup under load has every run acknowledged before it, and a restored host goes on', {
  timeout: 120_000,
}, async () => {
  const root = home();
  const data = join(root, 'data');
  const { host, url } = await started(data);
  const client = createClient({ url, key });
  for (const workflow of [quick, waits]) await client.workflows.register(workflow);
  const waiting = (await client.runs.create({ workflowId: 'waits' })).runId;
  await client.runs.wait(waiting);
  const acknowledged: string[] = [];
  let isLoaded = true;
  const load = Array.from({ length: 4 }, async () => {
    while (isLoaded) acknowledged.push((await client.runs.create({ workflowId: 'quick' })).runId);
  });
  while (acknowledged.length < 50) await client.runs.get(waiting);
  const before = [...acknowledged];
  const file = join(root, 'backup.cairn');
  const facts = await backupFolder(data, file, { hasKey: false, at: 1 });
  const during = acknowledged.length;
  isLoaded = false;
  await Promise.all(load);
  expect(facts.runs).toBeGreaterThanOrEqual(before.length + 1);
  expect(during).toBeGreaterThanOrEqual(before.length);
  await host.stop();

  const restored = join(root, 'restored');
  expect(restoreFolder(file, restored)).toEqual(facts);
  expect(() => restoreFolder(file, restored)).toThrow(/exists already/);
  // Without the key of the host it does not start; that is told by name.
  const keyless = new HostProcess({ folder: restored, journal: join(root, 'journal'), key, tenant: 't' });
  expect(await keyless.start()).toMatchObject({ kind: 'failed', code: 'host_key_lost' });
  cpSync(join(data, 'host.key'), join(restored, 'host.key'));
  const again = createClient({ url: (await started(restored)).url, key });
  for (const runId of before) expect(await again.runs.get(runId)).toMatchObject({ runId });
  await again.runs.answer(waiting, 'n0', { action: 'accept' });
  expect(await again.runs.wait(waiting)).toMatchObject({ status: 'completed' });
  const next = await again.runs.create({ workflowId: 'quick' });
  expect(await again.runs.wait(next.runId)).toMatchObject({ status: 'completed' });
});

test('a damaged, foreign or newer backup is refused by name, and leaves nothing', { timeout: 60_000 }, async () => {
  const root = home();
  const data = join(root, 'data');
  const { host, url } = await started(data);
  const client = createClient({ url, key });
  await client.workflows.register(quick);
  await client.runs.wait((await client.runs.create({ workflowId: 'quick' })).runId);
  await host.stop();
  const file = join(root, 'backup.cairn');
  await backupFolder(data, file, { hasKey: true, at: 1 });
  await expect(backupFolder(data, file, { hasKey: false, at: 1 })).rejects.toMatchObject({ code: 'conflict' });
  const changed = (sql: string): string => {
    const copy = join(root, 'changed.cairn');
    writeFileSync(copy, readFileSync(file));
    using db = new DatabaseSync(copy);
    db.exec(sql);
    return copy;
  };
  const target = join(root, 'restored');
  const corrupt = { code: 'store_corrupt' };
  const refusals: readonly (readonly [string, object])[] = [
    [
      "UPDATE events SET payload = replace(payload, 'quick', 'quack') WHERE seq = 0",
      { ...corrupt, message: expect.stringMatching(/run run_\S+: event 0 /) },
    ],
    ['DELETE FROM events WHERE seq = 1', { ...corrupt, message: expect.stringMatching(/run run_\S+: event \d+ /) }],
    ['DELETE FROM events WHERE cursor = (SELECT max(cursor) FROM events)', corrupt],
    ['DROP TABLE backup_facts', { ...corrupt, message: expect.stringContaining('not a backup') }],
    ['PRAGMA user_version = 9999', { code: 'store_newer' }],
    ["INSERT INTO backup_files VALUES ('runs/../../x', x'00')", corrupt],
  ];
  for (const [sql, refusal] of refusals) {
    const copy = changed(sql);
    let thrown: unknown;
    try {
      restoreFolder(copy, target);
    } catch (error) {
      thrown = error;
    }
    expect(thrown, sql).toMatchObject(refusal);
  }
  expect(restoreFolder(file, target)).toMatchObject({ runs: 1, hasKey: true });
  expect(readFileSync(join(target, 'host.key'))).toEqual(readFileSync(join(data, 'host.key')));
  expect((await started(target)).url).toContain('http');
});
