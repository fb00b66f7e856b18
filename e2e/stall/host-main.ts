/** The host under attack: a real host on a real database with two tenants. Driven over IPC. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';
import { defineAgent, defineTool, type Step } from '../../packages/host/src/index.ts';
import { storeConfig } from '../campaign-store.ts';
import type { HostSettings } from '../crash/host-main.ts';
import { serveHost } from '../crash/serve-host.ts';
import {
  ASKER,
  BLOB,
  callerOf,
  HOSTILE_TOOL,
  hasDid,
  hostileKinds,
  PEERS_ENV,
  QUICK,
  SAMPLE,
  TALKER,
  VICTIM_KEY,
  WRITER,
} from './tenants.ts';

/** Returns as many kilobytes as its input asks for, as a tool that fetches a document would. */
const blob: Step = {
  typeId: BLOB,
  safety: 'pure',
  run: async (input) => ({ text: 'x'.repeat(1_000 * Number(input.kilobytes)) }),
};

const MIB = 1_048_576;

/** Writes a file of a gigabyte, in pieces of 64 KiB with bytes of their own. */
const dump = defineTool({
  id: 'stall:dump',
  description: 'Writes a large file.',
  input: z.object({}),
  safety: 'idempotent',
  timeoutMs: 110_000,
  async run(_input, { file, callId }) {
    const large = file(`dump-${callId.replace(/\W/g, '')}.bin`);
    const piece = Buffer.alloc(65_536);
    for (let at = 0; at < 1_024 * MIB; at += piece.length) {
      for (let i = 0; i < piece.length; i += 4_096) piece.writeUInt32LE((at + i) % 4_294_967_291, i);
      await large.write(piece);
    }
    return { artifactId: (await large.close()).artifactId };
  },
});

const agentOf = (id: string, turns: readonly Json[], tools: readonly string[] = []) =>
  defineAgent({ id, persona: 'Stall', instructions: 'Do it.', tools, rehearsal: { turns: [...turns] } });

const talker = agentOf(TALKER, [[{ stream: { deltas: 20_000, size: 5 } }]]);
const writer = agentOf(WRITER, [[{ call: { tool: dump.id, input: {} } }], [{ say: 'Done.' }]], [dump.id]);

const asker = agentOf(ASKER, [[{ call: { tool: 'client:never', input: {} } }], [{ say: 'Done.' }]], ['client:*']);

const callers = hostileKinds.map((kind) => {
  const tool = `mcp:${kind}/${HOSTILE_TOOL}`;
  return agentOf(callerOf(kind), [[{ call: { tool, input: {} } }], [{ say: 'Done.' }]], [tool]);
});

const quick = agentOf(QUICK, [[{ say: 'Done.' }]]);

const sample = {
  templateId: SAMPLE,
  version: '1.0.0',
  kind: 'few-shot',
  text: 'As in {{doc}}, {{doc}} and {{doc}}.',
  variables: [{ name: 'doc', type: 'string', required: true }],
} as const;

const peers = process.env[PEERS_ENV] ?? '';
/** A `did:web` names a host, not an address. */
const named = peers.replace('127.0.0.1', 'localhost');
const didOf = (kind: string): string => `did:web:${encodeURIComponent(named.replace('http://', ''))}:did:${kind}`;

/** A run records those of its agents, and the cards of the peers that it names. */
const identities = Object.fromEntries(
  hostileKinds.filter(hasDid).map((kind) => [callerOf(kind), { did: didOf(kind) }]),
);

/** So little that a hostile peer meets each limit soon. */
const atPeer = { timeoutMs: 3_000, maxResponseBytes: 1_000_000 };

const settings: HostSettings = JSON.parse(process.argv[2] ?? '{}');

await serveHost({
  config: {
    port: 0,
    ...storeConfig(settings),
    keys: [
      { key: settings.key, tenant: settings.tenant, principal: 'attacker' },
      { key: VICTIM_KEY, tenant: 'victim', principal: 'victim' },
    ],
    // A thousand readers, and the attacker's own requests.
    limits: { maxOpenStreamsPerKey: 1_100 },
    // Within an attack, but after all of its messages.
    tools: { clientTimeoutMs: 15_000 },
    agents: { identities },
    egress: { allow: [peers, named] },
    a2a: {
      versions: ['1.0', '0.3'],
      peers: hostileKinds.map((name) => ({ ...atPeer, name, url: `${peers}/a2a/${name}` })),
    },
    mcp: { servers: hostileKinds.map((id) => ({ ...atPeer, id, url: `${peers}/mcp/${id}` })) },
  },
  steps: [blob],
  tools: [dump],
  agents: [talker, writer, asker, quick, ...callers],
  prompts: [sample],
});
