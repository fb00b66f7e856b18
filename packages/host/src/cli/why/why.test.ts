/** `cairn why` over three hosts: two real ones on loopback, and one that nobody has a key for. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import { CAUSATION_KEY, type Causes } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver } from '../../server/create-host.ts';
import { typed } from '../recording-terminal.kit.ts';
import { walkCauses } from './walk-causes.ts';

const key = 'a-key-of-every-host-0123456789-abcdef';

const leaf = defineWorkflow({ id: 'leaf', version: '1', nodes: { only: { type: 'core.noop' } } });
const top = defineWorkflow({
  id: 'top',
  version: '1',
  nodes: { below: { type: 'core.subWorkflow', config: { workflowId: 'leaf' } } },
});

/** A host whose key is that of another host, which may say what caused its calls. */
async function host(hostId: string, peer: string) {
  const started = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    workflows: [leaf, top],
    config: {
      port: 0,
      hostId,
      peers: [{ hostId: peer, url: 'https://peer.example.org' }],
      keys: [{ key, tenant: 't', peer, scopes: ['runs:create', 'runs:read', 'audit:read'] }],
    },
  });
  onTestFinished(() => started.close());
  const url = started.url ?? '';
  return { url, client: createClient({ url, key }) };
}

const wellKnownUrl = 'https://alpha.example.org/.well-known/openwop';

/** A run on alpha, of a host that is unknown here; its child requested a run on beta, as a peer would. */
async function chained() {
  const alpha = await host('alpha', 'unknown');
  const beta = await host('beta', 'alpha');
  const above = { runId: 'run_far', hostId: 'unknown', eventId: 'run_far:3', wellKnownUrl };
  const first = await alpha.client.runs.create({ workflowId: 'top', metadata: { [CAUSATION_KEY]: above } });
  await alpha.client.runs.wait(first.runId);
  const child = `${first.runId}.0`;
  const { events } = await alpha.client.runs.causes(child);
  const cause = { runId: child, hostId: 'alpha', eventId: events.at(-1)?.eventId ?? '', wellKnownUrl };
  const last = await beta.client.runs.create({ workflowId: 'leaf', metadata: { [CAUSATION_KEY]: cause } });
  await beta.client.runs.wait(last.runId);
  const ofLast = await beta.client.runs.causes(last.runId);
  return { alpha, beta, first: first.runId, child, last: last.runId, event: String(ofLast.events.length - 1) };
}

async function hostsFile(content: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-why-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'hosts.json');
  await writeFile(file, JSON.stringify(content));
  return file;
}

test('why walks from host to host, through child runs, and says where it had to stop and why', async () => {
  const { alpha, beta, first, child, last, event } = await chained();
  const hosts = await hostsFile({ alpha: { url: alpha.url, keyEnv: 'ALPHA_KEY' } });
  const env = { CAIRN_URL: beta.url, CAIRN_KEY: key, ALPHA_KEY: key };
  const { code, out } = await typed(['why', last, event, '--hosts', hosts], { env });
  expect(code).toBe(1);
  const heads = out.split('\n').filter((line) => /^run_/.test(line));
  expect(heads).toEqual([`${last}  on beta`, `${child}  on alpha`, `${first}  on alpha`]);
  expect(out).toContain('requested from another host by');
  expect(out).toMatch(/ +0 {2}run\.started/);
  expect(out).toContain('no address and key for the host unknown in --hosts');
  expect(out).toContain(wellKnownUrl);
});

test('why ends well at a run that somebody asked for, and gives the walk as data', async () => {
  const { alpha } = await chained();
  const run = await alpha.client.runs.create({ workflowId: 'top' });
  await alpha.client.runs.wait(run.runId);
  const env = { CAIRN_URL: alpha.url, CAIRN_KEY: key };
  const { code, out } = await typed(['why', `${run.runId}.0`, '2', '--json'], { env });
  const walk = JSON.parse(out);
  expect([code, walk.end]).toEqual([0, { kind: 'root' }]);
  expect(walk.steps.at(-1)).toMatchObject({ hostId: 'alpha', runId: run.runId, event: { sequence: 0 } });
});

test('why without an event begins at the last one of the run', async () => {
  const { alpha } = await chained();
  const { runId } = await alpha.client.runs.create({ workflowId: 'top' });
  await alpha.client.runs.wait(runId);
  const env = { CAIRN_URL: alpha.url, CAIRN_KEY: key };
  const { code, out } = await typed(['why', runId, '--json'], { env });
  const { steps, end } = JSON.parse(out);
  expect([code, end]).toEqual([0, { kind: 'root' }]);
  expect(steps[0]).toMatchObject({ runId, event: { type: 'run.completed' } });
  expect(steps.at(-1)).toMatchObject({ runId, event: { sequence: 0 } });
});

test('why refuses an event that is no number, and says so', async () => {
  const { code, err } = await typed(['why', 'last', 'run.completed']);
  expect([code, err]).toEqual([2, expect.stringContaining('The sequence of an event must be a number')]);
});

test('why without a key for the next host stops there, and sends it nothing', async () => {
  const { beta, last, event } = await chained();
  const env = { CAIRN_URL: beta.url, CAIRN_KEY: key };
  const { code, out } = await typed(['why', last, event], { env });
  expect(code).toBe(1);
  expect(out).toContain('no address and key for the host alpha');
});

