import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readerKey, servedCli } from './served-cli.kit.ts';
import { isAtRest } from './watch-run.ts';

test('run shows progress on stderr, prints the outputs, and nothing else, on stdout', async () => {
  const { cairn } = await servedCli();
  const { code, out, err } = await cairn(['run', 'sum', '--input', 'n=41']);
  expect([code, JSON.parse(out)]).toEqual([0, { value: 42 }]);
  expect(err).toMatch(/^run run_\S+\n {2}✓ add {2}core\.setVariable {2}\d+ ms\n✓ completed in \d+ ms$/);
});

test('run --json prints the whole run as one document', async () => {
  const { cairn } = await servedCli();
  const { code, out, err } = await cairn(['run', 'sum', '-i', 'n=1', '--tag', 'red', '--tag', 'blue', '--json']);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toMatchObject({ status: 'completed', inputs: { n: 1 }, tags: ['red', 'blue'] });
});

test('the exit code of a failed run is 1, and its error is told', async () => {
  const { cairn } = await servedCli();
  const { code, out, err } = await cairn(['run', 'broken']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/✗ bad {2}core\.setVariable .*expression_failed/);
  expect(err).toContain('✗ failed');
  expect(err).toContain('cairn explain expression_failed');
});

test('a run that waits for a person ends the command with 5 and says how to answer', async () => {
  const { cairn } = await servedCli();
  const { code, out, err } = await cairn(['run', 'review']);
  expect([code, out]).toEqual([5, '']);
  expect(err).toContain('? approve asks for approval: Publish the text? (accept, reject)');
  const command = /answer with: cairn (answer \S+ accept)$/m.exec(err)?.[1]?.split(' ') ?? [];
  const answered = await cairn(command);
  expect(answered).toMatchObject({ code: 0, out: '✓ approve is answered; the run is completed' });
});

test('every question of a run is told, each with its own command', async () => {
  const { cairn } = await servedCli();
  const { code, err } = await cairn(['run', 'two-gates']);
  expect(code).toBe(5);
  expect(err).toMatch(/cairn answer \S+ --node left accept/);
  expect(err).toMatch(/cairn answer \S+ --node right accept/);
});

test('a run that asks while another branch is at work is watched until only the answer is missing', async () => {
  const { cairn } = await servedCli();
  const { code, err } = await cairn(['run', 'busy-gate']);
  expect(code).toBe(5);
  expect(err).toMatch(/✓ work[\s\S]*answer with/);
});

test.each([
  ['waiting-approval', 'suspended', true],
  ['waiting-approval', 'retrying', false],
  ['waiting-input', 'running', false],
  ['running', 'suspended', false],
] as const)('a run that is %s with a node that is %s is at rest: %s', (status, node, isResting) => {
  expect(isAtRest({ runId: 'run_a', workflowId: 'w', status, nodeStates: { n: { status: node } } })).toBe(isResting);
});

test('a person at the terminal is asked, and what is no answer is asked again', async () => {
  const { cairn } = await servedCli();
  const said = ['perhaps', 'acc'];
  const { code, err } = await cairn(['run', 'review'], { person: async () => said.shift() ?? null });
  expect([code, said]).toEqual([0, []]);
  expect(err).toContain('"perhaps" is not a valid action. Use accept or reject.');
  expect(err).toContain('✓ publish');
});

test('questions are answered by name, in their types, and a refusal of the host is asked again', async () => {
  const { cairn } = await servedCli();
  const said = ['Bern', 'three', 'Bern', '3'];
  const asked: string[] = [];
  const { code, err, out } = await cairn(['run', 'trip'], {
    person: async (question) => {
      asked.push(question.trim());
      return said.shift() ?? null;
    },
  });
  expect(err).toContain('nights must be a number, not "three".');
  expect(asked).toEqual(['city >', 'nights >', 'city >', 'nights >']);
  expect([code, JSON.parse(out)]).toEqual([0, { answers: { city: 'Bern', nights: 3 } }]);
});

test('a person who leaves ends the command with 5; the run waits on', async () => {
  const { cairn } = await servedCli();
  const { code, err } = await cairn(['run', 'review'], { person: async () => null });
  expect(code).toBe(5);
  expect(err).toContain('answer with: cairn answer');
});

