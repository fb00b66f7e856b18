/** Figures for calls of other systems: A2A messages and MCP calls, beside the published servers doing the same work. */
import { type Arena, type Cost, costOf, openArena } from './arena.ts';
import { CALL_NUMBER, type CallLoad } from './calls.ts';
import { Child } from './child.ts';
import { type Figure, type Sample, totalDurability } from './figure.ts';
import type { LoadResult } from './load.ts';
import type { Group, Plan } from './plan.ts';
import type { SdkCommands } from './sdk-servers.ts';
import type { Target } from './watched-run.ts';

/** What the step returns. */
const RESULT = 'x'.repeat(200);

/** Calls that a client has open at a time. */
const CONCURRENCY = 16;

type Call = Pick<CallLoad, 'path' | 'headers' | 'body' | 'mark'>;

/** A message to a workflow with one step; the response is the finished task with its outputs. */
const message: Call = {
  path: '/v1/a2a/bench-one-step',
  headers: { 'A2A-Version': '1.0' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: { messageId: CALL_NUMBER, role: 'ROLE_USER', parts: [{ data: {} }] } },
  }),
  mark: RESULT,
};

const MCP_VERSION = '2026-07-28';

/** A call of a workflow with one step; the response is its result. */
const toolCall: Call = {
  path: '/v1/mcp',
  headers: {
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': MCP_VERSION,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'bench-one-step',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: CALL_NUMBER,
    method: 'tools/call',
    params: {
      name: 'bench-one-step',
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
  mark: RESULT,
};

export const acrossGroup: Group = {
  name: 'across',
  about: 'A2A messages and MCP calls per second, beside the published servers doing the same work in memory',
  figures: ['a2a-messages', 'mcp-calls'],
  run: acrossFigures,
};

async function acrossFigures(plan: Plan, wanted: readonly string[]): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  await using sdk = new Child<SdkCommands>(new URL('./sdk-servers.ts', import.meta.url));
  const ports = await sdk.ask('serve');
  const field: Field = { plan, arena, sdk };
  const figures: Figure[] = [];
  if (wanted.includes('a2a-messages')) {
    const limitName = 'the server of @a2a-js/sdk, tasks in memory';
    figures.push(await figureOf(field, { name: 'a2a-messages', call: message, port: ports.a2a, limitName }));
  }
  if (wanted.includes('mcp-calls')) {
    const limitName = 'the server of @modelcontextprotocol/server, nothing kept';
    figures.push(await figureOf(field, { name: 'mcp-calls', call: toolCall, port: ports.mcp, limitName }));
  }
  return figures;
}

interface Field {
  readonly plan: Plan;
  readonly arena: Arena;
  readonly sdk: Child<SdkCommands>;
}

interface Measured {
  readonly name: string;
  readonly call: Call;
  readonly port: number;
  readonly limitName: string;
}

async function figureOf(field: Field, { name, call, port, limitName }: Measured): Promise<Figure> {
  const { plan, arena, sdk } = field;
  const rounds: (Sample & { readonly cost: Cost })[] = [];
  const bare: Target = { port, key: 'none' };
  // The first passes warm up the JIT of all processes: the host needs about 12,000 runs.
  for (let round = plan.quick ? 0 : -3; round < plan.rounds; round++) {
    const ours = await side(field, arena.host, { ...call, target: arena.hostTarget });
    const theirs = await side(field, sdk, { ...call, target: bare });
    plan.progress(`  ${name}: host ${sideText(ours)}; sdk ${sideText(theirs)}`);
    if (round >= 0) rounds.push({ value: ours.perSecond, limit: theirs.perSecond, cost: ours.cost });
  }
  return {
    name,
    unit: 'calls/s',
    limitName,
    bar: { of: 'ratio', is: '>=', amount: 0.8 },
    samples: rounds,
    durability: totalDurability(rounds.map(({ cost }) => cost)),
  };
}

interface Side extends LoadResult {
  readonly cost: Cost;
  readonly count: number;
}

async function side(
  { plan, arena }: Field,
  server: Parameters<typeof costOf>[1],
  call: Omit<CallLoad, 'concurrency' | 'count'>,
): Promise<Side> {
  const count = plan.quick ? 300 : 5_000;
  const work = () => arena.load.ask('calls', { ...call, concurrency: CONCURRENCY, count });
  const { result, cost } = await costOf(plan, server, work);
  return { ...result, cost, count };
}

const sideText = ({ perSecond, p99Ms, clientCores, cost, count }: Side): string =>
  `${Math.round(perSecond)}/s, p99 ${p99Ms.toFixed(1)} ms, ${((cost.cpuMs / count) * 1_000).toFixed(0)} us CPU each, client ${clientCores.toFixed(2)} cores`;
