/** Hostile disks: no space, damaged files, a second process, a database from the future. A clear error or a clean recovery. */
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import { ScratchHost, type Work } from './scratch-host.ts';
import { smallDisks } from './small-disk.ts';
import type { WitnessedRun } from './witness.ts';

const disks = smallDisks();

/** Each starts a process or two; a loaded machine takes its time over that. */
const slow = { timeout: 60_000 };

/** Long enough for work to be under way on every mechanism. */
const someEvents = (scratch: ScratchHost, count: number): Promise<void> => until(() => scratch.witness.events >= count);

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

describe('out of space', slow, () => {
  test('there is a way to run out of it on this machine', () => {
    if (process.platform === 'linux') expect(disks.map(({ name }) => name)).not.toEqual([]);
  });

  test.each(disks)(
    '$name: 503 says why, nothing acknowledged is lost, and all runs end once there is room',
    async (disk) => {
      await using scratch = new ScratchHost();
      const folder = join(scratch.home, 'disk');
      mkdirSync(folder, { mode: 0o700 });
      const release = disk.prepare(folder);
      try {
        await scratch.begin();
        const work = scratch.work(5, 'space');
        await someEvents(scratch, 60);
        const probe = () => scratch.ask('POST', '/v1/runs', { workflowId: 'crash-retries', tags: ['probe'] });
        const listed = async () => {
          const { runs } = (await scratch.ask('GET', '/v1/runs?limit=200')).body;
          return (runs as readonly JsonObject[]).filter(({ tags }) => JSON.stringify(tags) === '["probe"]');
        };
        const probed: unknown[] = [(await probe()).body.runId];
        disk.fill(scratch.host);
        // Space that a checkpoint of the database gives back lets some starts pass.
        await until(async () => {
          const { status, body } = await probe();
          if (status === 201) {
            probed.push(body.runId);
            return false;
          }
          expect([status, body]).toMatchObject([
            503,
            { error: 'service_unavailable', details: { reason: disk.reason } },
          ]);
          expect((await listed()).map(({ runId }) => runId).sort()).toEqual(probed.sort());
          return true;
        });
        disk.free(scratch.host);
        await work.finish();
        expect(await scratch.host.stop()).toBe('code 0');
        const { runs } = await scratch.audit();
        expect(runs).toBeGreaterThanOrEqual(5);
        expect(scratch.witness.breaches.filter(({ facts }) => !probed.includes(facts.twin))).toEqual([]);
      } finally {
        await scratch.host.kill();
        release();
      }
    },
  );
});

describe('a second process on the same folder', slow, () => {
  test('is refused with store_locked, and the first is not disturbed', async () => {
    await using first = new ScratchHost();
    await using second = new ScratchHost();
    await first.begin();
    Object.assign(second.host.settings, { folder: first.host.settings.folder });
    const birth = await second.host.start();
    expect(birth).toMatchObject({ kind: 'failed', code: 'store_locked' });
    expect(birth.kind === 'failed' && birth.message).toContain(first.host.settings.folder);
    await first.work(1, 'undisturbed').finish();
    expect(await first.host.stop()).toBe('code 0');
    await first.audit();
    expect(first.witness.breaches).toEqual([]);
  });
});

interface Killed {
  readonly db: string;
  readonly wal: string;
  readonly work: Work;
}

/** A folder with finished and unfinished runs in it, whose host was killed. */
async function killed(scratch: ScratchHost): Promise<Killed> {
  await scratch.begin();
  const work = scratch.work(4, 'killed');
  await someEvents(scratch, 150);
  await scratch.host.kill();
  const db = join(scratch.host.settings.folder, 'cairn.db');
  return { db, wal: `${db}-wal`, work };
}

