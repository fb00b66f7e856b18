/** `cairn move`: what it prints, and that a killed move goes on. What it copies is tested in `log/copy`. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { quickStart } from '../../test/kit/quick-start.ts';
import { everythingFolder, viewOf } from '../log/copy/store-view.kit.ts';
import { connect, Database } from '../log/postgres/database.ts';
import { elapsedMs, freshDatabase } from '../log/postgres/server.kit.ts';
import { openPostgresStore } from '../log/postgres/store.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { typed } from './recording-terminal.kit.ts';

/** A process and a server start here, on machines that do much else. */
const slow = { timeout: 120_000 };

const bin = join(import.meta.dirname, '../../bin/cairn.mjs');

/** Nobody writes to the table meanwhile; `isWaiting` tells whether somebody wants to. */
async function withoutWrites(url: string, table: string, work: (isWaiting: () => Promise<boolean>) => Promise<void>) {
  const pool = connect({ url, connections: 2 });
  const database = new Database(pool);
  const isWaiting = async () => {
    const waiting = await database.rows(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return waiting.length > 0;
  };
  await database.transaction(async (queries) => {
    await queries.changed(`LOCK TABLE cairn.${table} IN EXCLUSIVE MODE`);
    await work(isWaiting);
  });
  await pool.end();
}

test('a move that is killed with -9 in the middle goes on, and both stores show the same', slow, async () => {
  const folder = await everythingFolder();
  const url = await freshDatabase();
  const child = spawn(process.execPath, [bin, 'move', '--from', folder], {
    env: { HOME: folder, CAIRN_STORE: url, ...quickStart },
    stdio: 'ignore',
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  onTestFinished(() => void child.kill('SIGKILL'));
  await withoutWrites(url, 'interrupts', async (isWaiting) => {
    await expect.poll(isWaiting, slow).toBe(true);
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
  });
  await expect(openPostgresStore({ url, elapsedMs })).rejects.toThrow('is not complete');
  const moved = await typed(['move', '--from', folder, '--to', url, '--json']);
  expect([moved.code, JSON.parse(moved.out)]).toMatchObject([0, { outcome: 'moved', folder }]);
  const there = await openPostgresStore({ url, connections: 2, elapsedMs });
  onTestFinished(() => there.close());
  const here = await openSqliteStore({ folder });
  onTestFinished(() => here.close());
  expect(await viewOf(there)).toEqual(await viewOf(here));
});

test('draws a bar on a screen, stops at Ctrl-C, and says what is to be done next', slow, async () => {
  const folder = await everythingFolder();
  writeFileSync(join(folder, 'host.key'), `${'a'.repeat(43)}\n`, { mode: 0o600 });
  const url = await freshDatabase();
  let interrupt = (): void => undefined;
  const drawn: string[] = [];
  const onLine = (line: string): void => {
    drawn.push(line);
    interrupt();
  };
  const args = ['move', '--from', folder, '--to', url];
  const stopped = await typed(args, { columns: 80, onStart: (press) => (interrupt = press), onLine });
  expect([stopped.code, stopped.err]).toEqual([130, 'Stopped. Run the same command to go on.']);
  expect(drawn[0]).toMatch(/^█*░+ \d+ % {2}copy runs {2}\d+ of \d+$/);
  const lines = await typed(args);
  expect(lines.err.split('\n')).toContainEqual(expect.stringMatching(/^verify: 100 %, \d+ of \d+$/));
  expect(lines.err).toContain(`CAIRN_MASTER_KEY=$(cat ${folder}/host.key)`);
  expect(lines.out).toMatch(/^✓ 127\.0\.0\.1:\d+\/test_\d+: runs: \d+, events: \d+; all hashes are valid$/);
  expect((await typed(args)).out).toContain('was moved to');
});

test.each([
  ['a folder without data', ['--from', '/tmp/nowhere-at-all', '--to', 'URL'], 3, 'is not a data folder'],
  ['a database that is none', ['--from', '/tmp', '--to', 'mysql://x/y'], 2, 'postgres://'],
  ['no database', ['--from', '/tmp'], 2, 'No PostgreSQL database is named'],
])('refuses %s', async (_, args, code, message) => {
  const given = await Promise.all(args.map((arg) => (arg === 'URL' ? freshDatabase() : arg)));
  const ended = await typed(['move', ...given]);
  expect(ended.err).toContain(message);
  expect(ended.code).toBe(code);
});
