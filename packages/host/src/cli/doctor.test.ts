import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import type { Finding } from './doctor-finding.ts';
import { typed } from './recording-terminal.kit.ts';
import { servedCli } from './served-cli.kit.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cairn-doctor-'));
  onTestFinished(() => {
    chmodSync(path, 0o700);
    rmSync(path, { recursive: true });
  });
  return path;
}

/** The states and texts by subject, and the exit code. */
async function findings(cwd: string, ...args: readonly string[]) {
  const { code, out } = await typed(['doctor', '--json', ...args], { cwd });
  const { findings: all }: { findings: readonly Finding[] } = JSON.parse(out);
  return { code, ...Object.fromEntries(all.map(({ subject, state, text }) => [subject, `${state}: ${text}`])) };
}

test('a folder in which nothing was started yet is doubtful, not bad', async () => {
  expect(await findings(folder())).toMatchObject({
    code: 0,
    Node: `good: ${process.version}`,
    'data folder': expect.stringMatching(/^doubtful: No data folder found/),
  });
});

test('on a narrow terminal no finding and no hint is cut', async () => {
  const { out } = await typed(['doctor'], { cwd: folder(), columns: 40 });
  expect(out.replaceAll(/\s/g, '')).toContain('Nodatafolderfound');
  for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(40);
  expect(out).not.toMatch(/…$/m);
});

test('a healthy folder is told, while a host runs on it and after', async () => {
  const cwd = folder();
  const store = await openSqliteStore({ folder: join(cwd, '.cairn') });
  const { cairn, detached } = await servedCli(store);
  await cairn(['tail', await detached('sum', '-i', 'n=1')]);
  const running = await findings(cwd);
  expect(running).toMatchObject({ code: 0, lock: 'good: a host uses the folder' });
  expect(running).toMatchObject({ database: expect.stringMatching(/^good: undamaged; runs: 1, events: \d+$/) });
  const rebuild = await findings(cwd, '--rebuild');
  expect(rebuild).toMatchObject({ code: 1, index: expect.stringMatching(/^bad: .* in use by another process/) });
});

test('a data folder is for its owner alone; one that others can read is bad', async () => {
  const cwd = folder();
  const data = join(cwd, 'data');
  await (await openSqliteStore({ folder: data })).close();
  expect(await findings(cwd, '--data', 'data')).toMatchObject({ 'data folder': `good: ${data}` });
  chmodSync(data, 0o755);
  const told = await findings(cwd, '--data', 'data');
  expect(told).toMatchObject({ code: 1, 'data folder': expect.stringMatching(/^bad: .* mode 0755: other users/) });
});

test('a lost database and a write-ahead log of another one are named, and left as they are', async () => {
  const cwd = folder();
  const data = join(cwd, 'data');
  await (await openSqliteStore({ folder: data })).close();
  writeFileSync(join(data, 'cairn.db-wal'), 'x'.repeat(5_000));
  writeFileSync(join(data, 'cairn.stamp'), '7\n');
  const foreign = await findings(cwd, '--data', 'data');
  expect(foreign).toMatchObject({ code: 1, database: expect.stringMatching(/^bad: .*-wal does not belong to/) });
  rmSync(join(data, 'cairn.db-wal'));
  rmSync(join(data, 'cairn.db'));
  const missing = await findings(cwd, '--data', 'data');
  expect(missing).toMatchObject({ code: 1, database: expect.stringMatching(/^bad: .* is missing, but .*cairn.stamp/) });
});

test('an index and a task view that are wrong are made again', async () => {
  const cwd = folder();
  const data = join(cwd, 'data');
  const store = await openSqliteStore({ folder: data });
  const { cairn, detached } = await servedCli(store);
  await cairn(['tail', await detached('sum', '-i', 'n=1')]);
  await store.close();
  const db = new DatabaseSync(join(data, 'cairn.db'));
  db.exec("UPDATE runs SET status = 'failed'; UPDATE events SET task = NULL WHERE seq < 2");
  db.close();
  const mended = await findings(cwd, '--data', 'data', '--rebuild');
  expect(mended).toMatchObject({ code: 0, index: 'good: repaired; runs: 1, of which 1 were wrong' });
  expect(mended).toMatchObject({ 'task view': expect.stringMatching(/^good: repaired; events: [12], in 1 run$/) });
  const again = await findings(cwd, '--data', 'data', '--rebuild');
  expect(again).toMatchObject({ index: 'good: correct; runs: 1', 'task view': 'good: correct' });
});

test('a crash, a damaged file and a later version are found', async () => {
  const cwd = folder();
  const data = join(cwd, 'data');
  await (await openSqliteStore({ folder: data })).close();
  writeFileSync(join(data, 'cairn.running'), '');
  expect(await findings(cwd, '--data', 'data')).toMatchObject({ lock: expect.stringMatching(/did not stop cleanly/) });
  const db = new DatabaseSync(join(data, 'cairn.db'));
  db.exec('PRAGMA user_version = 999');
  db.close();
  expect(await findings(cwd, '--data', 'data')).toMatchObject({
    code: 1,
    database: expect.stringMatching(/version 999/),
  });
  writeFileSync(join(data, 'cairn.db'), 'this is no database');
  appendFileSync(join(data, 'cairn.db'), 'x'.repeat(4096));
  expect(await findings(cwd, '--data', 'data')).toMatchObject({ code: 1, database: expect.stringMatching(/^bad: /) });
});

test('a wrong configuration is named, and no secret of it is repeated', async () => {
  const cwd = folder();
  writeFileSync(join(cwd, 'cairn.json'), '{"keys":[{"key":"a-very-secret-key-1","tenant":"t"}],"prot":1}');
  const { code, out } = await typed(['doctor'], { cwd });
  expect(code).toBe(1);
  expect(out).toContain('✗ configuration');
  expect(out).toContain('"prot"');
  expect(out).not.toContain('a-very-secret-key-1');
});

test('a port that another program uses is bad; one that a host serves is not', async () => {
  const cwd = folder();
  const { url } = await servedCli();
  const config = (port: number) => ({ port, data: 'data', keys: [{ key: 'a-key-of-16-characters', tenant: 't' }] });
  writeFileSync(join(cwd, 'cairn.json'), JSON.stringify(config(Number(new URL(url).port))));
  expect(await findings(cwd)).toMatchObject({ port: expect.stringMatching(/^good: .* is in use by a host$/) });
  const stranger = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void stranger.close());
  const { port } = stranger.address() as { readonly port: number };
  writeFileSync(join(cwd, 'cairn.json'), JSON.stringify(config(port)));
  expect(await findings(cwd)).toMatchObject({ code: 1, port: expect.stringMatching(/another program uses it/) });
});