test('a question that somebody else answers is not asked any longer', async () => {
  const { cairn } = await servedCli();
  let isDismissed = false;
  const watching = cairn(['run', 'review'], {
    person: (_question, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isDismissed = true;
          reject(signal.reason);
        });
        void cairn(['runs', '--json']).then(({ out }) =>
          cairn(['answer', String(JSON.parse(out).runs[0].runId), 'accept']),
        );
      }),
  });
  expect([(await watching).code, isDismissed]).toEqual([0, true]);
});

test('a key that may not answer says so, and leaves the run waiting', async () => {
  const { cairn } = await servedCli();
  const env = { CAIRN_KEY: readerKey };
  const { code, err } = await cairn(['run', 'review'], { env, person: async () => 'accept' });
  expect(code).toBe(5);
  expect(err).toContain('lacks the scope approvals:respond');
});

test('Ctrl-C leaves the run running, says how to watch it, and ends with 130', async () => {
  const { cairn } = await servedCli();
  let interrupt: () => void = () => undefined;
  const { code, err } = await cairn(['run', 'slow'], {
    onStart: (press) => {
      interrupt = press;
    },
    onLine: (line) => {
      if (line.startsWith('run ')) interrupt();
    },
  });
  const runId = /cairn tail (run_\S+)/.exec(err)?.[1] ?? '';
  expect(code).toBe(130);
  expect(JSON.parse((await cairn(['show', runId, '--json'])).out)).toMatchObject({ status: 'running' });
});

test('inputs come from a file, and those of the command line win', async () => {
  const { cairn } = await servedCli();
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-inputs-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'in.json'), '{"n":1,"label":"x"}');
  const { out } = await cairn(['run', 'sum', '--input-file', 'in.json', '--input', 'label=7', '--json'], { cwd });
  expect(JSON.parse(out)).toMatchObject({ inputs: { n: 1, label: '7' } });
});

test('goes on with a conversation that it is told of', async () => {
  const { cairn } = await servedCli();
  const contextOf = async (...args: string[]) =>
    String(JSON.parse((await cairn(['run', 'hello', '--detach', '--json', ...args])).out).contextId);
  const first = await contextOf();
  expect(await contextOf('--context', first)).toBe(first);
  expect(await contextOf()).not.toBe(first);
});

test.each([
  ['a conversation that is not there', ['run', 'hello', '--context', 'ctx_none'], 3, 'There is no context "ctx_none".'],
  ['a misspelt workflow', ['run', 'hallo'], 3, 'Did you mean hello?'],
  ['an unknown workflow', ['run', 'xyzzy'], 3, '"cairn workflows" lists'],
  ['an agent that is not there', ['run', 'core.test.none.agent'], 3, 'There is no agent "core.test.none.agent".'],
  ['an input of the wrong type', ['run', 'sum', '-i', 'n=one'], 2, 'n must be a number, not "one".'],
  ['a misspelt input', ['run', 'sum', '-i', 'n=1', '-i', 'lable=x'], 2, 'Did you mean label? Its inputs are n, label.'],
  [
    'an input of a workflow without any',
    ['run', 'trip', '-i', 'city=Bern'],
    2,
    'has no input city.\n  It has no inputs.',
  ],
  ['an input without a name', ['run', 'sum', '-i', '=1'], 2, 'not have the form name=value'],
  ['a file that is not there', ['run', 'sum', '--input-file', 'no.json'], 2, 'no.json cannot be read'],
  ['no workflow', ['run'], 2, "missing required argument 'workflow|agent'"],
])('refuses %s', async (_name, args, code, message) => {
  const { cairn } = await servedCli();
  const ended = await cairn(args);
  expect([ended.code, ended.out]).toEqual([code, '']);
  expect(ended.err).toContain(message);
});

test('a boolean input is yes or no, and names that only expressions read are inputs, too', async () => {
  const { cairn } = await servedCli();
  const inputsOf = async (...args: string[]) =>
    JSON.parse((await cairn(['run', 'switches', '--json', ...args])).out).inputs;
  expect(await inputsOf('-i', 'loud=yes', '-i', 'count=3', '-i', 'city=3')).toEqual({ loud: true, count: 3, city: 3 });
  expect((await cairn(['run', 'switches', '-i', 'loud=loudly'])).err).toContain('Use yes or no, or true or false.');
});
