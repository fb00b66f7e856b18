/** The demo of `cairn dev`: real runs, started once, and only where nobody has runs of their own. */
import { type Client, createClient } from '@cairn/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { scopes } from '../server/access/auth.ts';
import { createHostOver } from '../server/create-host.ts';
import { DevProcess, Project } from './app/dev-process.kit.ts';
import { demoPacks } from './demo-packs.ts';
import { startDemo } from './demo-runs.ts';
import { demoWorkflows } from './demo-workflows.ts';
import { modelConfig } from './dev-model.ts';
import { typed } from './recording-terminal.kit.ts';

// Some tests start a process, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const key = 'a-key-for-the-demo-runs';

/** A host with a model that nobody can reach: a run that asked it would fail. */
async function opened(): Promise<Client> {
  const host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 'dev', principal: 'ada', scopes: [...scopes] }],
      packs: { folders: [demoPacks] },
      models: {
        providers: { none: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } },
        default: 'none/none',
      },
    },
    workflows: demoWorkflows,
    allowUnsignedPacks: true,
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  return createClient({ url: host.url ?? '', key });
}

/** Child runs have a dot in their ids. */
const roots = async (client: Client): Promise<readonly string[]> =>
  (await client.runs.list({ limit: 100 })).runs.map(({ runId }) => runId).filter((runId) => !runId.includes('.'));

/** Everything in the inbox, as soon as there is something. */
async function questions(client: Client) {
  for await (const change of client.inbox.watch()) {
    if (change.type === 'added') break;
    if (change.type === 'snapshot' && change.entries.length > 0) break;
  }
  return (await client.inbox.list()).entries;
}

test('one run ends, one goes on, one asks; no model is asked, and a second start adds nothing', async () => {
  const client = await opened();
  const [crew = '', newsroom = '', watch = ''] = await startDemo(client);
  expect((await client.runs.wait(crew)).status).toBe('completed');
  const [asked, ...others] = await questions(client);
  expect(others).toEqual([]);
  expect(asked?.runId).toMatch(new RegExp(`^${newsroom}\\.`));
  expect((await client.runs.get(watch)).status).toBe('running');
  expect(await startDemo(client)).toEqual([]);
  expect((await roots(client)).toSorted()).toEqual([crew, newsroom, watch].toSorted());
  expect((await client.runs.list({ tag: 'demo' })).runs.length).toBeGreaterThanOrEqual(3);
  await client.runs.cancel(watch);
});

test('a host with a run of somebody gets none', async () => {
  const client = await opened();
  await client.runs.create({ workflowId: 'hello' });
  expect(await startDemo(client)).toEqual([]);
  expect(await roots(client)).toHaveLength(1);
});

test('a new folder gets the demo once; the terminal has a link, three commands, a model, and no key', async () => {
  const project = new Project({});
  const first = new DevProcess(project, []);
  const said = await first.until(/^key {6}in \.cairn\/key/);
  const client = first.client();
  expect(await roots(client)).toHaveLength(3);
  expect(said).toMatch(/^studio {3}http:\/\/127\.0\.0\.1:\d+\/sign-in#[\w-]{43}$/m);
  expect(said).toMatch(/^demo {5}three runs .*\n.*--no-demo/m);
  expect(said.match(/^ {9}cairn (inbox|run \S+).* {3}\S/gm)).toHaveLength(3);
  expect(said).toContain('--model openai/gpt-5');
  expect(said).not.toContain('cairn_dev_');
  // The lines of the demo would push the link off the screen.
  expect(said).not.toContain('▸');
  const { runId } = await client.runs.create({ workflowId: 'hello' });
  await first.line(new RegExp(`▸ hello {2}${runId}$`));
  expect(await first.stop('SIGINT')).toBe(0);
  const second = new DevProcess(project, []);
  const again = await second.until(/^key/);
  expect(again).not.toContain('demo  ');
  expect(await roots(second.client())).toHaveLength(4);
});

test('--no-demo and a program start no demo', async () => {
  const app = "import { defineApp } from '@cairn/host';\nexport default defineApp({});";
  const plain = new DevProcess(new Project({}), ['--no-demo']);
  const own = new DevProcess(new Project({ 'app.mjs': app }), ['app.mjs']);
  for (const dev of [plain, own]) expect(await roots(await dev.ready())).toEqual([]);
});

test.each([
  [['--model', 'gpt-5'], '"gpt-5" is not a model.'],
  [['--model', 'acme/m1'], 'does not know the provider "acme"; it knows anthropic, google, openai.'],
  [['--model-url', 'http://127.0.0.1:1/v1'], '--model-url needs --model'],
  [['--model', 'openai/gpt-5'], 'OPENAI_API_KEY'],
])('dev %j is refused', async (args, said) => {
  const { folder } = new Project({});
  const ended = await typed(['dev', ...args], { cwd: folder });
  expect(ended.code).not.toBe(0);
  expect(ended.err).toContain(said);
});

test('--model becomes the configuration of one provider', () => {
  expect(modelConfig({})).toEqual({});
  expect(modelConfig({ model: 'anthropic/claude' })).toEqual({
    models: {
      providers: { anthropic: { kind: 'anthropic', apiKey: { secret: 'anthropic' } } },
      default: 'anthropic/claude',
    },
    secrets: { anthropic: { env: 'ANTHROPIC_API_KEY' } },
  });
  expect(modelConfig({ model: 'local/qwen3', modelUrl: 'http://127.0.0.1:11434/v1' })).toEqual({
    models: {
      providers: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' } },
      default: 'local/qwen3',
    },
  });
});
