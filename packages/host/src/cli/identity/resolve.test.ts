import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { didOf, type OtherHost, otherHost } from '../../server/identity/other-host.kit.ts';
import { typed } from '../recording-terminal.kit.ts';

let other: OtherHost;
beforeAll(async () => {
  other = await otherHost();
  other.pages.set('/.well-known/did.json', { id: didOf(other) });
  other.pages.set('/.well-known/agent-card.json', { name: 'Desk\u001b[31m' });
  other.pages.set('/forged', { name: 'Desk', signatures: [{ protected: 'e30', signature: 'AA' }] });
});
afterAll(() => other?.close());

const resolve = (...args: readonly string[]) => typed(['identity', 'resolve', ...args]);

test('shows the id and the evidence of a did:web', async () => {
  const { code, out } = await resolve(didOf(other), '--allow', other.origin);
  expect(code).toBe(0);
  expect(out).toMatch(/^host:did:[0-9a-f]{64}\n/);
  for (const word of [didOf(other), `${other.origin}/.well-known/did.json`, 'evidence   document'])
    expect(out).toContain(word);
});

test('shows a card as JSON, and its name without control characters as text', async () => {
  const { code, out } = await resolve(other.origin, '--allow', other.origin, '--json');
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    { kind: 'a2a', agentRef: { name: 'Desk\u001b[31m' }, evidence: { kind: 'card', signature: { state: 'none' } } },
  ]);
  expect((await resolve(other.origin, '--allow', other.origin)).out).not.toContain('\u001b');
});

test('the headers of a peer of the named configuration go to its address, and nowhere else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-identity-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'cairn.json');
  const headers = { authorization: { secret: 'desk', prefix: 'Bearer ' } };
  const peers = [{ name: 'desk', url: other.origin, headers }];
  await writeFile(file, JSON.stringify({ secrets: { desk: { env: 'DESK_TOKEN' } }, a2a: { peers } }));
  const env = { DESK_TOKEN: 'a-token-of-the-desk-0123456789' };
  const asked = async (...args: readonly string[]) => {
    other.headers.clear();
    const ended = await typed(['identity', 'resolve', ...args], { env });
    return { ...ended, sent: [...other.headers].map(([path, { authorization }]) => [path, authorization]) };
  };
  const known = await asked(other.origin, '--config', file);
  expect([known.code, known.sent]).toEqual([0, [['/.well-known/agent-card.json', `Bearer ${env.DESK_TOKEN}`]]]);
  expect(known.out + known.err).not.toContain(env.DESK_TOKEN);
  const elsewhere = await asked(`${other.origin}/forged`, '--allow', other.origin, '--config', file);
  expect([elsewhere.code, elsewhere.sent]).toEqual([2, []]);
  expect(elsewhere.err).toContain('has no A2A peer with this address');
  const unnamed = await asked(other.origin, '--allow', other.origin);
  expect([unnamed.code, unnamed.sent]).toEqual([0, [['/.well-known/agent-card.json', undefined]]]);
});

test('a card with a wrong signature exits with 4', async () => {
  const { code, out } = await resolve(`${other.origin}/forged`, '--allow', other.origin);
  expect([code, out]).toEqual([4, expect.stringContaining('signature  invalid: its algorithm')]);
});

test.for([
  ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', 'the key in the DID itself'],
  ['agntcy:gw.example.org:scout', 'host:agntcy:gw.example.org:scout'],
  ['vendor.acme.desk.triage', 'cairn pack list'],
  ['host:desk', 'cairn agents'],
] as const)('%s needs no host', async ([id, word]) => {
  const { code, out } = await resolve(id);
  expect([code, out]).toEqual([0, expect.stringContaining(word)]);
});

test.for([
  ['a private address', ['http://127.0.0.1:9/card.json'], 4, 'allow its origin with --allow'],
  ['no identity', ['nobody'], 2, 'agntcy:<gateway>:<agent>'],
  ['no origin', ['did:web:a.example', '--allow', 'a.example/x'], 2, 'is not an origin'],
  ['another method', ['did:ion:abc'], 2, 'none of web and key'],
  ['no key', ['https://a.example', '--key', '/nowhere/key.json'], 2, '/nowhere/key.json'],
] as const)('%s is refused with the reason', async ([, args, code, word]) => {
  const ended = await resolve(...args);
  expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(word)]);
});

test('a key file without a public key is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-identity-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'key.json'), '{"kty":"oct","k":"AAAA"}');
  const { code, err } = await resolve('https://a.example', '--key', join(folder, 'key.json'));
  expect([code, err]).toEqual([2, expect.stringContaining('no public key')]);
});
