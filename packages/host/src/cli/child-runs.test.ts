/** Child runs in the terminal: shown as they work, listed, and asked about where the person is. */

import { expect, test } from 'vitest';
import { interruptIdOf } from '../../test/kit/payload-ids.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { crowd, servedCli, workflow } from './served-cli.kit.ts';

test('a child run is shown below its parent as it works, and its questions are asked here', async () => {
  const { cairn } = await servedCli();
  const prompts: string[] = [];
  const { code, err } = await cairn(['run', 'outermost'], {
    person: async (prompt) => {
      prompts.push(prompt);
      return 'yes';
    },
  });
  expect([code, prompts]).toEqual([0, ['  accept / reject > ']]);
  const lines = err.split('\n').map((line) => line.replace(/run_[\w-]+/, 'RUN').replace(/\d+(\.\d+)? m?s/, 'TIME'));
  expect(lines).toEqual([
    'run RUN',
    '  ↳ outer  RUN.0',
    '      ↳ review  RUN.0.0',
    '↳ review  RUN.0.0',
    '? approve asks for approval: Publish the text? (accept, reject)',
    '          ✓ approve  core.approvalGate  TIME',
    '          ✓ publish  core.setVariable  TIME',
    '          ✓ completed in TIME',
    '      ✓ inner  core.subWorkflow  TIME',
    '      ✓ completed in TIME',
    '  ✓ middle  core.subWorkflow  TIME',
    '✓ completed in TIME',
  ]);
});

test('without a person the command ends with 5 once only the question of a child run is left', async () => {
  const { cairn } = await servedCli();
  const { code, out, err } = await cairn(['run', 'outermost']);
  expect([code, out]).toEqual([5, '']);
  expect(err).toMatch(
    /^ {10}\? approve asks: Publish the text\? {2}cairn answer run_\S+\.0\.0\/int_[0-9a-f]{12}_0_approve$/m,
  );
  expect(err).toContain('    outermost > outer > review');
  const command = /answer with: cairn (answer \S+ accept)$/m.exec(err)?.[1]?.split(' ') ?? [];
  expect(await cairn(command)).toMatchObject({ code: 0 });
  const json = await cairn(['run', 'outermost', '--json']);
  expect([json.code, JSON.parse(json.out).status]).toEqual([5, 'waiting-approval']);
});

test('the failure of a child run is told where it happened', async () => {
  const { cairn } = await servedCli();
  const { code, err } = await cairn(['run', 'outer-broken']);
  expect(code).toBe(1);
  expect(err).toMatch(
    /^ {2}↳ broken {2}run_\S+\.0\n {6}✗ bad .*expression_failed: .*\n {6}✗ failed in \d+ ms {2}expression_failed: /m,
  );
});

test('show lists the runs below a run as a tree, with their questions', async () => {
  const { cairn } = await servedCli();
  await cairn(['run', 'outermost']);
  const runId = String(JSON.parse((await cairn(['runs', 'workflow:outermost', '--json'])).out).runs[0].runId);
  const { out } = await cairn(['show', runId]);
  expect(out).toContain(
    [
      'child runs',
      `└─ ? outer  ${runId}.0  waiting-approval`,
      `   └─ ? review  ${runId}.0.0  waiting-approval`,
      '',
      '? approve asks for approval: Publish the text? (accept, reject)',
      '    outermost > outer > review',
      `    answer with: cairn answer ${runId}.0.0/${interruptIdOf(`${runId}.0.0`, 'approve')} accept`,
    ].join('\n'),
  );
  await cairn(['answer', runId, 'accept']);
  await cairn(['tail', runId]);
  expect((await cairn(['show', runId])).out).toContain(`└─ ✓ outer  ${runId}.0  completed\n   └─ ✓ review`);
});

/** More than the streams that the command has for child runs at a time. */
const CROWD = 11;

test('child runs beyond the streams of the command wait for their turn, and all are shown in the end', async () => {
  const workflows = [workflow('leaf', [{ id: 'end', typeId: 'core.noop' }]), crowd('many', Array(CROWD).fill('leaf'))];
  const { cairn } = await servedCli(inMemoryStore(), { workflows });
  const { code, err } = await cairn(['run', 'many']);
  expect(code).toBe(0);
  const shown = new Set(err.match(/^ {2}↳ leaf {2}\S+$/gm));
  expect([shown.size, err.match(/^ {6}✓ end /gm)?.length]).toEqual([CROWD, CROWD]);
  expect(err.match(/^ {6}✓ completed in /gm)).toHaveLength(CROWD);
});

test('runs below child runs that hold every stream are shown and asked about', async () => {
  const workflows = [crowd('many', Array(CROWD).fill('outer'))];
  const { cairn } = await servedCli(inMemoryStore(), { workflows });
  let asked = 0;
  const { code, err } = await cairn(['run', 'many'], {
    person: async () => {
      asked += 1;
      return 'yes';
    },
  });
  expect([code, asked]).toEqual([0, CROWD]);
  expect(err.match(/^ {10}✓ completed in /gm)).toHaveLength(CROWD);
});

test('a run that ends while it waits for a stream is shown although the others go on working', async () => {
  const workflows = [
    workflow('leaf', [{ id: 'end', typeId: 'core.noop' }]),
    crowd('many', [...Array(CROWD).fill('slow'), 'leaf']),
  ];
  const { cairn } = await servedCli(inMemoryStore(), { workflows });
  let interrupt: () => void = () => undefined;
  const { code, err } = await cairn(['run', 'many'], {
    onStart: (press) => {
      interrupt = press;
    },
    onLine: (line) => {
      if (/^ {2}✓ n11 /.test(line)) interrupt();
    },
  });
  expect(code).toBe(130);
  expect(err).toMatch(/↳ leaf .*\n {6}✓ end /);
});

test('the end of a run that waits for a stream is shown although the others wait for people', async () => {
  const late = workflow('late', [
    { id: 'wait', typeId: 'core.delay', config: { delayMs: 300 } },
    { id: 'end', typeId: 'core.noop' },
  ]);
  const workflows = [late, crowd('many', [...Array(CROWD).fill('review'), 'late'])];
  const { cairn } = await servedCli(inMemoryStore(), { workflows });
  const { code, err } = await cairn(['run', 'many']);
  expect(code).toBe(5);
  expect(err).toMatch(/^ {6}✓ end /m);
  expect(err.match(/answer with: cairn answer/g)).toHaveLength(CROWD);
});

test('a question of a run that waits for a stream ends the command, too, when nobody is asked here', async () => {
  const late = workflow('late', [
    { id: 'wait', typeId: 'core.delay', config: { delayMs: 300 } },
    { id: 'gate', typeId: 'core.approvalGate', config: { title: 'Late?' } },
  ]);
  const workflows = [late, crowd('many', [...Array(CROWD).fill('review'), 'late'])];
  const { cairn } = await servedCli(inMemoryStore(), { workflows });
  const { code, err } = await cairn(['run', 'many']);
  expect(code).toBe(5);
  expect(err).toContain('Late?');
});
