import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { testServer } from '../../../test/kit/test-server.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../../server/create-host.ts';
import { typed } from '../recording-terminal.kit.ts';

const keys = { peer: 'the-key-of-alpha-0123456789', other: 'a-key-of-nobody-0123456789' };
const noop = defineWorkflow({ id: 'noop', version: '1', nodes: { only: { type: 'core.noop' } } });

let beta: Host;
let url: string;
let folder: string;
beforeAll(async () => {
  beta = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    workflows: [noop],
    config: {
      port: 0,
      hostId: 'beta',
      peers: [{ hostId: 'alpha', url: 'https://alpha.example.org' }],
      keys: [
        { key: keys.peer, tenant: 't', peer: 'alpha' },
        { key: keys.other, tenant: 't' },
      ],
    },
  });
  url = beta.url ?? '';
});
afterAll(() => beta?.close());

const SECRET = 'a-secret-in-the-file-0123456789';
const first = `{
  "hostId": "alpha",
  "keys": [{ "key": "${SECRET}", "tenant": "t" }]
}
`;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cairn-peers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'cairn.json'), first, { mode: 0o600 });
});

const peer = async (args: readonly string[], env: Record<string, string> = {}) => {
  const ended = await typed(['peer', ...args], { cwd: folder, env });
  expect(ended.out + ended.err).not.toContain(SECRET);
  return ended;
};
const written = async () => JSON.parse(await readFile(join(folder, 'cairn.json'), 'utf8'));

test('add asks the host for its id, and writes it beside what is there', async () => {
  const { code, out } = await peer(['add', `${url}/`]);
  expect([code, out]).toEqual([0, expect.stringContaining('Added beta')]);
  const text = await readFile(join(folder, 'cairn.json'), 'utf8');
  expect(text.startsWith(first.slice(0, first.indexOf('}]') + 2))).toBe(true);
  expect(JSON.parse(text).peers).toEqual([{ hostId: 'beta', url }]);
  expect((await stat(join(folder, 'cairn.json'))).mode & 0o777).toBe(0o600);
});

test('add gives the peer a key, whose variable need not be set', async () => {
  await peer(['add', url, '--host-id', 'gamma', '--key-env', 'GAMMA_KEY', '--tenant', 't', '--answers-for-users']);
  expect(await written()).toMatchObject({
    peers: [{ hostId: 'gamma', url, answersForUsers: true }],
    keys: [{ key: SECRET }, { keyEnv: 'GAMMA_KEY', tenant: 't', peer: 'gamma' }],
  });
  const { out } = await peer(['list', '--json']);
  expect(JSON.parse(out).peers).toEqual([{ hostId: 'gamma', url, answersForUsers: true, tenants: ['t'] }]);
  expect((await peer(['list'])).out).toMatch(/gamma +http.* t +yes/);
});

test('add writes through a link', async () => {
  await symlink(join(folder, 'cairn.json'), join(folder, 'link.json'));
  expect((await peer(['add', url, '-c', 'link.json'])).code).toBe(0);
  expect((await written()).peers).toHaveLength(1);
});

test.for<[string, readonly string[], number, string]>([
  ['its own id', ['add', 'https://a.example', '--host-id', 'alpha'], 2, 'this host itself'],
  ['a key without a tenant', ['add', 'https://a.example', '--host-id', 'b', '--key-env', 'K'], 2, '--tenant'],
  [
    'a value instead of a variable',
    ['add', 'https://a.example', '--host-id', 'b', '--key-env', SECRET, '--tenant', 't'],
    2,
    'name of an environment variable',
  ],
  ['a password in the address', ['add', `https://u:${SECRET}@a.example`], 2, 'not the address of a host'],
  [
    'a tenant that is no name',
    ['add', 'https://a.example', '--host-id', 'b', '--key-env', 'K', '--tenant', 'a\nb'],
    2,
    'tenant',
  ],
  ['no host at the address', ['add', 'http://127.0.0.1:9'], 1, 'did not reach'],
  ['no file', ['list', '-c', 'none.json'], 2, 'none.json'],
  ['no peers', ['check'], 2, 'peer add'],
])('%s is refused, and the file stays as it was', async ([, args, code, word]) => {
  const ended = await peer(args);
  expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(word)]);
  expect(await readFile(join(folder, 'cairn.json'), 'utf8')).toBe(first);
});

