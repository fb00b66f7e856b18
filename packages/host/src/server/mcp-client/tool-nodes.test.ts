/** Nodes that call a tool of an MCP server: the errors of the tool, and who may call it. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf, payloadsIn } from '../../../test/kit/followed-run.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type OtherServer, otherServer } from './other-server.kit.ts';

const key = 'a-key-of-enough-characters';
const weakKey = 'another-key-of-enough-characters';
const sum = { a: 1, b: 2 };

let servers: Record<'modern' | 'scoped', OtherServer>;
let host: Host;
let client: Client;

beforeAll(async () => {
  servers = { modern: await otherServer(), scoped: await otherServer() };
  host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [
        { key, tenant: 't', principal: 'ann' },
        { key: weakKey, tenant: 't', principal: 'bob', scopes: [...scopes], toolScopes: [] },
      ],
      mcp: {
        servers: [
          { id: 'modern', url: servers.modern.url },
          { id: 'scoped', url: servers.scoped.url, needs: ['tool:sums'] },
        ],
      },
    },
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host?.close();
  await Promise.all(Object.values(servers ?? {}).map((server) => server.close()));
});

const returnOf = (events: readonly RunEventDoc[]): JsonObject => payloadsIn(events, 'agent.toolReturned')[0] ?? {};

describe('a node that calls a tool', () => {
  const nodeRun = async (config: JsonObject, more: { configurable?: JsonObject; as?: Client } = {}) => {
    const node = {
      id: 'call',
      name: 'call',
      typeId: 'core.mcp.toolCall',
      position: { x: 0, y: 0 },
      inputs: {},
      config,
    };
    const id = `node-${JSON.stringify(config).replaceAll(/[^a-z]/g, '')}`;
    const about = { name: id, version: '1', edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
    await client.workflows.register({ id, ...about, nodes: [node] });
    const { as = client, configurable } = more;
    const { runId } = await as.runs.create({ workflowId: id, ...(configurable && { configurable }) });
    return eventsOf(client, runId);
  };

  test.each<[string, JsonObject, JsonObject]>([
    [
      'with arguments that do not fit',
      { toolName: 'add', arguments: { a: 'one' } },
      { code: 'tool_invalid_arguments' },
    ],
    ['that is not there', { toolName: 'nothing' }, { code: 'tool_not_found' }],
    ['that fails', { toolName: 'fail' }, { code: 'tool_failed', message: 'No luck.' }],
    ['that takes longer than the node lets it', { toolName: 'wait', timeoutMs: 30 }, { code: 'tool_timeout' }],
  ])('fails with the error of a tool %s', async (_, config, error) => {
    const events = await nodeRun({ serverId: 'modern', ...config });
    expect(payloadsIn(events, 'node.failed')).toMatchObject([{ error }]);
    expect(returnOf(events)).toMatchObject({ error });
  });

  test('contacts nobody that the run, the starter or the configuration does not allow', async () => {
    const before = [servers.modern, servers.scoped].map(({ received }) => received.length);
    const add = { toolName: 'add', arguments: sum };
    const capped = await nodeRun({ serverId: 'modern', ...add }, { configurable: { 'cairn.tools': ['openwop:*'] } });
    const bob = createClient({ url: host.url ?? '', key: weakKey });
    const scoped = await nodeRun({ serverId: 'scoped', ...add }, { as: bob });
    const unknown = await nodeRun({ serverId: 'elsewhere', ...add });
    expect([capped, scoped].map(returnOf)).toMatchObject([{ status: 'forbidden' }, { status: 'forbidden' }]);
    expect(returnOf(unknown)).toMatchObject({ error: { code: 'tool_not_found' } });
    expect([servers.modern, servers.scoped].map(({ received }) => received.length)).toEqual(before);
  });
});
