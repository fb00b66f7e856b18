/** `cairn dev FILE` follows its program: new runs use the new version, and a broken file changes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@cairn/client';
import { expect, test, vi } from 'vitest';
import { typed } from '../recording-terminal.kit.ts';
import { DevProcess, Project } from './dev-process.kit.ts';

// Each test starts a process, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A gate, then a step in another file. */
const app = (title: string, second = "'./greet.ts'"): string => `
import { defineApp, defineWorkflow } from '@cairn/host';
import { greet } from ${second};

const hello = defineWorkflow({
  id: 'hello',
  nodes: { ask: { type: 'core.approvalGate', config: { title: '${title}' } }, greet: { type: greet } },
});
export default defineApp({ steps: [greet], workflows: [hello] });
`;
const greet = (word: string): string => `
import { defineStep } from '@cairn/host';
const word: string = '${word}';
export const greet = defineStep({ name: 'greet', safety: 'pure', run: async () => ({ word }) });
`;

/** Starts a run and returns it at its question. */
async function asked(client: Client) {
  const { runId } = await client.runs.create({ workflowId: 'hello' });
  for await (const { type, payload } of client.follow(runId)) {
    if (type === 'interrupt.requested') return { runId, payload };
  }
  throw new Error('The run asked nothing.');
}

async function answered(client: Client, runId: string) {
  await client.runs.answer(runId, 'ask', { action: 'accept' });
  for await (const { type, payload } of client.follow(runId)) if (type === 'run.completed') return payload;
}

test('loads changed files again; a run keeps its workflow; each run has a line for its start and its end', async () => {
  const project = new Project({ 'app.ts': app('First?'), 'greet.ts': greet('one') });
  const dev = new DevProcess(project, ['app.ts', '--people', 'ada']);
  const client = await dev.ready();
  const { runId } = await asked(client);
  await dev.line(new RegExp(`^\\d\\d:\\d\\d:\\d\\d ▸ hello {2}${runId}$`));
  project.write({ 'greet.ts': greet('two') });
  await dev.line(/^app\.ts reloaded: 1 step, 1 workflow$/);
  project.write({ 'app.ts': app('Second?') });
  await dev.line(/^app\.ts reloaded/);
  expect((await asked(dev.client('ada'))).payload).toMatchObject({ data: { title: 'Second?' } });
  expect(await answered(client, runId)).toMatchObject({ outputs: { word: 'two' } });
  await dev.line(new RegExp(`✓ hello {2}${runId} {2}completed in`));
  expect(await dev.stop('SIGINT')).toBe(0);
  expect(existsSync(join(project.folder, '.cairn/host.json'))).toBe(false);
});

test('a broken file is named with the line, and the last good version stays in use until it is mended', async () => {
  const project = new Project({ 'app.ts': app('Good?'), 'greet.ts': greet('one') });
  const dev = new DevProcess(project, ['app.ts']);
  const client = await dev.ready();
  const breaks: readonly (readonly [files: Record<string, string>, said: RegExp])[] = [
    [{ 'greet.ts': `${greet('two')}\nconst x: = 1;` }, /^greet\.ts:6 {2}SyntaxError: /],
    [{ 'greet.ts': `${greet('two')}throw new Error('not today');` }, /^greet\.ts:5 {2}Error: not today$/],
    [{ 'greet.ts': greet('two'), 'app.ts': app('Bad?', "'./great.ts'") }, /^app\.ts:3 {2}Cannot find \.\/great\.ts\.$/],
    [
      { 'plain.js': '\nexport const greet = (;', 'app.ts': app('Bad?', "'./plain.js'") },
      /^plain\.js:2 {2}SyntaxError: /,
    ],
    [
      { 'app.ts': app('Bad?').replace('defineApp({', 'defineApp({ workflow: [],') },
      /^app\.ts:9 .* which may mean workflows\.$/,
    ],
    [{ 'app.ts': app('Bad?').replace('core.approvalGate', 'core.approvalGat') }, /^app\.ts:6 {2}workflow hello: /],
    [{ 'app.ts': 'export const nothing = 1;' }, /^app\.ts {2}The app cannot be used: the file has no default export/],
  ];
  for (const [files, said] of breaks) {
    project.write(files);
    await dev.line(said);
    await dev.line(/^The last good version stays in use/);
  }
  const { runId, payload } = await asked(client);
  expect(payload).toMatchObject({ data: { title: 'Good?' } });
  expect(await answered(client, runId)).toMatchObject({ outputs: { word: 'one' } });
  project.write({ 'app.ts': app('Mended?') });
  await dev.line(/^app\.ts reloaded/);
  expect((await asked(client)).payload).toMatchObject({ data: { title: 'Mended?' } });
});

test('plain JavaScript is a program, too', async () => {
  const text = `import { defineApp, defineWorkflow } from '@cairn/host';
const only = defineWorkflow({ id: 'only', variables: { city: { type: 'string', required: true } }, nodes: { n: { type: 'core.noop' } } });
export default defineApp({ workflows: [only] });`;
  const dev = new DevProcess(new Project({ 'app.mjs': text }), ['app.mjs']);
  expect(await dev.line(/^try it/)).toContain('cairn run only --input city=…');
  const { runId } = await dev.client().runs.create({ workflowId: 'only', inputs: { city: 'Bern' } });
  await dev.line(new RegExp(`✓ only {2}${runId}`));
});

test('a promise that a step forgot and that is rejected is reported, and the host goes on', async () => {
  const text = `import { defineApp, defineStep, defineWorkflow } from '@cairn/host';
const stray = defineStep({ name: 'stray', safety: 'pure', run: async () => {
  void Promise.reject(new Error('nobody awaits me'));
  return {};
} });
export default defineApp({ steps: [stray], workflows: [defineWorkflow({ id: 'only', nodes: { n: { type: stray } } })] });`;
  const dev = new DevProcess(new Project({ 'app.ts': text }), ['app.ts']);
  const client = await dev.ready();
  for (let i = 0; i < 2; i += 1) {
    await client.runs.create({ workflowId: 'only' });
    expect(await dev.line(/process\.rejection/)).toContain('nobody awaits me');
  }
});

test.each([
  ['app.ts', 'const x: = 1;', /^cairn: app\.ts:1 {2}SyntaxError: /],
  ['odd.ts', app('Odd?').replace('core.approvalGate', 'core.nothing'), /^cairn: odd\.ts:6 {2}workflow hello: /],
])('a broken %s at the start ends the command', async (file, text, said) => {
  const dev = new DevProcess(new Project({ [file]: text, 'greet.ts': greet('one') }), [file]);
  await dev.line(said);
  expect(await dev.exit).toBe(2);
});

test.each([
  ['none.ts', 3, 'There is no file none.ts.'],
  ['package.json', 2, 'package.json is not a program: its name ends with .json.'],
])('%s is refused before anything starts', async (file, code, said) => {
  const { folder } = new Project({});
  const ended = await typed(['dev', file], { cwd: folder });
  expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(said)]);
  expect(existsSync(join(folder, '.cairn'))).toBe(false);
});
