import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import type { JsonObject, RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import type { OperatorNotice, Report } from '../engine/ports.ts';
import * as surface from '../index.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { readConfig } from './config/config-sources.ts';
import {
  createHost,
  createHostOver,
  type Host,
  type HostOptions,
  type StartOptions,
  startHost,
} from './create-host.ts';
import { approval, chain, noop } from './sample-workflows.kit.ts';

const key = 'a-key-for-these-tests';
const quiet = { report: () => undefined };

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'cairn-host-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function host(options: HostOptions & Pick<StartOptions, 'store'> = {}): Promise<Host> {
  const { config, store, ...rest } = options;
  const wanted = { ...quiet, ...rest, config: { port: 0, keys: [{ key, tenant: 'a' }], ...config } };
  const created = await (store === undefined ? createHost(wanted) : createHostOver(store, wanted));
  onTestFinished(() => created.close());
  return created;
}

async function ask(url: string | null, path: string, body?: JsonObject): Promise<JsonObject> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonObject;
}

test('exports exactly its public names', () => {
  expect(Object.keys(surface).sort()).toEqual([
    'CairnError',
    'RetryableError',
    'TerminalError',
    'createHost',
    'createTestHost',
    'defineAgent',
    'defineApp',
    'defineStep',
    'defineTool',
    'defineWorkflow',
    'expression',
    'fixed',
    'isCairnError',
    'outputOf',
    'variable',
    'z',
  ]);
});

test('a host has an id of its own: generated once for its folder, or configured', async () => {
  const idOf = async ({ url }: Host): Promise<string> => {
    const { cairn } = (await ask(url, '/.well-known/openwop')) as { readonly cairn: { readonly hostId: string } };
    return cairn.hostId;
  };
  const [one, other] = [await folder(), await folder()];
  const first = await host({ config: { data: one } });
  const id = await idOf(first);
  expect(id).toMatch(/^[A-Za-z0-9.-]+\/[0-9a-f]{12}$/);
  await first.close();
  const again = await host({ config: { data: one } });
  expect(await idOf(again)).toBe(id);
  await again.close();
  expect(await idOf(await host({ config: { data: other } }))).not.toBe(id);
  const named = await host({ config: { data: one, hostId: 'hosts.example.org/eu-1' } });
  expect(await idOf(named)).toBe('hosts.example.org/eu-1');
});

test('says once, by name, which keys of the configuration nothing uses', async () => {
  const notices: OperatorNotice[] = [];
  const report: Report = (notice) => void notices.push(notice);
  const env = { CAIRN_KEYS: JSON.stringify([{ key, tenant: 'a' }]), CAIRN_PROT: '4711' };
  const config = await readConfig({ env, flags: { port: 0 } });
  const started = await startHost(config, { store: inMemoryStore(), report });
  onTestFinished(() => started.close());
  const facts = { unused: [expect.stringContaining('CAIRN_PROT')] };
  expect(notices.filter(({ event }) => event === 'config.unused_keys')).toMatchObject([{ level: 'warn', facts }]);
});

test('tells the operator which keys and secrets can be guessed', async () => {
  const notices: OperatorNotice[] = [];
  const report: Report = (notice) => void notices.push(notice);
  const key = 'kX3vQ9mZ2pL7tR4wY8nB1s';
  const config = { keys: [{ key, tenant: 't' }], secrets: { spare: { value: '12345678' } } };
  await host({ store: inMemoryStore(), config, report });
  const weak = notices.filter(({ event }) => event === 'config.weak_secret');
  expect(weak).toMatchObject([{ level: 'warn', facts: { place: 'secrets.spare', refused: false } }]);
});

test('tells operators nothing secret, whoever takes its notices', async () => {
  const secret = 'sk-0123456789abcdef';
  const store = inMemoryStore();
  const append = () => Promise.reject(new Error(`cannot write ${secret}`));
  const notices: OperatorNotice[] = [];
  const { url } = await host({
    store: { ...store, log: { ...store.log, append } },
    config: { secrets: { disk: { value: secret } } },
    workflows: [noop],
    report: (notice) => void notices.push(notice),
  });
  await ask(url, '/v1/runs', { workflowId: 'noop' });
  const told = notices.map(({ message, error }) => `${message} ${(error as Error | undefined)?.stack}`).join('\n');
  expect(told).toContain('cannot write [REDACTED]');
  expect(told).not.toContain(secret);
});

