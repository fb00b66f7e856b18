/** Identities of hosts that are honest, and of hosts that are not, over real HTTP on loopback. */
import { type AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import type { JsonObject } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sha256, systemTimers } from '../compose.ts';
import { createEgress } from '../egress/egress.ts';
import { checkCardSignature } from './card-signature.ts';
import { MAX_DOCUMENT_BYTES } from './fetch-document.ts';
import { type DeclaredIdentity, type IdentityPorts, resolveIdentity } from './identity.ts';
import { didOf, type OtherHost, otherHost, type Reply } from './other-host.kit.ts';
import { type PublicJwk, publicJwk } from './public-jwk.ts';
import { plainOriginsOf } from './resolve-did.ts';

let host: OtherHost;
let giveUp: () => void = () => undefined;

beforeAll(async () => {
  host = await otherHost();
});
afterAll(() => host?.close());
beforeEach(() => {
  host.pages.clear();
  host.asked.length = 0;
});

/** Only the test lets time pass. */
const ports = (allow: readonly string[] = [host.origin]): IdentityPorts => ({
  egress: createEgress({
    allow,
    resolve: async () => ['10.0.0.7'],
    timers: {
      ...systemTimers,
      after: (_, act) => {
        giveUp = act;
        return () => undefined;
      },
    },
  }),
  plainOrigins: plainOriginsOf(allow),
  now: () => Date.parse('2026-01-02T03:04:05.000Z'),
});

const resolved = (identity: DeclaredIdentity) => resolveIdentity(identity, ports());
const card = (): DeclaredIdentity => ({ a2aCard: host.origin, keys: [] });
const CARD = '/.well-known/agent-card.json';
const DID = '/.well-known/did.json';

test('a did:web has the hash of its document, the time, and its keys', async () => {
  const did = didOf(host);
  const document = { id: did, verificationMethod: [{ id: `${did}#a`, type: 'JsonWebKey2020', publicKeyJwk: {} }, 'x'] };
  host.pages.set(DID, document);
  expect(await resolved({ did })).toEqual({
    kind: 'did',
    agentId: `host:did:${sha256(did, 'hex')}`,
    did,
    url: `${host.origin}${DID}`,
    keys: [{ id: `${did}#a`, type: 'JsonWebKey2020' }],
    documentSha256: sha256(canonicalize(document) ?? '', 'hex'),
    resolvedAt: Date.parse('2026-01-02T03:04:05.000Z'),
  });
});

test('a did:web with a path is fetched there', async () => {
  host.pages.set('/agents/desk/did.json', { id: didOf(host, ':agents:desk') });
  expect(await resolved({ did: didOf(host, ':agents:desk') })).toMatchObject({ kind: 'did', keys: [] });
});

test('a did:key is computed: nobody is called', async () => {
  const did = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
  expect(await resolveIdentity({ did }, ports([]))).toMatchObject({
    url: null,
    keys: [{ id: `${did}#${did.slice(8)}` }],
  });
});

test('an AGNTCY id is rendered: nobody is called', async () => {
  const identity = { agntcy: { gatewayId: 'gw.example.org', agentId: 'scout' } };
  expect(await resolveIdentity(identity, ports([]))).toEqual({
    kind: 'agntcy',
    agentId: 'host:agntcy:gw.example.org:scout',
    gatewayId: 'gw.example.org',
    remoteAgentId: 'scout',
  });
});

const json =
  (body: string | Buffer, type = 'application/json'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  };

