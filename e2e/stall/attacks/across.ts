/** Clients of A2A and MCP: every method with odd parameters, deep bodies, floods, many open streams and pending calls. */
import type { Json, JsonObject } from '@cairn/protocol';
import { a2aMethodNames } from '../../../packages/host/src/server/a2a/methods.ts';
import { a2aVersions } from '../../../packages/host/src/server/a2a/versions.ts';
import { mcpMethodNames } from '../../../packages/host/src/server/mcp/methods.ts';
import { createRandom, type Random } from '../../../packages/host/test/kit/random.ts';
import type { Attack } from '../attack.ts';
import type { Attacker } from '../attacker.ts';
import { TALKER } from '../tenants.ts';

const A2A = '/v1/a2a';
const MCP = '/v1/mcp';
const MODERN = '2026-07-28';

let sent = 0;
const call = (method: string, params: Json): JsonObject => {
  sent += 1;
  return { jsonrpc: '2.0', id: sent, method, params };
};

const message = (fields: JsonObject = {}): JsonObject => {
  sent += 1;
  return { messageId: `stall-${sent}`, role: 'ROLE_USER', parts: [{ text: 'Go.' }], ...fields };
};

const v1 = { 'a2a-version': '1.0' };

/** Parameters that no client sends: of the wrong type, too long, of other versions, with names of prototypes. */
const oddities: readonly Json[] = [
  null,
  [],
  '',
  'x'.repeat(100_000),
  -1,
  1e308,
  true,
  {},
  { id: '../../etc/passwd' },
  { id: 'run_00000000-0000-7000-8000-000000000000', historyLength: -1 },
  { id: { $ne: null } },
  { __proto__x: 1, constructor: { prototype: {} } },
  { message: null },
  { message: { messageId: 'm', role: 'ROLE_USER', parts: 'x' } },
  { message: { messageId: '\u0000', role: 'user', parts: [{ kind: 'file', file: {} }] } },
  { taskId: 'x', url: 'http://169.254.169.254/', token: 'a\r\nb' },
  { name: 'no-such-tool', arguments: [] },
  { name: '__proto__', arguments: {} },
  { uri: 'file:///etc/passwd' },
  { uri: 'cairn://runs/../../x' },
  { cursor: 'x'.repeat(10_000), pageToken: 'x' },
  { requestState: 'x', inputResponses: {} },
  { protocolVersion: 'never', capabilities: null },
  { _meta: { traceparent: 'garbage', 'cairn.causation': { hostId: 'forged' } } },
];

const everyA2aMethod: Attack = {
  name: 'a2a-every-method',
  async run(attacker) {
    for (const version of a2aVersions) {
      for (const method of a2aMethodNames(version)) {
        const headers = { 'a2a-version': version };
        await Promise.all(oddities.map((params) => attacker.send(A2A, { body: call(method, params), headers })));
      }
    }
    for (const version of ['', '9.9', '1.0.0.0', 'x'.repeat(4_000)]) {
      await attacker.send(A2A, { body: call('GetTask', { id: 'x' }), headers: { 'a2a-version': version } });
    }
  },
};

const modernHeaders = (method: string): Record<string, string> => ({
  accept: 'application/json',
  'mcp-protocol-version': MODERN,
  'mcp-method': method,
});

const everyMcpMethod: Attack = {
  name: 'mcp-every-method',
  async run(attacker) {
    for (const method of mcpMethodNames) {
      for (const headers of [{ accept: 'application/json' }, modernHeaders(method)]) {
        await Promise.all(oddities.map((params) => attacker.send(MCP, { body: call(method, params), headers })));
      }
    }
  },
};

/** JSON that costs more to look at than to send. */
const deepBodies: readonly string[] = [
  '['.repeat(200_000),
  `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`)}}}`,
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[${Array.from({ length: 20_000 }, () => '{"text":"x"}')}]}}}`,
];

