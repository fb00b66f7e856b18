/**
 * Tests the packages as published: packs them, installs them without access to the sources, runs one workflow and the
 * bundled agents, and makes, checks and tests a new project.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const root = dirname(import.meta.dirname);
const names = ['protocol', 'client', 'host'] as const;
const key = 'a-key-for-this-trial-only';

const workflow = {
  id: 'trial',
  name: 'Trial',
  version: '1.0.0',
  nodes: [{ id: 'only', typeId: 'core.noop', name: 'Only', position: { x: 0, y: 0 }, config: {}, inputs: {} }],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

/** Runs in the trial folder, so that its imports resolve to the packed packages only. */
const program = `
import { createClient } from '@cairn/client';
import { createClient as createConversationClient } from '@cairn/client/context';
import { useConversation } from '@cairn/client/react';
import { errorKinds } from '@cairn/protocol';
import { createHost } from '@cairn/host';
if (typeof createHost !== 'function' || typeof useConversation !== 'function' || errorKinds.not_found.status !== 404) throw new Error('An entry lacks its exports.');
const client = createClient({ url: process.argv[1], key: ${JSON.stringify(key)} });
const { runId } = await client.runs.create({ workflowId: 'trial' });
for await (const event of client.follow(runId)) console.log(event.sequence, event.type);
const { status } = await client.runs.get(runId);
for (const path of ['/docs/', '/docs/concepts/log', '/docs/errors/not_found', '/docs/search-index.js']) {
  const page = await fetch(process.argv[1] + path);
  if (page.status !== 200) throw new Error(path + ' answers ' + page.status + ': the package lacks the documentation.');
  // A page that nobody reads keeps its connection, and with it this process, until the host gives up.
  if ((await page.text()) === '') throw new Error(path + ' is empty.');
}
if (status !== 'completed') throw new Error('The run is ' + status + ', not completed.');
const options = { url: process.argv[1], key: ${JSON.stringify(key)} };
const { contextId } = await client.readTokens.create(runId, { of: 'context' });
const { tasks } = await createConversationClient(options).context(contextId).tasks();
if (tasks[0]?.taskId !== runId) throw new Error('The context lacks its task.');
`;

/** An optional package that this installation lacks, as npm would leave it out on an old Node. */
const SKIPPED = 'anthropic';

/** Links third-party packages from this checkout, since the trial is about our own packages. */
function install(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@cairn'), { recursive: true });
  const link = (entry: string): void => symlinkSync(join(root, 'node_modules', entry), join(modules, entry));
  for (const entry of readdirSync(join(root, 'node_modules'))) {
    if (!entry.startsWith('.') && entry !== '@cairn' && entry !== '@ai-sdk') link(entry);
  }
  mkdirSync(join(modules, '@ai-sdk'));
  for (const entry of readdirSync(join(root, 'node_modules/@ai-sdk'))) {
    if (entry !== SKIPPED) link(join('@ai-sdk', entry));
  }
  for (const name of names) {
    const said = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
      cwd: join(root, 'packages', name),
      encoding: 'utf8',
    });
    const [packed]: readonly { readonly filename: string }[] = JSON.parse(said);
    if (packed === undefined) throw new Error(`npm packed nothing for ${name}.`);
    const target = join(modules, '@cairn', name);
    mkdirSync(target);
    execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', target, '--strip-components=1']);
  }
}

const cairn = 'node_modules/@cairn/host/bin/cairn.mjs';

function configure(folder: string): void {
  mkdirSync(join(folder, 'workflows'));
  writeFileSync(join(folder, 'workflows/trial.json'), JSON.stringify(workflow));
  const config = { port: 0, data: 'data', workflows: ['workflows'], keys: [{ key, tenant: 'trial' }] };
  writeFileSync(join(folder, 'cairn.json'), JSON.stringify(config));
}

async function serve(folder: string, args: readonly string[], use: (url: string) => void): Promise<void> {
  const host = spawn(process.execPath, [cairn, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => host.once('close', resolve));
  try {
    for await (const line of createInterface(host.stdout)) {
      const url = /^cairn ready (http\S+)$/.exec(line)?.[1];
      if (url === undefined) throw new Error(`Instead of its ready line the host said: ${line}`);
      use(url);
      break;
    }
  } finally {
    host.kill('SIGTERM');
  }
  const code = await ended;
  if (code !== 0) throw new Error(`The packed host ended with ${code}.`);
}

function tryDoctor(folder: string): void {
  const told = execFileSync(process.execPath, [cairn, 'doctor'], { cwd: folder, encoding: 'utf8' });
  const expected = `@ai-sdk/${SKIPPED} is not installed`;
  if (!told.includes(expected)) throw new Error(`The doctor does not say "${expected}":\n${told}`);
}

/** A new project finds the packages in the folder above it. Its own code and that of the guide must pass the compiler. */
function tryProject(folder: string): void {
  const project = join(folder, 'project');
  const node = (...args: readonly string[]) => execFileSync(process.execPath, args, { cwd: project, stdio: 'inherit' });
  execFileSync(process.execPath, [cairn, 'init', 'project', '--packages', '.'], { cwd: folder, stdio: 'inherit' });
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  node(tsc);
  node('--test');
  const guide = readFileSync(join(root, 'docs/guides/first-workflow.md'), 'utf8');
  for (const [, file = '', text = ''] of guide.matchAll(/^```ts (\S+)\n([\s\S]*?)^```/gm)) {
    writeFileSync(join(project, file), text);
  }
  node(tsc);
  node('--test');
}

const folder = mkdtempSync(join(tmpdir(), 'cairn-packages-'));
try {
  install(folder);
  configure(folder);
  await serve(folder, ['start', '--config', 'cairn.json'], (url) => {
    execFileSync(process.execPath, ['--input-type=module', '-e', program, url], { cwd: folder, stdio: 'inherit' });
  });
  await serve(folder, ['dev', '--port', '0'], () => {
    const args = [cairn, 'run', 'research-crew', '--input', 'topic=trials'];
    execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  });
  tryDoctor(folder);
  tryProject(folder);
  process.stdout.write(
    'The packed packages run a host, a workflow, their own agents, and a new project with its tests.\n',
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
