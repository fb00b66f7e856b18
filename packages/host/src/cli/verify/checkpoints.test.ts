/** Signed checkpoints on the command line: what was cut, replaced or removed since then shows. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { chainHash, chainStart, rowHash } from '../../log/chain.ts';
import { runA } from '../../log/ports/samples.kit.ts';
import { child, sampleFolder } from '../../log/sqlite/verify/damaged-folder.kit.ts';
import { typed } from '../recording-terminal.kit.ts';

interface Place {
  readonly folder: string;
  cairn(...args: readonly string[]): ReturnType<typeof typed>;
  change(sql: string): void;
}

/** A data folder with a key and two runs, and a checkpoint of both in `all.jsonl`. */
async function place(): Promise<Place> {
  const folder = await sampleFolder();
  newKey(folder);
  const cairn = (...args: readonly string[]) => typed(args, { cwd: folder, env: { CAIRN_DATA: folder } });
  const made = await cairn('checkpoint', '--all');
  expect(made.code).toBe(0);
  writeFileSync(join(folder, 'all.jsonl'), `${made.out.trim()}\n`);
  const change = (sql: string) => {
    const db = new DatabaseSync(join(folder, 'cairn.db'));
    db.exec(sql);
    db.close();
  };
  return { folder, cairn, change };
}

const newKey = (folder: string): void =>
  writeFileSync(join(folder, 'host.key'), `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });

test('a folder, a run and a bundle agree with the checkpoint that was made of them', async () => {
  const { cairn, folder } = await place();
  expect(await cairn('verify', '--against', 'all.jsonl')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/agrees with the checkpoint of .*, runs compared: 2/),
  });
  expect((await cairn('verify', runA, '--against', 'all.jsonl')).code).toBe(0);
  await cairn('export', child, '-o', 'a.jsonl');
  const { publicKey } = JSON.parse(String(readFileSync(join(folder, 'all.jsonl'), 'utf8').split('\n')[0]));
  const checked = await cairn('verify', 'a.jsonl', '--against', 'all.jsonl', '--key', publicKey, '--json');
  expect(JSON.parse(checked.out)).toMatchObject({ ok: true, runs: 1, checkpoint: { publicKey, runs: 1 } });
});

test('a bundle tells nobody whose checkpoints count', async () => {
  const { cairn } = await place();
  await cairn('export', runA, '-o', 'a.jsonl');
  const ended = await cairn('verify', 'a.jsonl', '--against', 'all.jsonl');
  expect([ended.code, ended.out]).toEqual([2, '']);
  expect(ended.err).toContain('--key');
});

test('a cut tail is found, although the chain that is left is right', async () => {
  const { cairn, change } = await place();
  change(`DELETE FROM events WHERE run = 2 AND seq = 1;
    UPDATE runs SET status = 'running', ended_at = NULL WHERE key = 2`);
  expect((await cairn('verify')).code).toBe(0);
  const ended = await cairn('verify', '--against', 'all.jsonl', '--json');
  expect(ended.code).toBe(1);
  expect(JSON.parse(ended.out).problems).toEqual([
    { runId: child, seq: 1, message: 'the run was cut: it ends with event 0, but the checkpoint saw event 1' },
  ]);
  expect((await cairn('verify', child, '--against', 'all.jsonl')).out).toContain('the run was cut');
});

test('a history that was written anew with right hashes is found', async () => {
  const { cairn, folder, change } = await place();
  const payload = '{"outputs":{"paid":true}}';
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  onTestFinished(() => db.close());
  const first = String(db.prepare('SELECT row_hash FROM events WHERE run = 2 AND seq = 0').get()?.row_hash);
  const row = {
    seq: 1,
    at: 1_000,
    type: 'run.completed',
    nodeId: null,
    cause: null,
    audience: 'client' as const,
    payload,
  };
  const forged = rowHash(row);
  const hash = chainHash(chainHash(chainStart(child), first), forged);
  change(`UPDATE events SET payload = '${payload}', row_hash = '${forged}', hash = '${hash}', task = NULL
    WHERE run = 2 AND seq = 1`);
  const ended = await cairn('verify', child, '--against', 'all.jsonl', '--json');
  expect(JSON.parse(ended.out).problems).toContainEqual({
    runId: child,
    seq: 1,
    message: 'the history up to event 1 was replaced: its hash is not the one that the checkpoint saw',
  });
  await cairn('export', child, '-o', 'forged.jsonl');
  const { publicKey } = JSON.parse(String(readFileSync(join(folder, 'all.jsonl'), 'utf8').split('\n')[0]));
  expect((await cairn('verify', 'forged.jsonl')).code).toBe(0);
  const bundle = await cairn('verify', 'forged.jsonl', '--against', 'all.jsonl', '--key', publicKey);
  expect([bundle.code, bundle.out]).toEqual([1, expect.stringContaining('was replaced')]);
});

test('a run that is gone is found', async () => {
  const { cairn, change } = await place();
  change(
    `DELETE FROM events WHERE run = 2; DELETE FROM context_segments WHERE run = 2; DELETE FROM runs WHERE key = 2`,
  );
  expect((await cairn('verify')).code).toBe(0);
  const ended = await cairn('verify', '--against', 'all.jsonl');
  expect([ended.code, ended.out]).toEqual([1, expect.stringContaining(`run ${child} of the checkpoint is missing`)]);
});

test('a checkpoint of another host, a changed one, and one without the run prove nothing', async () => {
  const { cairn, folder } = await place();
  const file = join(folder, 'all.jsonl');
  const own = readFileSync(file, 'utf8');
  writeFileSync(join(folder, 'one.jsonl'), `${(await cairn('checkpoint', child)).out.trim()}\n`);
  expect((await cairn('verify', runA, '--against', 'one.jsonl')).out).toContain(`does not name run ${runA}`);
  writeFileSync(file, own.replace('"seq":1', '"seq":0'));
  expect((await cairn('verify', '--against', 'all.jsonl')).out).toContain('the lines before it have the sha256');
  writeFileSync(file, own);
  newKey(folder);
  expect((await cairn('verify', '--against', 'all.jsonl')).out).toContain('not by a trusted key');
});

test.each([
  ['neither runs nor --all', ['checkpoint'], 2, 'either runs or --all'],
  ['both', ['checkpoint', runA, '--all'], 2, 'either runs or --all'],
  ['a run that is not there', ['checkpoint', 'run_x'], 3, 'There is no run "run_x"'],
  ['a checkpoint that is not there', ['verify', '--against', 'no.jsonl'], 3, 'no.jsonl cannot be opened'],
])('refuses %s', async (_, args, code, message) => {
  const { cairn } = await place();
  const ended = await cairn(...args);
  expect(ended.code).toBe(code);
  expect(ended.err).toContain(message);
});
