/**
 * Agent figures: how fast the events of one loop become durable and reach a client, and the cost of a turn and a tool
 * call.
 */
import { streamLoads } from './agent-load.ts';
import { type Arena, type Cost, costOf, openArena } from './arena.ts';
import type { BareCommands } from './bare-stream-server.ts';
import { Child } from './child.ts';
import { type Figure, type Sample, totalDurability } from './figure.ts';
import type { Group, Plan } from './plan.ts';
import { percentile } from './statistics.ts';
import type { ReceiverCommands } from './stream-receiver.ts';

const EVENTS_BAR = 30_000;
const OVERHEAD_BAR_MS = 1.5;
/** Frames the bare server writes per event-loop turn. */
const BARE_TURN = 64;

export const agentGroup: Group = {
  name: 'agents',
  about: 'one agent on the scripted model: its events to one client, and its turns beside a loop without a host',
  figures: ['agent-events', 'agent-turn-overhead', 'agent-tool-overhead'],
  run: agentFigures,
};

interface Field {
  readonly plan: Plan;
  readonly arena: Arena;
  readonly receiver: Child<ReceiverCommands>;
  readonly bare: Child<BareCommands>;
  readonly barePort: number;
}

async function agentFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  await using receiver = new Child<ReceiverCommands>(new URL('./stream-receiver.ts', import.meta.url));
  await using bare = new Child<BareCommands>(new URL('./bare-stream-server.ts', import.meta.url));
  const field: Field = { plan, arena, receiver, bare, barePort: await bare.ask('serve') };
  const events: EventsRound[] = [];
  const turns: TurnsRound[] = [];
  // The first pass warms up the JIT.
  for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
    const taken = { events: await eventsRound(field), turns: await turnsRound(plan, arena) };
    if (round < 0) continue;
    events.push(taken.events);
    turns.push(taken.turns);
  }
  return [eventsFigure(events), overheadFigure('turn', turns), overheadFigure('tool', turns)];
}

interface EventsRound extends Sample {
  readonly cost: Cost;
  readonly clientCores: number;
}

async function eventsRound(field: Field): Promise<EventsRound> {
  const { plan, arena } = field;
  const deltas = plan.quick ? streamLoads.quick : streamLoads.full;
  const { result, cost } = await costOf(plan, arena.host, async () => {
    const { runId } = await arena.host.ask('startAgent', { workflowId: `bench-stream-${deltas}` });
    const path = `/v1/runs/${runId}/events?streamMode=debug`;
    const read = await arena.load.ask('stream', { target: arena.hostTarget, path });
    return { read, times: await arena.host.ask('agentTimes') };
  });
  const { read, times } = result;
  // A missing event invalidates the figure. Merged deltas would give fewer events.
  const isWhole = read.events === times.clientEvents && times.events > deltas;
  // Events that were durable before the clock started do not count.
  const counted = times.events - times.eventsThen;
  const value = isWhole ? (counted / (read.endedAt - times.firstDeltasAt)) * 1000 : Number.NaN;
  const limit = await bareRate(field, deltas);
  plan.progress(
    `  events: ${Math.round(value)}/s of ${times.events}, ${((cost.cpuMs / times.events) * 1000).toFixed(1)} us CPU an event, ${cost.commits} commits, client ${read.clientCores.toFixed(2)} cores; bare ${Math.round(limit)}/s`,
  );
  return { value, limit, cost, clientCores: read.clientCores };
}

/** Measures a bare server that writes the same number of frames to a bare client. */
async function bareRate({ receiver, bare, barePort }: Field, count: number): Promise<number> {
  await receiver.ask('open', { target: { port: barePort, key: 'none' }, path: '/', count: 1, lastId: -1 });
  const { frames, ms } = await receiver.ask('received', await bare.ask('burst', { count, perTurn: BARE_TURN }));
  return (frames / ms) * 1000;
}

interface TurnsRound {
  readonly turn: Sample;
  readonly tool: Sample;
  readonly cost: Cost;
}

async function turnsRound(plan: Plan, arena: Arena): Promise<TurnsRound> {
  const runs = plan.quick ? 1 : 5;
  const { result, cost } = await costOf(plan, arena.host, async () => {
    const all = { turnMs: [] as number[], toolMs: [] as number[] };
    for (let run = 0; run < runs; run++) {
      await arena.host.ask('startAgent', { workflowId: 'bench-turns' });
      const { turnMs, toolMs } = await arena.host.ask('agentTimes');
      all.turnMs.push(...turnMs);
      all.toolMs.push(...toolMs);
    }
    return all;
  });
  const bare = await arena.host.ask('bareTurns');
  const over = (times: readonly number[], alone: readonly number[]): Sample => {
    const limit = percentile(alone, 0.5);
    return { value: percentile(times, 0.5) - limit, limit };
  };
  const round = { turn: over(result.turnMs, bare.turnMs), tool: over(result.toolMs, bare.toolMs), cost };
  plan.progress(
    `  over a bare loop: ${round.turn.value.toFixed(3)} ms a turn, ${round.tool.value.toFixed(3)} ms a tool call; ${(cost.cpuMs / bare.turnMs.length / runs).toFixed(2)} ms CPU for both`,
  );
  return round;
}

function eventsFigure(rounds: readonly EventsRound[]): Figure {
  const cores = Math.max(...rounds.map(({ clientCores }) => clientCores));
  return {
    name: 'agent-events',
    unit: 'events/s',
    limitName: 'bare node:http, one response.write a frame; no model, no log',
    bar: { of: 'value', is: '>=', amount: EVENTS_BAR },
    samples: rounds,
    durability: totalDurability(rounds.map(({ cost }) => cost)),
    notes: cores < 0.9 ? [] : [`the client used up to ${cores.toFixed(2)} cores`],
  };
}

const overheadFigure = (kind: 'turn' | 'tool', rounds: readonly TurnsRound[]): Figure => ({
  name: `agent-${kind}-overhead`,
  unit: 'ms p50',
  limitName:
    kind === 'turn' ? 'a bare loop that only calls the scripted model' : 'the arguments checked, the function called',
  bar: { of: 'value', is: '<', amount: OVERHEAD_BAR_MS },
  samples: rounds.map((round) => round[kind]),
  durability: totalDurability(rounds.map(({ cost }) => cost)),
});