const misbehaviours: readonly [string, Reply, string, RegExp][] = [
  ['without end', endless, 'identity_unresolved', new RegExp(String(MAX_DOCUMENT_BYTES))],
  ['that never comes', () => giveUp(), 'http_timeout', /did not answer/],
  [
    'that leads elsewhere',
    (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    'identity_unresolved',
    /not followed/,
  ],
  ['of another type', json('{}', 'text/html'), 'identity_unresolved', /text\/html/],
  ['that is no JSON', json('{"id":'), 'identity_unresolved', /not JSON/],
  ['that is a list', json('[]'), 'identity_unresolved', /not a JSON object/],
  ['nested deeply', json('['.repeat(50_000)), 'identity_unresolved', /nests deeper/],
  ['that repeats a key', json('{"id":"a","id":"b"}'), 'identity_unresolved', /repeats the key/],
  ['with a poisoned key', json('{"__proto__":{}}'), 'identity_unresolved', /__proto__/],
  ['that is no UTF-8', json(Buffer.from([0x7b, 0xff, 0x7d])), 'identity_unresolved', /UTF-8/],
  ['that is missing', (response) => response.writeHead(404).end(), 'identity_unresolved', /404/],
  ['that is broken for now', (response) => response.writeHead(503).end(), 'identity_unresolved', /503/],
  ['that is cut off', (response) => response.destroy(), 'http_network_error', /could not be reached/],
];

function endless(response: Parameters<Reply>[0]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(' '.repeat(60_000)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

test.for(misbehaviours)('a document %s is refused, as DID document and as card', async ([, reply, code, message]) => {
  host.pages.set(DID, reply).set(CARD, reply);
  for (const identity of [{ did: didOf(host) }, card()])
    await expect(resolved(identity)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test('the document of another DID is refused', async () => {
  host.pages.set(DID, { id: 'did:web:bank.example.org' });
  await expect(resolved({ did: didOf(host) })).rejects.toThrow('that of another DID: "did:web:bank.example.org"');
});

test.for([
  ['a name of a private address', 'did:web:intranet.example.org'],
  ['this machine', 'did:web:localhost%3A1'],
] as const)('a DID of %s is not called', async ([, did]) => {
  await expect(resolved({ did })).rejects.toMatchObject({ code: 'http_url_rejected' });
});

test.for(['http://agents.example.org/card.json', 'https://10.1.2.3/card.json', 'https://user:pw@a.example/'])(
  'a card at %s is not called',
  async (a2aCard) => {
    await expect(resolved({ a2aCard, keys: [] })).rejects.toMatchObject({ code: 'http_url_rejected' });
  },
);

test.for([{}, { name: 7 }, { name: ' ' }])('a card without a name is refused: %j', async (page) => {
  host.pages.set(CARD, page);
  await expect(resolved(card())).rejects.toThrow('has no name');
});

test('a card whose name is too long for an id is refused', async () => {
  host.pages.set(CARD, { name: 'x'.repeat(400) });
  await expect(resolved(card())).rejects.toMatchObject({ code: 'validation_error' });
});

const plain = {
  name: 'Desk',
  description: 'd',
  version: '1',
  supportedInterfaces: [],
  capabilities: { extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  signatures: [],
  provider: undefined,
};

interface Signer {
  readonly key: PublicJwk;
  sign(header?: Readonly<Record<string, unknown>>): Promise<JsonObject>;
}

async function signer(kid = 'desk-1'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = publicJwk.parse({ ...(await exportJWK(publicKey)), kid });
  return {
    key,
    async sign(header = {}) {
      const given: AgentCard = plain;
      const signed = await generateAgentCardSignature(privateKey, { alg: 'ES256', kid, typ: 'JOSE', ...header })(given);
      return JSON.parse(JSON.stringify(signed));
    },
  };
}

const signatureOf = async (page: JsonObject, keys: readonly PublicJwk[] = []) => {
  host.pages.set(CARD, page);
  const identity = await resolved({ a2aCard: host.origin, keys });
  expect(identity).toMatchObject({ kind: 'a2a', agentId: `host:a2a:${host.host.replace(':', '_')}:Desk` });
  return 'signature' in identity ? identity.signature : null;
};

test('a card without a signature has none', async () => {
  expect(await signatureOf({ name: 'Desk' })).toEqual({ state: 'none' });
});

test('a signature that fits a given key is valid, and no other key is asked for', async () => {
  const desk = await signer();
  const page = await desk.sign({ jku: `${host.origin}/keys` });
  expect(await signatureOf(page, [desk.key])).toEqual({ state: 'valid', keyFrom: 'given', keyId: 'desk-1' });
  expect(await signatureOf(page, [(await signer('other')).key])).toMatchObject({ state: 'unverifiable' });
  expect(host.asked).not.toContain('/keys');
});

test('a signature that fits a key set of the host of the card is valid, and says so', async () => {
  const desk = await signer();
  host.pages.set('/keys', { keys: [{ kty: 'oct', kid: 'desk-1', k: 'AAAA' }, desk.key] });
  expect(await signatureOf(await desk.sign({ jku: `${host.origin}/keys` }))).toMatchObject({
    state: 'valid',
    keyFrom: 'card-host',
  });
});

test('a changed card, and a key of another, make a signature invalid', async () => {
  const desk = await signer();
  const page = await desk.sign();
  expect(await signatureOf({ ...page, description: 'other' }, [desk.key])).toMatchObject({ state: 'invalid' });
  expect(await signatureOf(page, [(await signer()).key])).toMatchObject({ state: 'invalid', keyId: 'desk-1' });
});

test('a key set elsewhere is not fetched, and one that is missing cannot verify', async () => {
  const desk = await signer();
  const elsewhere = await otherHost();
  expect(await signatureOf(await desk.sign({ jku: `${elsewhere.origin}/keys` }))).toEqual({
    state: 'unverifiable',
    reason: expect.stringContaining('another origin'),
    keyId: 'desk-1',
  });
  expect(elsewhere.asked).toEqual([]);
  await elsewhere.close();
  expect(await signatureOf(await desk.sign())).toMatchObject({ state: 'unverifiable' });
  expect(await signatureOf(await desk.sign({ jku: `${host.origin}/gone` }))).toMatchObject({
    state: 'unverifiable',
    reason: expect.stringContaining('404'),
  });
});

test('a card with many signatures has one key set fetched', async () => {
  const desk = await signer();
  const signed = await Promise.all(['/a', '/b', '/a', '/c'].map((path) => desk.sign({ jku: `${host.origin}${path}` })));
  const signatures = signed.flatMap((page) => (Array.isArray(page.signatures) ? page.signatures : []));
  expect(await signatureOf({ ...signed[0], signatures })).toMatchObject({ state: 'unverifiable' });
  expect(host.asked).toEqual([CARD, '/a']);
});

const header = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test.for<[string, JsonObject[string]]>([
  ['no list', 'x'],
  ['no object', ['x']],
  ['no header', [{ protected: 'e30x!', signature: 'AA' }]],
  ['no algorithm', [{ protected: header({ kid: 'desk-1' }), signature: 'AA' }]],
  ['the algorithm none', [{ protected: header({ alg: 'none', kid: 'desk-1' }), signature: '' }]],
  ['a shared secret', [{ protected: header({ alg: 'HS256', kid: 'desk-1' }), signature: 'AA' }]],
  [
    'a critical extension',
    [{ protected: header({ alg: 'ES256', kid: 'desk-1', crit: ['x'], x: 1 }), signature: 'AA' }],
  ],
] as const)('a signature with %s is invalid', async ([, signatures]) => {
  const { key } = await signer();
  expect(await signatureOf({ name: 'Desk', signatures }, [key])).toMatchObject({ state: 'invalid' });
});

test.for(['none', 'HS256', 'dir'])('the algorithm %s is refused before any key is looked for', async (alg) => {
  const signatures = [{ protected: header({ alg, jku: `${host.origin}/keys` }), signature: 'AA' }];
  expect(await signatureOf({ name: 'Desk', signatures })).toEqual({
    state: 'invalid',
    reason: expect.stringContaining('its algorithm is none of'),
  });
  expect(host.asked).not.toContain('/keys');
});

test('whatever a card holds, its signature has a state, and only a signature makes it valid', async () => {
  const { key } = await signer();
  const nobody = { send: () => Promise.reject(new Error('nobody is called')) };
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.constantFrom('name', 'signatures', 'skills', 'capabilities', 'x'),
        fc.jsonValue({ maxDepth: 4 }),
      ),
      async (page) => {
        const read: JsonObject = JSON.parse(JSON.stringify(page));
        const { state } = await checkCardSignature({ url: host.origin, card: read, keys: [key] }, nobody);
        expect(['none', 'invalid', 'unverifiable']).toContain(state);
      },
    ),
    { numRuns: 60 },
  );
});

test('whatever a DID document holds, it is evidence of its own DID or refused, and its keys are few and short', async () => {
  const did = didOf(host);
  let page: JsonObject = {};
  const body = () => Buffer.from(JSON.stringify(page));
  const served = async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: body(),
    isCut: false,
  });
  const method = fc.record({ id: fc.string({ maxLength: 600 }), type: fc.string({ maxLength: 100 }) });
  const document = fc.record(
    {
      id: fc.oneof(fc.constant(did), fc.jsonValue({ maxDepth: 1 })),
      verificationMethod: fc.oneof(fc.array(fc.oneof(method, fc.jsonValue()), { maxLength: 60 }), fc.jsonValue()),
      service: fc.jsonValue({ maxDepth: 4 }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(document, async (drawn) => {
      page = JSON.parse(JSON.stringify(drawn));
      const found = await resolveIdentity({ did }, { ...ports(), egress: { send: served } }).catch(({ code }) => code);
      // A key that could change the prototype of an object is refused at any depth.
      if (page.id !== did || body().includes('"__proto__":')) {
        expect(found).toBe('identity_unresolved');
        return;
      }
      expect(found).toMatchObject({ kind: 'did', did, agentId: `host:did:${sha256(did, 'hex')}` });
      expect(found.keys.length).toBeLessThanOrEqual(32);
      for (const { id, type } of found.keys) expect([id.length <= 256, type.length <= 64]).toEqual([true, true]);
    }),
    { numRuns: 60 },
  );
});
