/** Three nodes, a proxy, load and faults, then the history: implements `npm run e2e:cluster` as one function. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../packages/host/src/log/postgres/store.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { startDatabase, type TestDatabase } from '../../packages/host/test/kit/test-database.ts';
import { shippedPacks } from '../agents/crew-pack.ts';
import { type CrewProvider, crewProvider } from '../agents/crew-provider.ts';
import type { Breach, Complain } from '../crash/breach.ts';
import { Wire } from '../crash/wire.ts';
import { type FaultKind, fault, faultKinds, nextFault } from './faults.ts';
import { type CheckedHistory, checkHistory, checkStream } from './history.ts';
import { NodeProcess } from './node-process.ts';
import { patron, type Seen } from './patron.ts';
import { proxyTo, type RoundRobin } from './proxy.ts';

export interface ClusterCampaign {
  readonly faults: number;
  readonly seed: string;
  /** The campaign goes on until so many runs have begun and so many second streams have ended. */
  readonly runs: number;
  readonly streams: number;
  readonly patrons?: number;
  readonly endWithinMs?: number;
  readonly progress?: (text: string) => void;
}

export interface ClusterReport {
  readonly seed: string;
  readonly faults: Readonly<Record<string, number>>;
  readonly runs: number;
  readonly streams: number;
  readonly events: number;
  readonly answeredByNode: readonly number[];
  readonly modelRequests: number;
  readonly history: Omit<CheckedHistory, 'breaches'> | null;
  readonly breaches: readonly Breach[];
  readonly lines: readonly string[];
  readonly seconds: number;
  readonly folder: string | null;
}

const DEPLOY = join(import.meta.dirname, '../../deploy');
const NODES = 3;
const LEASE_MS = 2_000;
const TENANT = 'cluster';
const KEY = 'cluster-k7Q2xV9mB4tRz6LwYd3H';
/** Delay between two chunks of the model, so that a turn lasts long enough for a fault to hit it. */
const CHUNK_MS = 2;
const END_WITHIN_MS = 180_000;

export async function clusterCampaign(options: ClusterCampaign): Promise<ClusterReport> {
  const began = performance.now();
  const home = await mkdtemp(join(tmpdir(), 'cairn-cluster-'));
  await using provider = await crewProvider(CHUNK_MS);
  const database = await startDatabase(home);
  const nodes = nodesOf(home, database, provider);
  const breaches: Breach[] = [];
  const complain: Complain = (promise, facts) => void breaches.push({ promise, facts });
  const seen: Seen[] = [];
  const faults: FaultKind[] = [];
  let answered: readonly number[] = [];
  let history: CheckedHistory | null = null;
  try {
    await nodes[0]?.migrate();
    await Promise.all(nodes.map((node) => node.start()));
    await using proxy = await proxyTo(() => nodes.flatMap(({ url }) => url ?? []));
    await underFire({ nodes, database, proxy, complain, seen, faults }, options);
    answered = [...proxy.answered.values()];
    for (const node of nodes) if ((await node.stop()) !== 0) complain('a node stops in order', { node: node.name });
    options.progress?.('every run has ended; reading the log');
    history = await audited(database.url, seen, complain);
  } finally {
    for (const node of nodes) await node.kill();
    await database.stop();
    if (breaches.length === 0) await rm(home, { recursive: true, force: true });
  }
  for (const how of nodes.flatMap(({ ownDeaths }) => ownDeaths)) complain('no node dies by itself', { how });
  return {
    seed: options.seed,
    faults: Object.fromEntries(faultKinds.map((kind) => [kind, faults.filter((one) => one === kind).length])),
    runs: seen.length,
    streams: seen.filter(({ streamed }) => streamed !== null).length,
    events: seen.reduce((sum, { events }) => sum + events.length, 0),
    answeredByNode: answered,
    modelRequests: provider.server.requests.length,
    history: history === null ? null : countsOf(history),
    breaches,
    lines:
      breaches.length === 0
        ? []
        : nodes.flatMap(({ name, lines }) => lines.slice(-15).map((line) => `${name} ${line}`)),
    seconds: Math.round((performance.now() - began) / 100) / 10,
    folder: breaches.length === 0 ? null : home,
  };
}

const countsOf = ({ runs, rows, effects, answers }: CheckedHistory) => ({ runs, rows, effects, answers });

