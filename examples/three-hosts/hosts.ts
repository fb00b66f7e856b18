/**
 * Three hosts on this machine. The shop calls the broker over MCP, the broker calls the workshop over A2A. Each has
 * its own id, its own data and a key of its own at the next one.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import { type App, createHost, defineAgent, defineWorkflow, type HostOptions } from '@cairn/host';

export interface RunningHost {
  readonly hostId: string;
  readonly url: string;
  /** The key of its user. */
  readonly key: string;
  readonly client: Client;
  stop(): Promise<void>;
}

export interface ThreeHosts {
  readonly shop: RunningHost;
  readonly broker: RunningHost;
  readonly workshop: RunningHost;
  close(): Promise<void>;
}

const idOf = (name: string): string => `three-hosts.example/${name}`;

/** The agent of the shop knows one tool: a workflow of the broker. It follows a script instead of a model. */
const seller = defineAgent({
  id: 'host:seller',
  persona: 'Seller',
  instructions: 'Order what the customer wants.',
  tools: ['mcp:broker/order'],
  rehearsal: {
    turns: [
      [{ say: 'I order it. ' }, { call: { tool: 'mcp:broker/order', input: { what: 'a bench' } } }],
      [{ say: 'It is ordered.' }],
    ],
  },
});

/** The agent as a workflow, so that its run has a name. */
const sell = defineWorkflow({ id: 'sell', version: '1', nodes: { seller: { type: 'cairn.agent', agent: seller } } });

/** A tool for MCP clients, because it is a workflow. */
const order = defineWorkflow({
  id: 'order',
  version: '1',
  description: 'Orders something from the workshop.',
  variables: { what: { type: 'string', required: true } },
  nodes: {
    ask: {
      type: 'core.a2a.invoke',
      config: { peer: 'workshop' },
      inputs: { what: { type: 'variable', variableName: 'what' } },
    },
  },
});

/** A skill for A2A clients, because it is a workflow. It asks before it builds. */
const build = defineWorkflow({
  id: 'build',
  version: '1',
  description: 'Builds furniture.',
  variables: { what: { type: 'string', required: true } },
  nodes: {
    wood: { type: 'core.clarificationGate', config: { questions: [{ id: 'wood', question: 'Which wood?' }] } },
    done: { type: 'core.identity', inputs: { what: { type: 'variable', variableName: 'what' } } },
  },
});

export async function startThreeHosts(): Promise<ThreeHosts> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-three-hosts-'));
  const [shopPort = 0, brokerPort = 0, workshopPort = 0] = await freePorts(3);
  const keys = { shopAtBroker: newKey(), brokerAtWorkshop: newKey() };
  const at = (port: number) => `http://127.0.0.1:${port}`;
  const start = (name: string, port: number, app: Partial<App>, config: Config) =>
    startHost(name, { port, data: join(folder, name), ...config }, app);

  const workshop = await start(
    'workshop',
    workshopPort,
    { workflows: [build] },
    {
      peers: [{ hostId: idOf('broker'), url: at(brokerPort) }],
      keys: [{ key: keys.brokerAtWorkshop, tenant: 'demo', principal: 'broker', peer: idOf('broker') }],
    },
  );
  const broker = await start(
    'broker',
    brokerPort,
    { workflows: [order] },
    {
      peers: [{ hostId: idOf('shop'), url: at(shopPort) }],
      keys: [{ key: keys.shopAtBroker, tenant: 'demo', principal: 'shop', peer: idOf('shop') }],
      secrets: { workshop: { value: keys.brokerAtWorkshop } },
      a2a: {
        peers: [
          {
            name: 'workshop',
            url: `${at(workshopPort)}/v1/a2a/build`,
            headers: { authorization: { secret: 'workshop', prefix: 'Bearer ' } },
          },
        ],
      },
    },
  );
  const shop = await start(
    'shop',
    shopPort,
    { agents: [seller], workflows: [sell] },
    {
      secrets: { broker: { value: keys.shopAtBroker } },
      mcp: {
        servers: [
          {
            id: 'broker',
            url: `${at(brokerPort)}/v1/mcp`,
            headers: { authorization: { secret: 'broker', prefix: 'Bearer ' } },
          },
        ],
      },
    },
  );
  return {
    shop,
    broker,
    workshop,
    async close() {
      for (const host of [shop, broker, workshop]) await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Config = NonNullable<HostOptions['config']>;

async function startHost(name: string, config: Config, app: Partial<App>): Promise<RunningHost> {
  const hostId = idOf(name);
  const key = newKey();
  const user = { key, tenant: 'demo', principal: 'ada' };
  const host = await createHost({
    ...app,
    config: { ...config, hostId, keys: [user, ...(config.keys ?? [])] },
    report: () => undefined,
  });
  const url = host.url ?? '';
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= host.close();
    return stopped;
  };
  return { hostId, url, key, client: createClient({ url, key }), stop };
}

const newKey = (): string => randomBytes(24).toString('base64url');

/** Each host names its neighbours before they are started, so their ports are chosen first. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}
