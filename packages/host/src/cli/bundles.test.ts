/** Runs as bundles: exported from one folder, verified anywhere, imported into another, where they are inert. */
import { hash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { present } from '../../test/kit/present.ts';
import { defineAgent } from '../agents/define-agent.ts';
import { defineWorkflow } from '../engine/workflow/define-workflow.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { createHost } from '../server/create-host.ts';
import { typed } from './recording-terminal.kit.ts';
import { key, type ServedCli, servedCli } from './served-cli.kit.ts';

interface Place extends ServedCli {
  readonly cwd: string;
}

/** A host on the data folder `data` of a folder of its own. */
async function place(options?: Parameters<typeof servedCli>[1]): Promise<Place> {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-bundles-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'cairn.json'), '{"data":"data"}');
  const served = await servedCli(await openSqliteStore({ folder: join(cwd, 'data') }), options);
  return { ...served, cwd, cairn: (args, how = {}) => served.cairn(args, { cwd, ...how }) };
}

async function exported(from: Place, ...args: readonly string[]): Promise<{ runId: string; file: string }> {
  const runId = await from.detached(...args);
  const { out } = await from.cairn(['export', runId, '--json']);
  return { runId, file: String(JSON.parse(out).file) };
}

test('a run goes into a file and into another folder, and is the same there to the last hash', async () => {
  const here = await place();
  const { runId, file } = await exported(here, 'review');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [there, checked] = [join(here.cwd, 'there'), await here.cairn(['verify', file, '--json'])];
  const imported = await here.cairn(['import', file, '--data', there, '--json']);
  const verdict: { hash: string; events: number } = JSON.parse(checked.out);
  expect(JSON.parse(imported.out)).toEqual({ runId, runs: 1, events: verdict.events, tenant: 'dev', imported: true });
  expect(JSON.parse((await here.cairn(['verify', runId, '--data', there, '--json'])).out)).toEqual(verdict);
  expect(await here.cairn(['import', file, '--data', there])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/already/),
  });
  // Exported again, here or from there, it is the same to the last byte.
  await here.cairn(['export', runId, '-o', 'twice.jsonl']);
  await here.cairn(['export', runId, '--data', there, '-o', 'again.jsonl']);
  for (const copy of ['twice.jsonl', 'again.jsonl'])
    expect(readFileSync(join(here.cwd, copy), 'utf8')).toBe(readFileSync(file, 'utf8'));
});

test('the bundle of a branch has the child runs that had ended before its cut', async () => {
  const leaf = defineWorkflow({ id: 'leaf', nodes: { rest: { type: 'core.noop' } } });
  const below = defineWorkflow({
    id: 'below',
    nodes: { send: { type: 'core.subWorkflow', config: { workflowId: 'leaf' } } },
  });
  const above = defineWorkflow({
    id: 'above',
    nodes: { send: { type: 'core.subWorkflow', config: { workflowId: 'below' } }, last: { type: 'core.noop' } },
  });
  const here = await place({ workflows: [above, below, leaf] });
  const { runId }: { runId: string } = JSON.parse((await here.cairn(['run', 'above', '--json'])).out);
  const answer = await fetch(`${here.url}/v1/runs/${runId}/events`, { headers: { authorization: `Bearer ${key}` } });
  const { events } = (await answer.json()) as {
    events: readonly { type: string; nodeId?: string; sequence: number }[];
  };
  const at = present(events.find(({ type, nodeId }) => type === 'node.started' && nodeId === 'last')).sequence;
  const branch = JSON.parse((await here.cairn(['fork', runId, '--at', String(at), '--json'])).out).runId;
  const { file, runs } = JSON.parse((await here.cairn(['export', branch, '--json'])).out);
  expect(runs).toBe(3);
  expect(readFileSync(file, 'utf8')).toContain(`{"kind":"run","runId":"${runId}.0.0"`);
  const there = ['--data', join(here.cwd, 'there')];
  for (const verb of ['verify', 'replay', 'import'])
    expect([verb, (await here.cairn([verb, file, ...(verb === 'import' ? there : [])])).code]).toEqual([verb, 0]);
  expect((await here.cairn(['verify', `${runId}.0`, ...there])).code).toBe(0);
  // A branch at the request starts children of its own, and refers to none of the source.
  const early = JSON.parse((await here.cairn(['fork', runId, '--at', '1', '--json'])).out).runId;
  const own = JSON.parse((await here.cairn(['export', early, '--json'])).out);
  expect(own.runs).toBe(3);
  expect(readFileSync(own.file, 'utf8')).not.toContain(`{"kind":"run","runId":"${runId}.0`);
  const alone = JSON.parse((await here.cairn(['export', branch, '--no-children', '-o', 'alone.jsonl', '--json'])).out);
  expect(alone.runs).toBe(1);
});