test.for([
  ['{', 'does not list hosts'],
  [JSON.stringify({ alpha: { url: 'ftp://x', keyEnv: 'K' } }), 'does not list hosts'],
  [JSON.stringify({ alpha: { url: 'https://x.example.org', keyEnv: 'NOT_SET' } }), 'NOT_SET'],
])('a file of hosts that is wrong is refused: %s', async ([content, message]) => {
  const file = await hostsFile({});
  await writeFile(file, content ?? '');
  const { code, err } = await typed(['why', 'run_x', '1', '--hosts', file], {
    env: { CAIRN_URL: 'http://127.0.0.1:9', CAIRN_KEY: key },
  });
  expect(code).not.toBe(0);
  expect(err).toContain(message);
});

/** A host that answers as the test says. */
const lying = (answer: (runId: string, of: number) => Causes) => {
  let asked = 0;
  const client = createClient({ url: 'http://127.0.0.1:9', key });
  const causes = async (runId: string, { of = 0 }: { readonly of?: number | 'last' } = {}) => {
    asked += 1;
    if (asked > 100) throw new Error('asked for ever');
    return answer(runId, Number(of));
  };
  return { ...client, runs: { ...client.runs, causes } };
};

const page = (over: Partial<Causes>): Causes => ({
  runId: 'run_a',
  hostId: 'evil',
  events: [],
  next: null,
  parent: null,
  ...over,
});
const event = (sequence: number, runId = 'run_a') => ({
  eventId: `${runId}:${sequence}`,
  sequence,
  timestamp: '2026-01-01T00:00:00.000Z',
});
const parent = (eventId: string, hostId = 'evil') => ({ eventId, runId: eventId.split(':')[0] ?? '', hostId });

test.for<[string, (runId: string, of: number) => Causes, RegExp]>([
  ['a circle of runs', () => page({ events: [event(0)], parent: parent('run_a:0') }), /circle/],
  ['causes that lead forward', (_, of) => page({ events: [event(of)], next: of + 1 }), /caused by event/],
  [
    'runs without end',
    (runId) => page({ runId, events: [event(0, runId)], parent: parent(`${runId}a:0`) }),
    /more than 5 runs/,
  ],
  [
    'an event id that is no place',
    () => page({ events: [event(0)], parent: { ...parent('run_b:1'), eventId: 'xyz' } }),
    /no sequence/,
  ],
  [
    'the id of another run',
    () => page({ events: [event(0)], parent: { ...parent('run_b:1'), runId: 'run_c' } }),
    /no sequence/,
  ],
  [
    'nothing of the next event',
    (_, of) => page(of === 0 ? { events: [event(0)], next: null, parent: parent('run_b:7') } : { runId: 'run_b' }),
    /says nothing of event 7/,
  ],
  [
    'of another run',
    (_, of) => page(of === 0 ? { events: [event(0)], parent: parent('run_b:7') } : { runId: 'run_c' }),
    /answers for the run run_c/,
  ],
])('a host that tells %s does not keep the walk', async ([, answer, why]) => {
  const client = lying(answer);
  const walk = await walkCauses(client, { runId: 'run_a', sequence: 0, maxRuns: 5, hostNamed: () => client });
  expect(walk.end).toEqual({ kind: 'lost', why: expect.stringMatching(why) });
});

test('a host that answers at the address of another is not believed', async () => {
  const honest = lying(() => page({ hostId: 'alpha', events: [event(0)], parent: parent('run_b:1', 'beta') }));
  const walk = await walkCauses(honest, {
    runId: 'run_a',
    sequence: 0,
    maxRuns: 5,
    hostNamed: () => lying(() => page({ hostId: 'gamma' })),
  });
  expect(walk.end).toEqual({ kind: 'lost', why: 'the host at that address is gamma, not beta' });
});

test('a host that tells of events without end does not keep the walk', async () => {
  let asked = 0;
  const client = createClient({ url: 'http://127.0.0.1:9', key });
  const causes = async (_: string, { of = 0 }: { readonly of?: number | 'last' } = {}) => {
    asked += 1;
    const from = Number(of);
    const events = Array.from({ length: 500 }, (_, i) => event(from - i));
    return page({ events, next: from - 500 });
  };
  const endless = { ...client, runs: { ...client.runs, causes } };
  const walk = await walkCauses(endless, { runId: 'run_a', sequence: 10 ** 15, maxRuns: 5, hostNamed: () => null });
  expect(walk.end).toEqual({ kind: 'lost', why: expect.stringContaining('more than 10000 events') });
  expect(asked).toBe(21);
});

test.for([
  ['no events', { events: null }],
  ['an event of the wrong kind', { events: [{ eventId: 7, sequence: 'x' }] }],
  ['a parent that is a text', { parent: 'run_b:1' }],
])('an answer with %s is malformed, not a defect here', async ([, wrong]) => {
  const first = lying(() => page({ hostId: 'alpha', events: [event(0)], parent: parent('run_b:1', 'beta') }));
  const other = lying((runId) => ({
    ...page({ hostId: 'beta', runId, events: [event(1, runId)] }),
    ...JSON.parse(JSON.stringify(wrong)),
  }));
  const walk = await walkCauses(first, { runId: 'run_a', sequence: 0, maxRuns: 5, hostNamed: () => other });
  expect(walk.end).toEqual({ kind: 'lost', why: expect.stringContaining('its answer is malformed') });
});