function nodesOf(home: string, { url }: TestDatabase, provider: CrewProvider): readonly NodeProcess[] {
  mkdirSync(join(home, 'workflows'));
  const gate = {
    id: 'gate',
    name: 'gate',
    version: '1',
    nodes: [
      {
        id: 'ask',
        typeId: 'core.approvalGate',
        name: 'ask',
        position: { x: 0, y: 0 },
        config: { title: 'Go on?' },
        inputs: {},
      },
      { id: 'after', typeId: 'core.noop', name: 'after', position: { x: 1, y: 0 }, config: {}, inputs: {} },
    ],
    edges: [{ id: 'e', sourceNodeId: 'ask', targetNodeId: 'after' }],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
  writeFileSync(join(home, 'workflows/gate.json'), JSON.stringify(gate));
  const deployed: object = JSON.parse(readFileSync(join(DEPLOY, 'cairn.json'), 'utf8'));
  const secrets = { CAIRN_STORE: url, CAIRN_MASTER_KEY: randomBytes(32).toString('base64'), CAIRN_KEY: KEY };
  return Array.from({ length: NODES }, (_, i) => {
    const file = join(home, `node-${i}.json`);
    const scopes = ['manifest:read', 'runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'audit:read'];
    // The configuration that an operator begins with, on loopback and with a short lease.
    const config = {
      ...deployed,
      bind: '127.0.0.1',
      port: 0,
      data: join(home, `node-${i}`),
      leaseMs: LEASE_MS,
      keys: [{ keyEnv: 'CAIRN_KEY', tenant: TENANT, principal: 'patron', scopes }],
      workflows: [join(home, 'workflows')],
      packs: { unsigned: [join(shippedPacks, 'research-crew')] },
      tools: { allow: ['openwop:*'] },
      models: {
        providers: { crew: { kind: 'openai-compatible', baseUrl: provider.url, models: { 'crew-1': {} } } },
        default: 'crew/crew-1',
      },
    };
    writeFileSync(file, JSON.stringify(config));
    return new NodeProcess(`node-${i}`, file, { ...process.env, ...secrets });
  });
}

interface Scene {
  readonly nodes: readonly NodeProcess[];
  readonly database: TestDatabase;
  readonly proxy: RoundRobin;
  readonly complain: Complain;
  readonly seen: Seen[];
  readonly faults: FaultKind[];
}

/** Returns once all faults have happened, enough runs have begun, and all of them have ended. */
async function underFire(scene: Scene, options: ClusterCampaign): Promise<void> {
  const { proxy, complain, seen, faults } = scene;
  const { seed, patrons = 12, progress = () => undefined } = options;
  const random = createRandom(seed);
  const over = new AbortController();
  const wire = new Wire(throughProxy(proxy.url), over.signal);
  const streams = () => seen.filter(({ streamed }) => streamed !== null).length;
  const isFinishing = () =>
    over.signal.aborted ||
    (faults.length >= options.faults && seen.length >= options.runs && streams() >= options.streams);
  const working = Promise.all(
    Array.from({ length: patrons }, (_, i) =>
      patron({ name: `p${i}`, wire, random: random.fork(`p${i}`), complain, seen, isFinishing, streamShare: 0.5 }),
    ),
  );
  working.catch(() => undefined);
  try {
    while (faults.length < options.faults) {
      const kind = nextFault(faults.length, random);
      await fault(kind, { ...scene, random, leaseMs: LEASE_MS });
      faults.push(kind);
      progress(`fault ${faults.length}/${options.faults} (${kind}): ${seen.length} runs, ${streams()} streams`);
    }
    const all = working.then(() => Promise.all(seen.map(({ streamed }) => streamed)));
    const late = pause(options.endWithinMs ?? END_WITHIN_MS, 'late' as const, { signal: over.signal });
    late.catch(() => undefined);
    if ((await Promise.race([all, late])) === 'late') {
      for (const { runId, topic, events } of seen) {
        const last = events.at(-1)?.type;
        if (last === undefined || !/^run\.(completed|failed|cancelled)$/.test(last)) {
          complain('every run ends by itself', { runId, topic, last, events: events.length });
        }
      }
    }
  } finally {
    over.abort();
    await working.catch(() => undefined);
  }
}

const throughProxy = (url: string) => ({
  settings: { key: KEY },
  address: async () => url,
  fetch: (input: string | URL | Request, init?: RequestInit) => {
    const { pathname, search } = new URL(String(input), url);
    return fetch(new URL(pathname + search, url), init);
  },
});

/** Reads the log, and compares it with what the streams saw. */
async function audited(url: string, seen: readonly Seen[], complain: Complain): Promise<CheckedHistory> {
  const store = await openPostgresStore({ url, elapsedMs: () => performance.now() });
  try {
    const history = await checkHistory(store, TENANT);
    for (const { promise, facts } of history.breaches) complain(promise, facts);
    for (const { runId, events, streamed } of seen) {
      const head = await store.log.head(runId as never);
      const rows = (head?.seq ?? -1) + 1;
      checkStream(runId, events, rows, complain);
      // The client's own stream leaves operator rows out, so only its order can be held against the log.
      const own = streamed === null ? null : await Promise.race([streamed, Promise.resolve([])]);
      if (own?.some((sequence, i) => sequence !== i)) {
        complain('a stream has no gap and no repeat', { runId, own: own.length, rows });
      }
    }
    return history;
  } finally {
    await store.close();
  }
}