test('tells the operator which tool of an agent is not there', async () => {
  const notices: OperatorNotice[] = [];
  const desk = surface.defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Help.', tools: ['acme:none'] });
  await host({ store: inMemoryStore(), agents: [desk], report: (notice) => void notices.push(notice) });
  const missing = notices.filter(({ event }) => event === 'agent.tool_missing');
  expect(missing).toMatchObject([{ facts: { agentId: 'host:desk', toolId: 'acme:none' } }]);
});

test('keeps runs in its folder across a restart', async () => {
  const data = await folder();
  const first = await host({ config: { data }, workflows: [approval] });
  const { runId } = await ask(first.url, '/v1/runs', { workflowId: 'approval' });
  const before = await ask(first.url, `/v1/runs/${runId}/events`);
  await first.close();

  const second = await host({ config: { data } });
  expect(await ask(second.url, `/v1/runs/${runId}/events`)).toEqual(before);
  await ask(second.url, `/v1/runs/${runId}/interrupts/n0`, { resumeValue: { action: 'accept' } });
  expect(await ask(second.url, `/v1/runs/${runId}`)).toMatchObject({ status: 'completed' });
});

test('a client that follows a run sees it once and whole although the host is restarted in between', async () => {
  const data = await folder();
  const first = await host({ config: { data }, workflows: [approval] });
  const url = first.url ?? '';
  const client = createClient({ url, key });
  const { runId } = await client.runs.create({ workflowId: 'approval' });
  const seen: number[] = [];
  const types: string[] = [];
  let restart: Promise<unknown> | null = null;
  for await (const event of client.follow(runId)) {
    seen.push(event.sequence);
    types.push(event.type);
    if (event.type !== 'node.suspended') continue;
    restart = first
      .close()
      .then(() => host({ config: { data, port: Number(new URL(url).port) } }))
      .then(({ engine }) =>
        engine.answer({ tenant: 'a', runId: runId as RunId, nodeId: 'n0', value: { action: 'accept' } }),
      );
  }
  await restart;
  expect(types.at(-1)).toBe('run.completed');
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  const all = await ask(url, `/v1/runs/${runId}/events`);
  expect(seen).toEqual((all.events as readonly { sequence: number }[]).map(({ sequence }) => sequence));
});

test('runs steps and workflows written in code', async () => {
  const double = surface.defineStep({
    name: 'double',
    safety: 'pure',
    run: async (input: JsonObject) => ({ twice: Number(input.n) * 2 }),
  });
  const doubling = surface.defineWorkflow({
    id: 'doubling',
    version: '1',
    nodes: { double: { type: double, inputs: { n: surface.fixed(21) } } },
  });
  const started = await host({ store: inMemoryStore(), steps: [double], workflows: [doubling] });
  const { runId } = await ask(started.url, '/v1/runs', { workflowId: 'doubling' });
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  await (await fetch(`${started.url}/v1/runs/${runId}/events`, { headers })).text();
  expect(await ask(started.url, `/v1/runs/${runId}`)).toMatchObject({ status: 'completed', outputs: { twice: 42 } });
});

test('works without HTTP, and without keys', async () => {
  const embedded = await createHostOver(inMemoryStore(), { ...quiet, http: false, workflows: [noop] });
  onTestFinished(() => embedded.close());
  expect(embedded.url).toBeNull();
  const { runId } = await embedded.engine.start({ tenant: 'local', workflowId: 'noop', inputs: {}, options: {} });
  expect(await embedded.engine.snapshot('local', runId)).toMatchObject({ workflowId: 'noop' });
});

test('refuses to serve without keys', async () => {
  await expect(createHostOver(inMemoryStore(), { ...quiet, config: { port: 0 } })).rejects.toMatchObject({
    code: 'config_invalid',
  });
});

test('registers the workflows of its folders for every tenant, and lists them in conformance mode', async () => {
  const workflows = await folder();
  await writeFile(join(workflows, 'noop.json'), JSON.stringify(noop));
  await writeFile(join(workflows, 'readme.txt'), 'not a workflow');
  const keys = [
    { key, tenant: 'a' },
    { key: 'another-key-of-tests', tenant: 'b' },
  ];
  const started = await host({ store: inMemoryStore(), config: { keys, workflows: [workflows], conformance: true } });
  for (const tenant of ['a', 'b']) expect((await started.engine.workflow(tenant, 'noop')).id).toBe('noop');
  const discovery = await (await fetch(`${started.url}/.well-known/openwop`)).json();
  expect(discovery).toMatchObject({
    fixtures: ['noop'],
    capabilities: { supportedTransports: ['rest', 'a2a', 'mcp'] },
  });
});