const deep: Attack = {
  name: 'rpc-deep-bodies',
  async run(attacker) {
    for (const body of deepBodies) {
      await Promise.all([A2A, MCP].map((path) => attacker.send(path, { body, headers: v1 })));
    }
  },
};

/** As many messages as the host takes, each with 100 kB. */
const flood: Attack = {
  name: 'flood-a2a-messages',
  async run(attacker) {
    const text = 'x'.repeat(100_000);
    for (let i = 0; i < 1_000; i += 50) {
      const one = () => call('SendMessage', { message: message({ parts: [{ text }] }), configuration: now });
      await Promise.all(
        Array.from({ length: 50 }, () => attacker.send(`${A2A}/${TALKER}`, { body: one(), headers: v1 })),
      );
    }
    await cancelAll(attacker);
  },
};

const now = { returnImmediately: true };

async function cancelAll(attacker: Attacker): Promise<void> {
  for (let left = 50; left > 0; left -= 1) {
    const { body } = await attacker.send('/v1/runs?limit=100&status=running');
    const runs = Array.isArray(body.runs) ? body.runs : [];
    const runIds = runs.map((run) => (typeof run === 'object' && run !== null && 'runId' in run ? run.runId : null));
    if (runIds.length === 0) return;
    await attacker.send('/v1/runs:bulk-cancel', { body: { runIds, reason: 'The attack is over.' } });
  }
}

/** Calls that wait for a run that waits: more of them than a key may hold. */
const pending = (name: string, path: string, bodyOf: () => JsonObject, headers: Record<string, string>): Attack => ({
  name,
  async run(attacker) {
    const node = { id: 'n', typeId: 'core.delay', config: { delayMs: 5_000 } };
    if (!(await attacker.register('flood-waits', { nodes: [node] }))) return attacker.fault('it was refused');
    for (let i = 0; i < 1_000; i += 100) {
      await attacker.post(
        path,
        Array.from({ length: 100 }, () => bodyOf()),
        headers,
      );
      await attacker.quiet(200);
    }
    await attacker.quiet(3_000);
    await cancelAll(attacker);
  },
});

const waitingMessage = () => call('SendStreamingMessage', { message: message({ parts: [{ data: {} }] }) });
const waitingCall = () => call('tools/call', { name: 'flood-waits', arguments: {} });

/** Bodies drawn from a seed, of methods of both protocols. */
export function rpcAttack(name: string, random: Random): Attack {
  return {
    name,
    async run(attacker) {
      const a2a = a2aMethodNames('1.0');
      for (let i = 0; i < 40; i += 1) {
        const isA2a = random.chance(0.5);
        const method = random.pick(isA2a ? a2a : mcpMethodNames);
        const params = random.chance(0.5) ? random.pick(oddities) : drawn(random, 4);
        const body = random.chance(0.9) ? call(method, params) : drawn(random, 3);
        await attacker.send(isA2a ? A2A : MCP, { body, headers: isA2a ? v1 : { accept: 'application/json' } });
      }
    },
  };
}

const names = [
  'id',
  'taskId',
  'message',
  'parts',
  'text',
  'data',
  'name',
  'arguments',
  'params',
  'method',
  '_meta',
  'x',
];

function drawn(random: Random, depth: number): Json {
  if (depth === 0 || random.chance(0.3)) return random.pick([null, 0, -1, '', 'x', true, 'run_x', 1e21]);
  const items = Array.from({ length: random.below(5) }, () => drawn(random, depth - 1));
  return random.chance(0.4) ? items : Object.fromEntries(items.map((item) => [random.pick(names), item]));
}

export const acrossAttacks: readonly Attack[] = [
  everyA2aMethod,
  everyMcpMethod,
  deep,
  rpcAttack('rpc-drawn', createRandom('rpc')),
  flood,
  pending('flood-a2a-streams', `${A2A}/flood-waits`, waitingMessage, v1),
  pending('flood-mcp-calls', MCP, waitingCall, { accept: 'application/json, text/event-stream' }),
];
