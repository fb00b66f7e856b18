/** The verbs that look at runs and change them, against a real host. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { widthOf } from './render/table.ts';
import { key, readerKey, servedCli, trip } from './served-cli.kit.ts';

test('runs lists what the filter lets through, newest first', async () => {
  const { cairn, detached } = await servedCli();
  await cairn(['run', 'sum', '-i', 'n=1', '--tag', 'red']);
  await cairn(['run', 'broken']);
  const waiting = await detached('review');
  const all = (await cairn(['runs'])).out.split('\n');
  expect(all[0]).toMatch(/^ {2}RUN +WORKFLOW +STATUS +STARTED +TOOK$/);
  expect(all.slice(1).map((line) => line.split(/ {2,}/)[1])).toEqual(['review', 'broken', 'sum']);
  expect(all[2]).toMatch(/^✗ run_\S+ +broken +failed +just now +\d+ ms +expression_failed: /);
  expect(all[3]).toContain('#red');
  const found = await cairn(['runs', 'status:waiting-approval', 'workflow:review', '--json']);
  expect(JSON.parse(found.out)).toMatchObject({ runs: [{ runId: waiting }], nextCursor: null });
  expect(await cairn(['runs', 'tag:green'])).toMatchObject({ code: 0, out: '', err: 'No run matches.' });
});

test('runs goes on where the page before ended', async () => {
  const { cairn } = await servedCli();
  for (const n of [1, 2, 3]) await cairn(['run', 'sum', '-i', `n=${n}`]);
  const first = await cairn(['runs', '--limit', '2']);
  const next = /older runs: cairn (.*)$/.exec(first.err)?.[1]?.split(' ') ?? [];
  const second = await cairn(next);
  expect([first.out.split('\n').length, second.out.split('\n').length, second.err]).toEqual([3, 2, '']);
});

test('an empty list says how to begin', async () => {
  const { cairn } = await servedCli();
  expect((await cairn(['runs'])).err).toBe('There are no runs yet. Start one with: cairn run hello');
});

test.each([
  [['status:fialed'], 'Did you mean failed?'],
  [['staus:failed'], 'Did you mean status?'],
  [['failed'], '"failed" is not a filter'],
  [['tag:'], 'no value after the colon'],
  [['tag:a', 'tag:b'], 'The filter tag occurs twice'],
  [['__proto__:x'], 'There is no filter "__proto__"'],
])('runs refuses %j', async (words, message) => {
  const { cairn } = await servedCli();
  const ended = await cairn(['runs', ...words]);
  expect(ended.code).toBe(2);
  expect(ended.err).toContain(message);
});

test('show tells what a run is, where its nodes stand and how it ended', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('review', '-i', 'text=Hi');
  const waiting = (await cairn(['show', runId])).out;
  expect(waiting).toContain(`? ${runId}  waiting-approval`);
  expect(waiting).toMatch(/^└─ \? approve {2}core\.approvalGate {2}suspended /m);
  expect(waiting).toContain(`answer with: cairn answer ${runId} accept`);
  await cairn(['answer', runId, 'accept']);
  const ended = (await cairn(['show', runId])).out;
  expect(ended).toMatch(/^├─ ✓ approve {2}core\.approvalGate {2}completed /m);
  expect(ended).toMatch(/^└─ ✓ publish {2}core\.setVariable {3}completed /m);
  expect(ended).toMatch(/ by {8}ada$/m);
  expect(ended).toContain('outputs\n  {\n    "value": "Hi"\n  }');
});

test('show --at gives the fold of the events up to there, and its JSON the snapshot of that moment', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('review');
  await cairn(['answer', runId, 'accept']);
  const events = (await cairn(['tail', runId, '--json'])).out.split('\n').map((line) => JSON.parse(line));
  const suspended: number = events.find(({ type }) => type === 'node.suspended').sequence;
  const then = await cairn(['show', runId, '--at', String(suspended)]);
  expect(then.out).toContain(`waiting-approval as of event ${suspended}`);
  expect(then.out).not.toContain('core.setVariable');
  expect(then.out).not.toContain('answer it with');
  const document = JSON.parse((await cairn(['show', runId, '--at', String(suspended), '--json'])).out);
  expect(document).toMatchObject({ status: 'waiting-approval', interrupt: { nodeId: 'approve' } });
  expect(document.outputs).toBeUndefined();
  expect(await cairn(['show', runId, '--at', '999'])).toMatchObject({ code: 3, out: '' });
});

test('show tells why a run failed', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('broken');
  await cairn(['tail', runId]);
  const { out } = await cairn(['show', runId]);
  expect(out).toMatch(/^└─ ✗ bad .* expression_failed: /m);
  expect(out).toMatch(/^expression_failed: /m);
});

test.each([20, 40, 80])('on a terminal of %d columns no error is cut, in the list or on the page', async (columns) => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('broken');
  await cairn(['tail', runId]);
  const { error } = JSON.parse((await cairn(['show', runId, '--json'])).out);
  const whole = `${error.code}: ${error.message}`.replaceAll(' ', '');
  const list = (await cairn(['runs'], { columns })).out.split('\n').slice(1);
  const page = (await cairn(['show', runId], { columns })).out.split('\n\n');
  // The page repeats the error below the nodes.
  const node = page.find((part) => part.startsWith('└─'))?.split('\n') ?? [];
  for (const lines of [list, node]) {
    expect(lines.join('').replaceAll(' ', '')).toContain(whole);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  }
});

test('tail begins where it is told, keeps to the types, and stops with the run', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('sum', '-i', 'n=1');
  const all = await cairn(['tail', runId]);
  expect(all.code).toBe(0);
  expect(all.out.split('\n').at(-1)).toMatch(/ run\.completed /);
  const nodes = (await cairn(['tail', runId, '--types', 'node.started,run', '--json'])).out.split('\n');
  expect(nodes.map((line) => JSON.parse(line).type)).toEqual(['run.started', 'node.started', 'run.completed']);
  const last: number = JSON.parse(nodes.at(-1) ?? '').sequence;
  expect((await cairn(['tail', runId, '--from', String(last)])).out.split('\n').length).toBe(1);
});

test('tail --no-follow prints what is there; Ctrl-C ends a tail that waits', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('slow');
  const some = await cairn(['tail', runId, '--no-follow', '--types', 'node.*']);
  expect([some.code, some.out.split('\n').length]).toEqual([0, 1]);
  let interrupt: () => void = () => undefined;
  const { code } = await cairn(['tail', runId], {
    onStart: (press) => {
      interrupt = press;
    },
    onLine: (line) => {
      if (line.includes('node.started')) interrupt();
    },
  });
  expect(code).toBe(130);
});

test('answer takes questions by name and approvals by action, with a reason', async () => {
  const { cairn, detached } = await servedCli();
  const asked = await detached('trip');
  expect(await cairn(['answer', asked, 'city=Bern'])).toMatchObject({ code: 2 });
  expect((await cairn(['answer', asked, 'city=Bern', 'nights=x'])).err).toContain('nights must be a number');
  expect(await cairn(['answer', asked, 'city=Bern', 'nights=2', '--json'])).toMatchObject({ code: 0 });
  const gates = await detached('two-gates');
  expect((await cairn(['answer', gates, 'accept'])).err).toContain('has 2 open questions: left, right.');
  expect((await cairn(['answer', gates, '--node', 'middle', 'accept'])).code).toBe(3);
  expect((await cairn(['answer', gates, '--node', 'left', 'refine'])).err).toContain('what to change');
  const refined = await cairn(['answer', gates, '--node', 'left', 'refine', '--feedback', 'shorter']);
  expect(refined.code).toBe(0);
  const resolved = (await cairn(['tail', gates, '--no-follow', '--types', 'interrupt.resolved', '--json'])).out;
  expect(JSON.parse(resolved).payload.resumeValue).toMatchObject({ refineFeedback: { text: 'shorter' } });
  const rejected = await cairn(['answer', gates, 'reject', '--feedback', 'no']);
  expect(rejected.code).toBe(0);
});

test.each([
  ['a run that has no open question', 'sum', ['accept'], 4, 'has no open question'],
  ['an answer that is not JSON', 'trip', ['--value', '{'], 2, 'is not JSON'],
  ['an answer the host refuses', 'trip', ['--value', '{"answers":{"city":"Bern"}}'], 2, 'nights'],
  ['no answer where nobody can be asked', 'trip', [], 2, 'The answer is missing'],
])('answer refuses %s', async (_name, workflow, words, code, message) => {
  const { cairn, detached } = await servedCli();
  const runId = await detached(workflow, ...(workflow === 'sum' ? ['-i', 'n=1'] : []));
  if (workflow === 'sum') await cairn(['tail', runId]);
  const ended = await cairn(['answer', runId, ...words]);
  expect(ended.code).toBe(code);
  expect(ended.err).toContain(message);
});

test('answer asks the person who is there', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('review');
  const ended = await cairn(['answer', runId], { person: async () => 'reject' });
  expect(ended.code).toBe(0);
  expect(JSON.parse((await cairn(['show', runId, '--json'])).out).error.code).toBe('approval_rejected');
});

test('cancel, pause and resume change a run and say what it is then', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('slow');
  expect(await cairn(['pause', runId, '--now', '--reason', 'lunch'])).toMatchObject({
    code: 0,
    out: `‖ ${runId} is paused`,
  });
  expect((await cairn(['pause', runId])).code).toBe(4);
  expect(await cairn(['resume', runId])).toMatchObject({ code: 0, out: `● ${runId} is running` });
  const cancelled = await cairn(['cancel', runId, '--reason', 'enough', '--json']);
  expect(JSON.parse(cancelled.out)).toMatchObject({ runId });
  expect((await cairn(['tail', runId, '--types', 'run.cancelled'])).out).toContain('"reason":"enough"');
  expect((await cairn(['resume', runId])).code).toBe(4);
  expect((await cairn(['cancel', 'run_nobody'])).code).toBe(3);
});

test('workflows lists them, shows one, and registers another', async () => {
  const { cairn } = await servedCli();
  expect((await cairn(['workflows'])).out).toMatch(/^WORKFLOW +VERSION +REGISTERED\nbroken +1 +just now/);
  const one = (await cairn(['workflows', 'sum'])).out;
  expect(one).toMatch(/^ {2}n +number +required$/m);
  expect(one).toContain('run it with: cairn run sum --input n=…');
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-add-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'w.json'), JSON.stringify({ ...trip, id: 'trip-2' }));
  expect(await cairn(['workflows', '--add', 'w.json'], { cwd })).toMatchObject({
    code: 0,
    out: 'trip-2 1 is registered',
  });
  writeFileSync(join(cwd, 'bad.json'), JSON.stringify({ ...trip, nodes: [] }));
  expect(await cairn(['workflows', '--add', 'bad.json'], { cwd })).toMatchObject({ code: 2, out: '' });
  expect((await cairn(['workflows', 'trap'])).code).toBe(3);
});

test.each([
  ['a key that is not known', { CAIRN_KEY: 'somebody-elses-key' }, 4, 'The bearer key is not known here.'],
  ['a key that may not', { CAIRN_KEY: readerKey }, 4, 'lacks the scope manifest:read'],
  ['an address where nothing answers', { CAIRN_URL: 'http://127.0.0.1:1', CAIRN_KEY: key }, 1, 'comes from CAIRN_URL'],
])('%s is told with its exit code', async (_name, env, code, message) => {
  const { cairn } = await servedCli();
  const ended = await cairn(['workflows'], { env });
  expect([ended.code, ended.out]).toEqual([code, '']);
  expect(ended.err).toContain(message);
});

test('with --json a failure is JSON, too', async () => {
  const { cairn } = await servedCli();
  const ended = await cairn(['show', 'run_nobody', '--json']);
  expect([ended.code, ended.out, JSON.parse(ended.err).error]).toEqual([3, '', 'not_found']);
});

test('a narrow screen cuts lines that tell no error, a pipe does not; colours only where they are shown', async () => {
  const { cairn } = await servedCli();
  await cairn(['run', 'broken']);
  const narrow = (await cairn(['runs'], { columns: 60 })).out.split('\n');
  expect(narrow.every((line) => line.length <= 60)).toBe(true);
  expect(narrow.map((line) => line.endsWith('…'))).toEqual([true, ...narrow.slice(1).map(() => false)]);
  expect((await cairn(['runs'])).out).not.toContain('\u001b');
  expect((await cairn(['runs'], { colours: true })).out).toContain('\u001b[31m✗');
});

test('what others wrote cannot steer the terminal', async () => {
  const { cairn } = await servedCli();
  await cairn(['run', 'sum', '-i', 'n=1', '--tag', 'a\u001b]0;title\u0007b']);
  const { out } = await cairn(['runs']);
  expect(out).toContain('#a\\u001b]0;title\\u0007b');
  expect(out).not.toContain('\u001b');
});
