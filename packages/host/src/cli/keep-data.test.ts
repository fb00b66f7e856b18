/** The verbs that keep, copy and delete data, on a host with a real data folder that works meanwhile. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@cairn/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHost } from '../server/create-host.ts';
import { approval, chain, noop } from '../server/sample-workflows.kit.ts';
import { typed } from './recording-terminal.kit.ts';

const key = 'a-key-of-the-operator-for-these-tests';
const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'runs:delete', 'approvals:respond'] as const;
const parent = chain('parent', { typeId: 'core.subWorkflow', config: { workflowId: 'noop' } });
const cwd = mkdtempSync(join(tmpdir(), 'cairn-keep-'));
const data = join(cwd, 'data');
let host: Awaited<ReturnType<typeof createHost>>;

beforeAll(async () => {
  host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 't', scopes: [...scopes] }], retention: [{ keepLast: 1_000 }] },
    workflows: [noop, approval, parent],
    report: () => undefined,
  });
});

afterAll(async () => {
  await host.close();
  rmSync(cwd, { recursive: true, force: true });
});

const client = () => createClient({ url: host.url ?? '', key, retries: 0 });
const cairn = (args: readonly string[], how: object = {}) =>
  typed(args, { cwd, env: { CAIRN_URL: host.url ?? '', CAIRN_KEY: key, CAIRN_DATA: data }, ...how });

async function ended(workflowId = 'noop'): Promise<string> {
  const { runId } = await client().runs.create({ workflowId });
  await client().runs.wait(runId);
  return runId;
}

test('a backup under load is whole: it is restored, verified, and a host goes on with it', async () => {
  const before = await ended('parent');
  const purged = await ended();
  let isBusy = true;
  const load = Array.from({ length: 8 }, async () => {
    for (let n = 0; isBusy || n < 3; n += 1) await ended(n % 2 === 0 ? 'noop' : 'parent');
  });
  const made = await cairn(['backup', 'busy.cairn', '--include-key', '--json']);
  await cairn(['delete', purged, '--yes']);
  const second = await cairn(['backup', 'later.cairn', '--json']);
  isBusy = false;
  await Promise.all(load);
  for (const { code } of [made, second]) expect(code).toBe(0);
  expect(JSON.parse(made.out)).toMatchObject({ hasKey: true, runs: expect.any(Number), events: expect.any(Number) });
  const restored = await cairn(['restore', 'busy.cairn', '--data', 'restored', '--json']);
  expect(JSON.parse(restored.out)).toMatchObject({ hasKey: true, runs: JSON.parse(made.out).runs });
  expect((await cairn(['restore', 'later.cairn', '--data', 'later'])).err).toContain('Copy host.key');
  for (const folder of ['restored', 'later']) expect((await cairn(['verify', '--data', folder])).code).toBe(0);
  expect((await cairn(['verify', purged, '--data', 'restored'])).out).not.toContain('retired');
  expect((await cairn(['verify', purged, '--data', 'later'])).out).toContain('retired');
  const again = await createHost({
    config: { port: 0, data: join(cwd, 'restored'), keys: [{ key, tenant: 't', scopes: [...scopes] }] },
    workflows: [noop, approval, parent],
    report: () => undefined,
  });
  const there = createClient({ url: again.url ?? '', key, retries: 0 });
  expect(await there.runs.get(before)).toMatchObject({ status: 'completed' });
  const { runId } = await there.runs.create({ workflowId: 'parent' });
  expect((await there.runs.wait(runId)).status).toBe('completed');
  await again.close();
  expect((await cairn(['verify', '--data', 'restored'])).code).toBe(0);
});

test('a damaged backup is refused by the event that is wrong, and leaves nothing behind', async () => {
  const runId = await ended();
  await cairn(['backup', 'whole.cairn']);
  copyFileSync(join(cwd, 'whole.cairn'), join(cwd, 'damaged.cairn'));
  const db = new DatabaseSync(join(cwd, 'damaged.cairn'));
  db.prepare("UPDATE events SET type = 'x' WHERE seq = 1 AND run = (SELECT key FROM runs WHERE id = ?)").run(runId);
  db.close();
  const refused = await cairn(['restore', 'damaged.cairn', '--data', 'new']);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain(`run ${runId}: event 1 (x) does not match its hash`);
  expect(readdirSync(cwd).filter((name) => name.startsWith('new'))).toEqual([]);
  writeFileSync(join(cwd, 'other.db'), 'text');
  const other = await cairn(['restore', 'other.db', '--data', 'new']);
  expect(other.err).toContain('not a database');
  expect(existsSync(join(cwd, 'new'))).toBe(false);
});

test('verify checks a backup as a folder, names what is wrong in it, and changes nothing', async () => {
  const runId = await ended();
  await cairn(['checkpoint', runId, '-o', 'of-run.jsonl']);
  const [, publicKey = ''] = /"publicKey":"([^"]+)"/.exec(readFileSync(join(cwd, 'of-run.jsonl'), 'utf8')) ?? [];
  await cairn(['backup', 'checked.cairn']);
  const before = readFileSync(join(cwd, 'checked.cairn'));
  expect(await cairn(['verify', 'checked.cairn'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/all hashes are valid/),
  });
  const compared = await cairn(['verify', 'checked.cairn', '--against', 'of-run.jsonl', '--key', publicKey]);
  expect(compared).toMatchObject({ code: 0, out: expect.stringMatching(/runs compared: 1/) });
  expect(readFileSync(join(cwd, 'checked.cairn')).equals(before)).toBe(true);
  const changed = async (sql: string): Promise<Awaited<ReturnType<typeof cairn>>> => {
    writeFileSync(join(cwd, 'changed.cairn'), before);
    using db = new DatabaseSync(join(cwd, 'changed.cairn'));
    db.exec(sql);
    return cairn(['verify', 'changed.cairn']);
  };
  const ofRun = `(SELECT key FROM runs WHERE id = '${runId}')`;
  expect(await changed(`UPDATE events SET type = 'x' WHERE seq = 1 AND run = ${ofRun}`)).toMatchObject({
    code: 1,
    out: expect.stringMatching(new RegExp(`run ${runId}: event 1`)),
  });
  expect(await changed(`UPDATE runs SET workflow = 'x' WHERE key = ${ofRun}`)).toMatchObject({ code: 1 });
});

test('a backup with a trigger, which would change what a host writes later, is refused', async () => {
  await cairn(['backup', 'armed.cairn']);
  const db = new DatabaseSync(join(cwd, 'armed.cairn'));
  db.exec('CREATE TRIGGER sly AFTER INSERT ON runs BEGIN DELETE FROM definitions; END');
  db.close();
  const refused = await cairn(['restore', 'armed.cairn', '--data', 'armed']);
  expect(refused).toMatchObject({ out: '', err: expect.stringMatching(/it has a trigger "sly"/) });
  expect(readdirSync(cwd).filter((name) => /^armed(?!\.cairn)/.test(name))).toEqual([]);
});

test.each<[string, readonly string[], string]>([
  ['a restore of no file', ['restore', 'nowhere.cairn', '--data', 'new'], 'There is no file'],
  ['a restore of a folder', ['restore', 'data', '--data', 'new'], 'data is not a file'],
  ['a backup to a file that exists', ['backup', 'there'], 'there exists already'],
  ['a restore to a folder that exists', ['restore', 'there', '--data', 'data'], 'data exists already'],
  ['a backup to stdout', ['backup', '-'], 'Name a file.'],
  ['an export to stdout', ['export', 'last', '-o', '-'], 'Name a file.'],
  ['a backup of no data folder', ['backup', 'x.cairn', '--data', 'nowhere'], 'is not a data folder'],
  ['an export to a file that exists', ['export', 'RUN', '-o', 'there'], 'there already exists'],
  ['an export of an unknown run', ['export', 'run_x'], 'There is no run "run_x"'],
  ['a checkpoint of an unknown run', ['checkpoint', 'run_x'], 'There is no run "run_x"'],
  ['a verification of nothing', ['verify', 'run_x'], 'no run with that id'],
  ['a purge of an unknown run', ['delete', 'run_x', '--yes'], 'run_x'],
  ['an import while the host runs', ['import', 'bundle.jsonl'], 'A host uses'],
  ['a purge that nobody confirms', ['delete', 'RUN'], 'Pass --yes'],
])('%s is refused with the reason, and no draft is left', async (_, args, message) => {
  const runId = await ended();
  writeFileSync(join(cwd, 'there'), 'x');
  if (args[0] === 'import') await cairn(['export', runId, '-o', 'bundle.jsonl']);
  const refused = await cairn(args.map((arg) => (arg === 'RUN' ? runId : arg)));
  expect([refused.code === 0, refused.out]).toEqual([false, '']);
  expect(refused.err).toContain(message);
  expect(readdirSync(cwd).filter((name) => /\.part$|restoring/.test(name))).toEqual([]);
  rmSync(join(cwd, 'bundle.jsonl'), { force: true });
});

test('a wrong key is told apart from a run that is not there', async () => {
  const runId = await ended();
  const env = { CAIRN_URL: host.url ?? '', CAIRN_KEY: 'a-key-that-this-host-does-not-know' };
  const refused = await cairn(['delete', runId, '--yes'], { env });
  expect(refused.code).not.toBe(0);
  expect(refused.err).toMatch(/key/i);
});

test('delete shows what would go, asks, and purges the tree with its files', async () => {
  const runId = await ended('parent');
  mkdirSync(join(data, 'runs', runId, 'files'), { recursive: true });
  const planned = JSON.parse((await cairn(['delete', runId, '--dry-run', '--json'])).out);
  expect(planned).toMatchObject({ runId, purged: false, runs: 2 });
  const questions: string[] = [];
  const answering = (answer: string) => ({
    person: async (asked: string) => {
      questions.push(asked);
      return answer;
    },
  });
  expect((await cairn(['delete', runId], answering('n'))).err).toContain('Nothing was purged');
  const done = await cairn(['delete', runId], answering('y'));
  expect(questions[0]).toContain(`runs: 2, events: ${planned.events}, bytes: ${planned.bytes}`);
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('is purged') });
  expect(existsSync(join(data, 'runs', runId))).toBe(false);
  expect((await cairn(['show', runId])).err).toContain('was purged');
  expect((await cairn(['export', runId])).err).toContain('was purged');
  expect((await cairn(['verify', runId])).out).toContain('was retired');
  expect((await cairn(['verify'])).code).toBe(0);
});

test('a fork keeps its source from a purge until it is forced, and can still be verified and exported then', async () => {
  const { runId } = await client().runs.create({ workflowId: 'approval' });
  await client().runs.wait(runId);
  const forked = await client().runs.fork(runId, { mode: 'branch', fromSeq: 2 });
  for (const id of [forked.runId, runId]) await client().runs.cancel(id);
  expect((await cairn(['delete', runId, '--yes'])).err).toContain(forked.runId);
  expect((await cairn(['delete', runId, '--yes', '--force'])).err).toContain(`lose events: ${forked.runId}`);
  expect((await cairn(['verify'])).code).toBe(0);
  const exported = await cairn(['export', forked.runId, '-o', 'lost.jsonl']);
  expect(exported.err).toContain('The content of 2 events was purged');
  expect(await cairn(['verify', 'lost.jsonl'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('of 2 was retired'),
  });
  expect((await cairn(['import', 'lost.jsonl', '--data', 'elsewhere'])).err).toContain('no content for event 0');
  // What is left of the fork cannot be decided. A check of all runs leaves it out, like a purged run.
  for (const name of [forked.runId, 'lost.jsonl']) {
    const replayed = await cairn(['replay', name]);
    expect([replayed.code, replayed.out, replayed.err]).toEqual([1, expect.stringContaining('event 0 is not in'), '']);
  }
  const all = await cairn(['replay']);
  expect([all.code, all.out.includes(forked.runId)]).toEqual([0, false]);
  await cairn(['backup', 'with-lost.cairn']);
  expect((await cairn(['restore', 'with-lost.cairn', '--data', 'with-lost'])).code).toBe(0);
});

test('retention shows the rules, and the runs that would go', async () => {
  expect((await cairn(['retention'])).out.trim()).toBe('{"keepLast":1000}');
  expect(JSON.parse((await cairn(['retention', '--dry-run', '--json'])).out)).toMatchObject({
    runs: [],
    truncated: false,
  });
});

test.each(['delete', 'retention', 'backup', 'restore', 'verify', 'checkpoint', 'export', 'import'])(
  '%s --help teaches with an example',
  async (verb) => {
    const { out, code } = await cairn([verb, '--help']);
    expect([code, out]).toEqual([0, expect.stringContaining(`cairn ${verb}`)]);
    expect(out).toContain('Examples:');
    // A checkpoint is lines of JSON as it is.
    expect(out).toContain(verb === 'checkpoint' ? '--output' : '--json');
  },
);

test('a backup that cannot be written blames its own file, not the data folder', async () => {
  writeFileSync(join(cwd, 'a-file'), '');
  const { code, err } = await cairn(['backup', 'a-file/monday.cairn']);
  expect(code).toBe(2);
  expect(err).toContain(`${join(cwd, 'a-file/monday.cairn')}.part cannot be used`);
  expect(err).not.toContain('cairn.db');
});

test('a file that is no backup is refused without advice about the data of the host', async () => {
  writeFileSync(join(cwd, 'letter.txt'), 'Dear host, '.repeat(100));
  const { code, err } = await cairn(['restore', 'letter.txt', '--data', 'from-a-letter']);
  expect(code).toBe(1);
  expect(err).toContain('Name a file that "cairn backup" wrote, or take another backup.');
  expect(err).not.toContain('Stop the host');
});