test('a peer is not added twice, and a folder that cannot be written says so', async () => {
  await peer(['add', url]);
  expect((await peer(['add', url])).err).toContain('already');
  expect((await peer(['add', url, '--key-env', 'K', '--tenant', 't'])).code).toBe(0);
  expect(await written()).toMatchObject({ peers: [{ hostId: 'beta' }], keys: [{}, { keyEnv: 'K', peer: 'beta' }] });
  await chmod(folder, 0o500);
  const { code, err } = await peer(['add', 'https://c.example', '--host-id', 'c']);
  await chmod(folder, 0o700);
  // The superuser may write everywhere.
  if (process.getuid?.() !== 0) expect([code, err]).toEqual([2, expect.stringContaining('cannot be written')]);
});

const states = (out: string): Record<string, string> =>
  Object.fromEntries(
    JSON.parse(out).peers[0].findings.map(({ subject, state }: { subject: string; state: string }) => [subject, state]),
  );

test('check shows capabilities and versions without a key, and what it could not check', async () => {
  await peer(['add', url]);
  const { code, out } = await peer(['check']);
  expect(code).toBe(0);
  for (const word of ['beta', 'protocol 1.0', 'recorded, with ancestry', 'MCP 2026-07-28', 'A2A 1.0', '--key-env'])
    expect(out).toContain(word);
});

test('check sends a trace and a cause, and reads both from the run that it started', async () => {
  await peer(['add', url]);
  const { code, out } = await peer(['check', 'beta', '--key-env', 'K', '--workflow', 'noop', '--json'], {
    K: keys.peer,
  });
  expect(code).toBe(0);
  expect(states(out)).toMatchObject({ key: 'good', trace: 'good', cause: 'good', 'trace of runs': 'good' });
  expect(out).not.toContain(keys.peer);
});

test('check tells that a key is not for this host', async () => {
  await peer(['add', url]);
  const args = ['check', 'beta', '--key-env', 'K', '--workflow', 'noop'];
  const { code, out } = await peer(args, { K: keys.other });
  expect([code, out]).toEqual([1, expect.stringContaining('set peer of your key')]);
});

test.for([
  ['a wrong key', 'beta', 'wrong-key-0123456789', 'noop', 'key'],
  ['another host at the address', 'gamma', keys.peer, undefined, 'host id'],
  ['a workflow that is not there', 'beta', keys.peer, 'none', 'cause'],
] as const)('check names %s', async ([, hostId, key, workflow, subject]) => {
  await peer(['add', url, '--host-id', hostId]);
  const args = [
    'check',
    hostId,
    '--key-env',
    'K',
    '--json',
    ...(workflow === undefined ? [] : ['--workflow', workflow]),
  ];
  const { code, out } = await peer(args, { K: key });
  expect([code, states(out)[subject]]).toEqual([1, 'bad']);
});

test('check sends a key to one host alone', async () => {
  await peer(['add', url]);
  await peer(['add', 'https://c.example', '--host-id', 'c']);
  const { code, err } = await peer(['check', '--key-env', 'K'], { K: keys.peer });
  expect([code, err]).toEqual([2, expect.stringContaining('to 2 hosts')]);
});

test.for<[string, RequestListener, string]>([
  [
    'sends without end',
    (_, response) => more(response.writeHead(200, { 'content-type': 'application/json' })),
    'more than',
  ],
  ['leads elsewhere', (_, response) => void response.writeHead(302, { location: url }).end(), 'not followed'],
  ['is no host', (_, response) => void response.end('{"protocolVersion":1}'), 'not an OpenWOP host'],
  ['is a page', (_, response) => void response.end('<html>'), 'instead of JSON'],
])('check ends at a host that %s', async ([, handle, word]) => {
  await peer(['add', await testServer(handle), '--host-id', 'evil']);
  const { code, out } = await peer(['check']);
  expect([code, out]).toEqual([1, expect.stringContaining(word)]);
});

function more(response: Parameters<RequestListener>[1]): void {
  while (!response.destroyed && response.write(' '.repeat(60_000)));
  if (!response.destroyed) response.once('drain', () => more(response));
}
