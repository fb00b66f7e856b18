/** What runs record of the identities of their agents, in a real host. */
import { createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import type { OperatorNotice } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { sha256 } from '../compose.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { createAgentIdentities } from './agent-identities.ts';
import { didOf, type OtherHost, otherHost } from './other-host.kit.ts';

const key = 'a-key-of-some-length-0123456789';
const token = 'Bearer a-token-for-the-clerk';
const DID = '/.well-known/did.json';
const CARD = '/.well-known/agent-card.json';

const speaker = (name: string) =>
  defineAgent({
    id: `host:${name}`,
    persona: name,
    instructions: 'Answer.',
    rehearsal: { turns: [[{ answer: 'Done.' }]] },
  });

let other: OtherHost;
let host: Host;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  other = await otherHost();
  other.pages.set(DID, { id: didOf(other) }).set(CARD, { name: 'Billing Desk' });
  host = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    agents: [speaker('desk'), speaker('billing'), speaker('scout'), speaker('lost')],
    config: {
      port: 0,
      keys: [{ key, tenant: 't' }],
      egress: { allow: [other.origin] },
      secrets: { clerk: { value: token } },
      a2a: {
        peers: [{ name: 'clerk', url: `${other.origin}/clerk`, headers: { authorization: { secret: 'clerk' } } }],
      },
      agents: {
        identities: {
          'host:desk': { did: didOf(other) },
          'host:billing': { a2aCard: other.origin },
          'host:scout': { agntcy: { gatewayId: 'gw.example.org', agentId: 'scout/1' } },
          'host:lost': { did: didOf(other, ':lost') },
          'host:nobody': { did: didOf(other, ':nobody') },
        },
      },
    },
  });
  client = createClient({ url: host.url ?? '', key });
});
afterAll(async () => {
  await host?.close();
  await other?.close();
});

const ran = async (metadata?: JsonObject): Promise<string> => {
  const { runId } = await client.runs.create({
    agentId: 'host:desk',
    inputs: { message: 'Hi' },
    ...(metadata === undefined ? {} : { metadata }),
  });
  await client.runs.wait(runId);
  return runId;
};

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
const digest = expect.stringMatching(/^[0-9a-f]{64}$/);

test('a run records who its agents are elsewhere, with the evidence, and that some could not be found', async () => {
  const { metadata } = await client.runs.get(await ran({ ticket: 7 }));
  expect(metadata).toEqual({
    ticket: 7,
    'vendor.openwop.did': {
      'host:desk': {
        did: didOf(other),
        agentId: `host:did:${sha256(didOf(other), 'hex')}`,
        documentSha256: digest,
        resolvedAt: time,
        evidence: 'document',
      },
      'host:lost': {
        did: didOf(other, ':lost'),
        evidence: 'none',
        unresolved: { code: 'identity_unresolved', message: expect.stringContaining('404') },
        triedAt: time,
      },
    },
    'vendor.openwop.a2a.agentCardUrl': {
      'host:billing': {
        url: other.origin,
        agentId: `host:a2a:${other.host.replace(':', '_')}:Billing%20Desk`,
        documentSha256: digest,
        resolvedAt: time,
        evidence: 'card',
        signature: { state: 'none' },
      },
    },
    'vendor.openwop.agntcy.gatewayId': {
      'host:scout': {
        gatewayId: 'gw.example.org',
        remoteAgentId: 'scout/1',
        agentId: 'host:agntcy:gw.example.org:scout%2F1',
        evidence: 'none',
      },
    },
  });
});

test('a run whose nodes name an A2A peer records its card; other runs do not ask the peer', async () => {
  await ran();
  expect(other.asked.filter((path) => path.startsWith('/clerk'))).toEqual([]);
  other.pages.set(`/clerk${CARD}`, { name: 'Clerk' });
  const { runId } = await client.runs.create({ agentId: 'host:clerk', inputs: { message: 'Hi' } });
  const { metadata } = await client.runs.get(runId);
  expect(metadata?.['vendor.openwop.a2a.agentCardUrl']).toMatchObject({
    'host:clerk': { url: `${other.origin}/clerk${CARD}`, agentId: `host:a2a:${other.host.replace(':', '_')}:Clerk` },
  });
  expect(other.headers.get(`/clerk${CARD}`)?.authorization).toBe(token);
  expect(JSON.stringify(metadata)).not.toContain(token);
});

test('a replay repeats the record and calls nobody, also when the document has changed', async () => {
  const runId = await ran();
  const before = other.asked.length;
  other.pages.set(DID, { id: didOf(other), changed: true });
  const fork = await client.runs.fork(runId, { mode: 'replay' });
  await client.runs.wait(fork.runId);
  const [source, replayed] = [await client.runs.get(runId), await client.runs.get(fork.runId)];
  expect(replayed.metadata).toEqual(source.metadata);
  expect(other.asked.length).toBe(before);
});

test('runs that start soon after each other share one answer', async () => {
  await Promise.all([ran(), ran(), ran()]);
  expect(other.asked.filter((path) => path === DID)).toHaveLength(1);
});

test.for(['vendor.openwop.did', 'vendor.openwop.a2a.agentCardUrl', 'vendor.openwop.agntcy.gatewayId'])(
  'a caller cannot write %s itself',
  async (name) => {
    await expect(ran({ [name]: { 'host:desk': 'did:web:bank.example.org' } })).rejects.toMatchObject({
      code: 'validation_error',
    });
  },
);

test('an answer is used for five minutes, and a failure for half a minute', async () => {
  let now = 0;
  let sent = 0;
  const egress = {
    send: () => {
      sent += 1;
      return Promise.reject(new Error('nobody is there'));
    },
  };
  const notices: OperatorNotice[] = [];
  const report = (notice: OperatorNotice): void => void notices.push(notice);
  const declared = { a: { a2aCard: 'https://a.example/', keys: [] } };
  const metadata = createAgentIdentities({ declared }, { egress, plainOrigins: new Set(), now: () => now, report });
  for (const at of [0, 29_999, 30_001, 40_000]) {
    now = at;
    await metadata?.({ pinned: ['a', 'b'], named: new Set() });
  }
  expect(sent).toBe(2);
  expect(notices.map(({ event }) => event)).toEqual(['identity.unresolved', 'identity.unresolved']);
  expect(await metadata?.({ pinned: ['b'], named: new Set(['b']) })).toBeNull();
  expect(
    createAgentIdentities({ declared: {} }, { egress, plainOrigins: new Set(), now: () => now, report }),
  ).toBeNull();
});