test('a run that is imported without the run above it says where it is listed', async () => {
  const below = defineWorkflow({ id: 'below', nodes: { rest: { type: 'core.delay', config: { delayMs: 0 } } } });
  const above = defineWorkflow({
    id: 'above',
    nodes: { send: { type: 'core.subWorkflow', config: { workflowId: 'below' } } },
  });
  const here = await place({ workflows: [above, below] });
  const { out } = await here.cairn(['run', 'above', '--json']);
  const { runId, childRuns }: { runId: string; childRuns: readonly { runId: string }[] } = JSON.parse(out);
  const [child] = childRuns;
  const { file } = JSON.parse((await here.cairn(['export', child?.runId ?? '', '--json'])).out);
  const there = await here.cairn(['import', file, '--data', join(here.cwd, 'there')]);
  expect(there).toMatchObject({ code: 0, err: expect.stringContaining(`The run above it, ${runId}, is not here.`) });
  await here.cairn(['export', runId, '-o', 'tree.jsonl']);
  const whole = await here.cairn(['import', 'tree.jsonl', '--data', join(here.cwd, 'whole')]);
  expect(whole).toMatchObject({ code: 0, err: '' });
});

test('an imported run can be looked at, but neither answered, cancelled, paused nor stepped', async () => {
  const here = await place();
  const { runId, file } = await exported(here, 'review');
  const there = join(here.cwd, 'there');
  await here.cairn(['import', file, '--data', there]);
  // This host knows neither the workflow nor anything else of the one the run came from.
  const host = await createHost({
    config: { port: 0, data: there, keys: [{ key, tenant: 'dev' }] },
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  const cairn = (...args: readonly string[]) => typed(args, { env: { CAIRN_URL: host.url ?? '', CAIRN_KEY: key } });
  const shown = await cairn('show', runId);
  expect(shown.out).toMatch(/waiting-approval/);
  expect(shown.out).toMatch(/imported +just now; read-only/);
  expect(shown.out).not.toContain('answer it with');
  expect((await cairn('runs')).out).toContain('imported');
  expect(JSON.parse((await cairn('show', runId, '--json')).out)).toMatchObject({ importedAt: expect.any(String) });
  expect((await cairn('tail', runId)).out.split('\n').length).toBeGreaterThan(4);
  for (const args of [
    ['answer', runId, 'accept'],
    ['cancel', runId],
    ['pause', runId],
    ['resume', runId],
  ]) {
    const ended = await cairn(...args);
    expect([args[0], ended.code]).toEqual([args[0], 4]);
    expect(ended.err).toContain('was imported');
  }
  expect((await cairn('tail', runId)).out).not.toContain('interrupt.resolved');
});

test('verify finds what was changed in a data folder, and says where', async () => {
  const here = await place();
  const runId = await here.detached('review');
  expect((await here.cairn(['verify', runId])).code).toBe(0);
  const db = new DatabaseSync(join(here.cwd, 'data', 'cairn.db'));
  onTestFinished(() => db.close());
  const payload = String(db.prepare('SELECT payload FROM events WHERE seq = 3').get()?.payload);
  db.prepare('UPDATE events SET payload = ? WHERE seq = 3').run(payload.replace('Publish', 'Burn'));
  expect(await here.cairn(['verify', runId])).toMatchObject({
    code: 1,
    out: expect.stringContaining('event 3 (interrupt.requested) does not match its hash'),
  });
  db.prepare('UPDATE events SET payload = ? WHERE seq = 3').run(payload);
  db.exec("UPDATE events SET hash = 'x' WHERE seq = 4");
  expect((await here.cairn(['verify', runId])).out).toContain('event 4 does not continue');
  db.exec('DELETE FROM events WHERE seq = 2');
  expect(JSON.parse((await here.cairn(['verify', runId, '--json'])).out)).toMatchObject({
    ok: false,
    problem: 'event 2 is missing',
    problems: expect.arrayContaining([{ runId, seq: 3, message: 'event 2 is missing' }]),
  });
});

test('without a name verify checks every run of the folder, and a folder can be named', async () => {
  const here = await place();
  const runIds = [await here.detached('review'), await here.detached('review')];
  for (const args of [['verify'], ['verify', 'data'], ['verify', '--data', 'data']]) {
    expect(await here.cairn(args)).toMatchObject({ code: 0, out: expect.stringMatching(/: 2 runs, \d+ events/) });
  }
  const db = new DatabaseSync(join(here.cwd, 'data', 'cairn.db'));
  onTestFinished(() => db.close());
  db.exec("UPDATE runs SET status = 'completed' WHERE key = 2");
  const ended = await here.cairn(['verify']);
  expect(ended.code).toBe(1);
  expect(ended.out).toContain(`${runIds[1]}: the run list has "completed" as status`);
});

test.each<[string, (lines: string[]) => string[]]>([
  ['a changed byte', (lines) => lines.with(3, present(lines[3]).replace('"at":1', '"at":2'))],
  ['a missing row', (lines) => lines.toSpliced(4, 1)],
  ['rows in another order', (lines) => lines.with(4, present(lines[5])).with(5, present(lines[4]))],
  ['a missing end', (lines) => lines.slice(0, -1)],
])('%s in a bundle fails verify with 1 and import with 4, and nothing is written', async (_name, damage) => {
  const here = await place();
  const { file } = await exported(here, 'review');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  writeFileSync(file, `${damage(lines).join('\n')}\n`);
  const checked = await here.cairn(['verify', file]);
  expect([checked.code, checked.out]).toMatchObject([1, expect.stringMatching(/Line \d+ is wrong/)]);
  const there = join(here.cwd, 'there');
  const refused = await here.cairn(['import', file, '--data', there]);
  expect([refused.code, refused.out]).toEqual([4, '']);
  expect(existsSync(there)).toBe(false);
});

test('a file that is exported over is refused, and replaced as a whole when that is asked for', async () => {
  const here = await place();
  const runId = await here.detached('review');
  writeFileSync(join(here.cwd, 'x.jsonl'), 'mine');
  expect((await here.cairn(['export', runId, '-o', 'x.jsonl'])).code).toBe(4);
  expect(readFileSync(join(here.cwd, 'x.jsonl'), 'utf8')).toBe('mine');
  expect((await here.cairn(['export', runId, '-o', 'x.jsonl', '--force'])).code).toBe(0);
  expect((await here.cairn(['verify', 'x.jsonl'])).code).toBe(0);
  expect(readdirSync(here.cwd).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test.each([
  ['a run that is not there', ['export', 'run_nobody'], 3, 'There is no run "run_nobody"'],
  ['an id that is a path', ['export', '../../../etc/passwd'], 3, 'There is no run'],
  ['a run or file that is not there', ['verify', 'nothing'], 3, 'no file nothing, and no run'],
  ['a folder without data', ['verify', 'run_x', '--data', 'empty'], 3, 'is not a data folder'],
  ['a bundle that is not there', ['import', 'nothing.jsonl'], 3, 'cannot be opened'],
  ['a folder as a bundle', ['import', 'data'], 4, 'not a regular file'],
  ['a bundle into a folder that a host uses', ['import', 'fine.jsonl', '--data', 'data'], 1, 'A host uses'],
])('refuses %s', async (_name, args, code, message) => {
  const here = await place();
  const runId = await here.detached('review');
  await here.cairn(['export', runId, '-o', 'fine.jsonl']);
  const ended = await here.cairn(args);
  expect([ended.code, ended.out]).toEqual([code, '']);
  expect(ended.err).toContain(message);
});

test('a run that is here with another end is not replaced', async () => {
  const here = await place();
  const { runId, file } = await exported(here, 'review');
  const there = join(here.cwd, 'there');
  await here.cairn(['import', file, '--data', there]);
  await here.cairn(['answer', runId, 'accept']);
  await here.cairn(['export', runId, '-o', 'later.jsonl']);
  expect(await here.cairn(['import', 'later.jsonl', '--data', there])).toMatchObject({ code: 4 });
});

test('an import asks whose run it becomes when there are several tenants', async () => {
  const here = await place();
  const { file } = await exported(here, 'review');
  const there = join(here.cwd, 'there');
  await here.cairn(['import', file, '--data', there, '--tenant', 'acme']);
  const other = await exported(here, 'review');
  expect(JSON.parse((await here.cairn(['import', other.file, '--data', there, '--json'])).out).tenant).toBe('acme');
  const third = await exported(here, 'review');
  await here.cairn(['import', third.file, '--data', there, '--tenant', 'beta']);
  const fourth = await exported(here, 'review');
  expect((await here.cairn(['import', fourth.file, '--data', there])).err).toContain('several tenants: acme, beta');
});

test('a bundle much larger than what is read at a time is read right', async () => {
  const here = await place();
  const text = 'ü'.repeat(60_000);
  const { file } = await exported(here, 'review', '-i', `text=${text}`);
  expect(statSync(file).size).toBeGreaterThan(100_000);
  expect((await here.cairn(['verify', file])).code).toBe(0);
});

test('a file that never ends a line is refused without being held in memory', async () => {
  const here = await place();
  const file = join(here.cwd, 'long.jsonl');
  const piece = 'x'.repeat(1_048_576);
  for (let i = 0; i < 12; i += 1) appendFileSync(file, piece);
  expect((await here.cairn(['verify', file])).out).toContain('Line 1 is wrong: it is longer than 8388608 bytes.');
});

const words = 'Be calm, {{name}}.';
const agent = defineAgent({
  id: 'host:desk',
  persona: 'Desk',
  instructions: 'Own words.',
  rehearsal: { turns: [[{ say: 'Done.' }]] },
});
const talk = defineWorkflow({
  id: 'talk',
  nodes: { say: { type: 'cairn.agent', agent, config: { systemPromptRef: 'prompt:calm' } } },
});

/** A bundle whose end is right again after a change of its lines. */
function sealed(lines: readonly string[]): string {
  const text = lines
    .slice(0, -1)
    .map((line) => `${line}\n`)
    .join('');
  const end = JSON.parse(lines.at(-1) ?? '');
  return `${text}${JSON.stringify({ ...end, sha256: hash('sha256', text) })}\n`;
}

test('a run is exported with its templates, is read where they are unknown, and verify misses one that is gone', async () => {
  const here = await place({
    agents: [agent],
    workflows: [talk],
    prompts: [{ templateId: 'calm', version: '1.0.0', kind: 'system', text: words }],
  });
  const { cwd } = here;
  const cairn = (...args: readonly string[]) => here.cairn(args);
  const ran = await cairn('run', 'talk', '--json');
  const { runId } = JSON.parse(ran.out.split('\n').at(-1) ?? '');
  const file = String(JSON.parse((await cairn('export', runId, '--json')).out).file);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const at = lines.findIndex((line) => line.includes(words));
  const template: { hash: string; kind: string } = JSON.parse(lines[at] ?? '');
  expect(template.kind).toBe('definition');

  // A bundle without the template is none.
  writeFileSync(join(cwd, 'less.jsonl'), sealed(lines.toSpliced(at, 1)));
  expect(await cairn('verify', 'less.jsonl')).toMatchObject({
    code: 1,
    out: expect.stringContaining(`the bundle lacks the definition ${template.hash}, which the run is pinned to`),
  });

  // Elsewhere, a host reads the run and exports the same bytes.
  await cairn('import', file, '--data', 'there');
  const there = await createHost({
    config: { port: 0, data: join(cwd, 'there'), keys: [{ key, tenant: 'dev' }] },
    report: () => undefined,
  });
  const shown = await typed(['show', runId, '--json'], { env: { CAIRN_URL: there.url ?? '', CAIRN_KEY: key } });
  await there.close();
  expect(JSON.parse(shown.out)).toMatchObject({ status: 'completed', outputs: { content: 'Done.' } });
  await cairn('export', runId, '--data', 'there', '-o', 'again.jsonl');
  expect(readFileSync(join(cwd, 'again.jsonl'), 'utf8')).toBe(readFileSync(file, 'utf8'));

  expect((await cairn('verify', runId, '--data', 'there')).code).toBe(0);
  const db = new DatabaseSync(join(cwd, 'there', 'cairn.db'));
  db.prepare('DELETE FROM definitions WHERE hash = ?').run(template.hash);
  db.close();
  expect(await cairn('verify', runId, '--data', 'there')).toMatchObject({
    code: 1,
    out: expect.stringContaining(`the definition ${template.hash} is missing; the run is pinned to it`),
  });
});
