/** `cairn fork`, `cairn retry` and `cairn diff` of branches, against a real host. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { countingLook, desk } from '../server/runs/looking-desk.kit.ts';
import { readerKey, type ServedCli, servedCli } from './served-cli.kit.ts';

const work = defineWorkflow({
  id: 'work',
  version: '1',
  nodes: { work: { type: 'cairn.agent', agent: { agentId: 'host:desk' } } },
});

let calls: () => number;
let cairn: ServedCli['cairn'];
beforeEach(async () => {
  const counting = countingLook();
  calls = counting.calls;
  ({ cairn } = await servedCli(inMemoryStore(), { agents: [desk], tools: [counting.look], workflows: [work] }));
});

const ran = async (...args: readonly string[]): Promise<string> =>
  String(JSON.parse((await cairn(['run', ...args, '--json'])).out).runId);

const seqOf = async (runId: string, type: string): Promise<string> => {
  const { out } = await cairn(['tail', runId, '--json', '--no-follow']);
  const rows = out.split('\n').map((line) => JSON.parse(line));
  return String(rows.find((row) => row.type === type).sequence);
};

test('fork shares the events before --at, follows the branch, and changes the inputs it is told', async () => {
  const source = await ran('sum', '-i', 'n=1');
  const { code, out, err } = await cairn(['fork', source, '--at', '2', '--set', 'n=5']);
  expect([code, JSON.parse(out)]).toEqual([0, { value: 6 }]);
  expect(err).toMatch(new RegExp(`^run run_\\S+  branches off ${source} at event 2\n  ✓ add`));
  expect(err).toMatch(/✓ completed$/);
  const data = await cairn(['fork', source, '--set', 'n=7', '--tag', 'what-if', '--json']);
  expect(JSON.parse(data.out)).toMatchObject({
    status: 'completed',
    outputs: { value: 8 },
    tags: ['what-if'],
    fork: { sourceRunId: source, fromSeq: 0, mode: 'branch' },
  });
});

test('fork --detach prints the id of the branch and leaves it alone, also as JSON', async () => {
  const source = await ran('sum', '-i', 'n=1');
  const { code, out, err } = await cairn(['fork', source, '--detach']);
  expect([code, out, err]).toEqual([0, expect.stringMatching(/^run_\S+$/), '']);
  expect(JSON.parse((await cairn(['fork', source, '--detach', '--json'])).out)).toMatchObject({ sourceRunId: source });
});

test('fork --replay repeats the run without a call, and takes no change', async () => {
  const source = await ran('work');
  const { code, err } = await cairn(['fork', source, '--replay']);
  expect([code, calls()]).toEqual([0, 1]);
  expect(err).toContain(`replays ${source} at event 0`);
  const refused = await cairn(['fork', source, '--replay', '--set', 'n=5']);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--replay changes nothing, so --set')]);
});

test('fork --rule reuses recorded results, and diff names the first divergence and the decision of a live branch', async () => {
  const source = await ran('work');
  const at = await seqOf(source, 'node.started');
  await cairn(['fork', source, '--at', at, '--rule', '*=reuse']);
  expect(calls()).toBe(1);
  const same = await cairn(['diff', source, 'last']);
  expect([same.code, same.out]).toEqual([0, expect.stringContaining('The runs did the same.')]);
  expect(same.out).toContain(`b branches off ${source} at event ${at}\n  rule: *=reuse\n`);
  await cairn(['fork', source, '--at', at, '--rule', 'tool:acme:look=live', '--rule', '*=reuse']);
  expect(calls()).toBe(2);
  const { code, out } = await cairn(['diff', source, 'last']);
  expect(code).toBe(1);
  expect(out).toMatch(/^first divergence\n {2}a at event \d+: agent\.toolReturned of work$/m);
  expect(out).toMatch(/^ {2}~ work#0\/decision0 .*\n {6}decision\n {8}- Found 1\.\n {8}\+ Found 2\.$/m);
  expect(out).toMatch(/^tool calls {2}1 differ, 0 are the same$/m);
  expect(out).toMatch(/^ {2}cost +\$0\.0000 +\$0\.0000$/m);
});

test('fork --result and --prompt @FILE change what an agent is given', async () => {
  const source = await ran('work');
  const at = await seqOf(source, 'agent.toolReturned');
  const { out } = await cairn(['tail', source, '--json', '--no-follow']);
  const { callId } = JSON.parse(out.split('\n')[Number(at)] ?? '{}').payload;
  const given = await cairn(['fork', source, '--at', at, '--result', `${callId}={"found":99}`]);
  expect([given.code, given.err]).toEqual([0, expect.stringContaining('Found 99.')]);
  const folder = mkdtempSync(join(tmpdir(), 'cairn-fork-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'new.md'), 'Look twice.');
  const prompted = await cairn(['fork', source, '--prompt', 'host:desk=@new.md'], { cwd: folder });
  expect(prompted.code).toBe(0);
  const diff = await cairn(['diff', source, 'last']);
  expect(diff.out).toContain('\n  prompts.host:desk: Look twice.\n');
  expect(prompted.err).not.toContain('is named');
  const mistyped = await cairn(['fork', source, '--prompt', 'host:dsk=Look twice.', '--prompt', 'work=Look.']);
  expect(mistyped.err).toContain('! No agent, and no node of work, is named host:dsk. Did you mean host:desk?\n');
  expect(mistyped.err).not.toContain('is named work');
  const missing = await cairn(['fork', source, '--prompt', 'host:desk=@none.md'], { cwd: folder });
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('none.md cannot be read')]);
});

test('fork --answer gives another answer to the question that is open there', async () => {
  const { out: source } = await cairn(['run', 'review', '--detach']);
  await cairn(['answer', source, 'accept']);
  const at = await seqOf(source, 'interrupt.resolved');
  const { code, err } = await cairn(['fork', source, '--at', at, '--answer', '{"action":"reject"}']);
  expect([code, err]).toEqual([1, expect.stringContaining('approval_rejected')]);
  const none = await cairn(['fork', source, '--at', '1', '--answer', '{"action":"reject"}']);
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('No question is open at event 1.')]);
});

test.each<[string, readonly string[], number, string]>([
  ['a position beyond the run', ['--at', '99'], 4, 'cannot be forked at 99: it ends at event 6'],
  ['a position below 0', ['--at', '-1'], 2, "argument '-1' is invalid"],
  ['an unknown input', ['--set', 'm=1'], 2, 'The workflow sum has no input m.'],
  ['a rule of no form', ['--rule', 'x'], 2, 'does not have the form calls=use'],
  ['a use that is none', ['--rule', 'tool:*=maybe'], 2, '"maybe" is none of reuse, ask, live.'],
  ['calls that are none', ['--rule', 'tools=reuse'], 2, 'must be *, tool:NAME, step:NAME or model:NAME'],
  ['an answer that is no JSON', ['--answer', '{'], 2, '--answer is not JSON'],
  ['a result of no call', ['--at', '2', '--result', 'x=1'], 2, 'has no open call x at 2'],
  ['two results', ['--result', 'x=1', '--result', 'y=1'], 2, 'A branch takes one --result.'],
  ['an option of another type', ['--option', 'recursionLimit=x'], 2, 'recursionLimit'],
])('fork refuses %s', async (_, args, code, message) => {
  const source = await ran('sum', '-i', 'n=1');
  const refused = await cairn(['fork', source, ...args]);
  expect([refused.code, refused.out, refused.err]).toEqual([code, '', expect.stringContaining(message)]);
});

test('fork and retry name a run that there is none of, and a scope that the key lacks', async () => {
  for (const verb of ['fork', 'retry']) {
    expect(await cairn([verb, 'run_none'])).toMatchObject({ code: 3, err: expect.stringContaining('run_none') });
  }
  const { out: source } = await cairn(['run', 'review', '--detach']);
  const at = String(Number(await seqOf(source, 'interrupt.requested')) + 1);
  const env = { CAIRN_KEY: readerKey };
  const refused = await cairn(['fork', source, '--at', at, '--answer', '{"action":"accept"}'], { env });
  expect(refused.err).toContain('lacks the scope approvals:respond');
});

test('retry branches at the failed node, with another input, and refuses a run that has not failed', async () => {
  const source = await ran('broken');
  const again = await cairn(['retry', source]);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining(`branches off ${source} at event 2`)]);
  expect(JSON.parse((await cairn(['retry', source, '--json'])).out)).toMatchObject({
    status: 'failed',
    fork: { sourceRunId: source, mode: 'branch', fromSeq: 2 },
  });
  const completed = await ran('sum', '-i', 'n=1');
  expect(await cairn(['retry', completed])).toMatchObject({
    code: 4,
    err: expect.stringContaining('only a failed run can be retried'),
  });
});

test('--help of fork, retry and diff shows examples', async () => {
  for (const verb of ['fork', 'retry', 'diff']) {
    const { code, out } = await cairn([verb, '--help']);
    expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`\nExamples:\n  cairn ${verb} RUN`))]);
  }
});