describe('a damaged write-ahead log', slow, () => {
  test('with garbage after the last commit: every acknowledged event is there and every run ends', async () => {
    await using scratch = new ScratchHost();
    const { wal, work } = await killed(scratch);
    // What a torn write of a transaction that never committed leaves behind.
    appendFileSync(wal, Buffer.alloc(6_000, 0xa5));
    expect(await scratch.host.start()).toMatchObject({ kind: 'ready' });
    await work.finish();
    expect(await scratch.host.stop()).toBe('code 0');
    await scratch.audit();
    expect(scratch.witness.breaches).toEqual([]);
  });

  test.each([
    ['cut short', (wal: string) => truncateSync(wal, statSync(wal).size - 1_000)],
    ['garbled in its last frame', (wal: string) => overwrite(wal, statSync(wal).size - 2_000, Buffer.alloc(64, 0x5a))],
  ])(
    '%s: the host goes on from the last commit that is whole, and the chain of every run holds',
    async (_how, damage) => {
      await using scratch = new ScratchHost();
      const { wal, work } = await killed(scratch);
      await work.abandon();
      damage(wal);
      expect(await scratch.host.start()).toMatchObject({ kind: 'ready' });
      const started = await scratch.ask('POST', '/v1/runs', { workflowId: 'crash-retries' });
      expect(started.status).toBe(201);
      expect(await scratch.host.stop()).toBe('code 0');
      await scratch.audit();
      const structural = [
        'sequence is dense',
        'the hash chain is valid',
        'time never decreases in a run',
        'a cause is earlier',
      ];
      expect(scratch.witness.breaches.filter(({ promise }) => structural.includes(promise))).toEqual([]);
    },
  );
});

describe('a damaged database', slow, () => {
  test('with a garbled last page after a crash is refused with store_corrupt, naming the file', async () => {
    await using scratch = new ScratchHost();
    const { db, work } = await killed(scratch);
    await work.abandon();
    checkpoint(db);
    writeFileSync(`${db}-wal`, ''); // a killed host leaves its log, which the checkpoint above deletes
    garbleLastPage(db);
    const birth = await scratch.host.start();
    expect(birth).toMatchObject({ kind: 'failed', code: 'store_corrupt' });
    expect(birth.kind === 'failed' && birth.message).toContain(db);
  });

  test('with a page garbled while it was stopped: refused, or each read is the truth or store_corrupt', async () => {
    await using scratch = new ScratchHost();
    await scratch.begin();
    await scratch.work(3, 'stopped').finish();
    await scratch.host.stop();
    garbleLastPage(join(scratch.host.settings.folder, 'cairn.db'));
    const birth = await scratch.host.start();
    if (birth.kind === 'failed') expect(birth.code).toBe('store_corrupt');
    else for (const run of scratch.witness.runs) expect(await readAgain(scratch, run)).toBe(true);
  });

  test('that is no database at all is refused with store_corrupt, naming the file, and left as it is', async () => {
    await using scratch = new ScratchHost();
    const db = join(scratch.host.settings.folder, 'cairn.db');
    mkdirSync(scratch.host.settings.folder, { recursive: true, mode: 0o700 });
    writeFileSync(db, 'Dear diary, '.repeat(1_000));
    const birth = await scratch.host.start();
    expect(birth).toMatchObject({ kind: 'failed', code: 'store_corrupt' });
    expect(birth.kind === 'failed' && birth.message).toContain(db);
    expect(readFileSync(db, 'utf8')).toBe('Dear diary, '.repeat(1_000));
  });

  test('that is newer than the program is refused by name, with both numbers', async () => {
    await using scratch = new ScratchHost();
    await scratch.begin();
    await scratch.host.stop();
    const file = join(scratch.host.settings.folder, 'cairn.db');
    const db = new DatabaseSync(file);
    const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    db.exec(`PRAGMA user_version = ${version + 7}`);
    db.close();
    const birth = await scratch.host.start();
    expect(birth).toMatchObject({ kind: 'failed', code: 'store_newer' });
    const message = birth.kind === 'failed' ? birth.message : '';
    for (const named of [file, String(version), String(version + 7)]) expect(message).toContain(named);
  });
});

/** The truth, or the admission that it cannot be told. */
async function readAgain(scratch: ScratchHost, { runId, events }: WitnessedRun): Promise<boolean> {
  const { status, body } = await scratch.ask('GET', `/v1/runs/${runId}/events`);
  if (status === 503) return fields(body.details).reason === 'store_corrupt';
  return JSON.stringify(body.events) === JSON.stringify(events.map((text) => JSON.parse(text)));
}

/** Moves everything from the write-ahead log into the database, as a host that stops does. */
function checkpoint(file: string): void {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

const garbleLastPage = (db: string): void => overwrite(db, statSync(db).size - 4_096, Buffer.alloc(4_096, 0x5a));

function overwrite(file: string, at: number, bytes: Buffer): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}