test('names everything that a workflow of a folder lacks, and what to do about it', async () => {
  const workflows = await folder();
  const nodes = [{ id: 'a', typeId: 'core.noop', config: {} }];
  await writeFile(join(workflows, 'short.json'), JSON.stringify({ ...noop, nodes }));
  await expect(host({ store: inMemoryStore(), config: { workflows: [workflows] } })).rejects.toMatchObject({
    message: expect.stringContaining(
      'nodes.0.name: is missing; nodes.0.position: is missing; nodes.0.inputs: is missing',
    ),
    hint: expect.stringContaining('Correct the file and start the host again.'),
  });
});

test.each([
  ['{"id":', 'broken.json'],
  ['{"id":"x"}', 'broken.json'],
  [JSON.stringify(chain('x', { typeId: 'core.nothing' })), 'broken.json'],
])('names the file of a workflow that it cannot register', async (text, name) => {
  const workflows = await folder();
  await writeFile(join(workflows, name), text);
  await expect(host({ store: inMemoryStore(), config: { workflows: [workflows] } })).rejects.toThrow(
    join(workflows, name),
  );
});

test('names a workflow folder that is not there', async () => {
  await expect(host({ store: inMemoryStore(), config: { workflows: ['/nowhere'] } })).rejects.toThrow('/nowhere');
});

test('says which port is taken', async () => {
  const first = await host({ store: inMemoryStore() });
  const port = Number(new URL(first.url ?? '').port);
  await expect(host({ store: inMemoryStore(), config: { port } })).rejects.toMatchObject({
    code: 'config_invalid',
    message: `Cannot serve on 127.0.0.1:${port}: another program uses it.`,
  });
});

test('refuses a folder that another host uses', async () => {
  const data = join(await folder(), 'data');
  await mkdir(data, { mode: 0o700 });
  await host({ config: { data } });
  await expect(host({ config: { data } })).rejects.toMatchObject({ code: 'store_locked' });
});

test('closes once however often it is asked to, also with a connection open', async () => {
  const started = await host({ store: inMemoryStore() });
  const socket = connect(Number(new URL(started.url ?? '').port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  await Promise.all([started.close(), started.close(), started[Symbol.asyncDispose]()]);
  await expect(fetch(started.url ?? '')).rejects.toThrow();
});

test('aborts the steps that are under way when it closes', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const endless = surface.defineStep({
    name: 'endless',
    run: async (_input: JsonObject, { signal }) => {
      begun.resolve(signal);
      return new Promise<never>(() => undefined);
    },
  });
  const waits = surface.defineWorkflow({ id: 'waits', version: '1', nodes: { wait: { type: endless } } });
  const started = await host({ store: inMemoryStore(), steps: [endless], workflows: [waits] });
  await ask(started.url, '/v1/runs', { workflowId: 'waits' });
  const signal = await begun.promise;
  await started.close();
  expect(signal.aborted).toBe(true);
});

test('runs an agent of the code for whoever asks, alone and as a node of a workflow', async () => {
  const desk = surface.defineAgent({
    id: 'host:desk',
    persona: 'Desk',
    instructions: 'Say what it is about.',
    rehearsal: { turns: [[{ say: 'It is about {{input.topic}}.' }]] },
  });
  const sorted = surface.defineWorkflow({
    id: 'sorted',
    version: '1',
    nodes: { desk: { type: 'cairn.agent', agent: desk, inputs: { topic: surface.fixed('tents') } } },
  });
  const started = await host({ store: inMemoryStore(), agents: [desk], workflows: [sorted] });
  const client = createClient({ url: started.url ?? '', key });
  expect((await client.agents.list()).map(({ agentId, packName }) => [agentId, packName])).toEqual([
    ['host:desk', 'host'],
  ]);
  const alone = await client.runs.create({ agentId: 'host:desk', inputs: { topic: 'maps' } });
  const within = await client.runs.create({ workflowId: 'sorted' });
  const ends = await Promise.all([alone, within].map(({ runId }) => client.runs.wait(runId)));
  expect(ends.map(({ status, outputs, agent }) => [status, outputs?.content, agent?.name])).toEqual([
    ['completed', 'It is about maps.', 'Desk'],
    ['completed', 'It is about tents.', 'Desk'],
  ]);
});
