/** Figures for live streams: from a commit to every subscriber, beside a bare server that writes the same frames. */
import { setTimeout } from 'node:timers/promises';
import type { RunId } from '@cairn/protocol';
import { present } from '../packages/host/test/kit/present.ts';
import { type Arena, type Cost, costOf, openArena } from './arena.ts';
import type { BareCommands } from './bare-stream-server.ts';
import { Child } from './child.ts';
import { type Figure, type Sample, totalDurability } from './figure.ts';
import type { Group, Plan } from './plan.ts';
import type { Emitted } from './stream-pace.ts';
import type { Received, ReceiverCommands } from './stream-receiver.ts';

/** Subscribers per run, the event interval, and how much worse than a bare server the tail latency may be. */
const paces = [
  { subscribers: 1, everyMs: 1, events: 3_000, bar: 2 },
  { subscribers: 100, everyMs: 10, events: 400, bar: 2 },
  { subscribers: 1_000, everyMs: 50, events: 120, bar: 1.7 },
] as const;
type Pace = (typeof paces)[number];

const BURST_SUBSCRIBERS = 100;
const BURST_BAR = 150_000;
/** Events the host commits in one transaction of a burst. The bare server writes as many per turn. */
const BURST_TURN = 64;

export const streamGroup: Group = {
  name: 'streams',
  about: 'events of one run to 1, 100 and 1,000 subscribers, from their commit to their receipt',
  figures: [...paces.map(({ subscribers }) => `stream-p99-${subscribers}`), 'stream-burst-100', 'stream-integrity'],
  run: streamFigures,
};

interface Side extends Received {
  readonly cost: Cost;
}

interface Round {
  readonly host: Side;
  readonly bare: Side;
}

interface Field {
  readonly plan: Plan;
  readonly arena: Arena;
  readonly receiver: Child<ReceiverCommands>;
  readonly bare: Child<BareCommands>;
  readonly barePort: number;
}

async function streamFigures(plan: Plan): Promise<readonly Figure[]> {
  await using arena = await openArena(plan);
  await using receiver = new Child<ReceiverCommands>(new URL('./stream-receiver.ts', import.meta.url));
  await using bare = new Child<BareCommands>(new URL('./bare-stream-server.ts', import.meta.url));
  const field: Field = { plan, arena, receiver, bare, barePort: await bare.ask('serve') };
  // The first pass warms up the JIT of all three processes.
  const rounds = new Map<Pace | 'burst', Round[]>();
  for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
    for (const pace of paces) keep(rounds, pace, round, await pacedRound(field, pace));
    keep(rounds, 'burst', round, await burstRound(field));
  }
  const all = [...rounds.values()].flat();
  return [
    ...paces.map((pace) => latencyFigure(pace, present(rounds.get(pace)))),
    burstFigure(present(rounds.get('burst'))),
    integrityFigure(all),
  ];
}

function keep(rounds: Map<Pace | 'burst', Round[]>, key: Pace | 'burst', round: number, taken: Round): void {
  if (round < 0) return;
  rounds.set(key, [...(rounds.get(key) ?? []), taken]);
}

async function pacedRound(field: Field, { subscribers, everyMs, events }: Pace): Promise<Round> {
  const count = field.plan.quick ? Math.ceil(events / 10) : events;
  const round = {
    host: await hostSide(field, subscribers, (runId) => field.arena.host.ask('emit', { runId, count, everyMs })),
    bare: await bareSide(field, subscribers, () => field.bare.ask('emit', { count, everyMs })),
  };
  field.plan.progress(`  ${subscribers} subscribers: host ${sideText(round.host)}; bare ${sideText(round.bare)}`);
  return round;
}

async function burstRound(field: Field): Promise<Round> {
  const count = BURST_TURN * (field.plan.quick ? 10 : 100);
  const round = {
    host: await hostSide(field, BURST_SUBSCRIBERS, (runId) => field.arena.host.ask('burst', { runId, count })),
    bare: await bareSide(field, BURST_SUBSCRIBERS, () => field.bare.ask('burst', { count, perTurn: BURST_TURN })),
  };
  field.plan.progress(`  burst: host ${burstText(round.host)}; bare ${burstText(round.bare)}`);
  return round;
}

async function hostSide(
  { plan, arena, receiver }: Field,
  count: number,
  emit: (runId: RunId) => Promise<Emitted>,
): Promise<Side> {
  const { runId, lastSeq } = await arena.host.ask('waitingRun');
  const path = `/v1/runs/${runId}/events?streamMode=debug`;
  await receiver.ask('open', { target: arena.hostTarget, path, count, lastId: lastSeq });
  await settled();
  return measured(plan, arena.host, receiver, () => emit(runId));
}

async function bareSide(field: Field, count: number, emit: () => Promise<Emitted>): Promise<Side> {
  const { plan, receiver, bare, barePort } = field;
  await receiver.ask('open', { target: { port: barePort, key: 'none' }, path: '/', count, lastId: -1 });
  await settled();
  return measured(plan, bare, receiver, emit);
}

/** Gives newly connected readers time to finish reading the log. */
const settled = () => setTimeout(300);

async function measured(
  plan: Plan,
  server: Parameters<typeof costOf>[1],
  receiver: Child<ReceiverCommands>,
  emit: () => Promise<Emitted>,
): Promise<Side> {
  const { result, cost } = await costOf(plan, server, async () => receiver.ask('received', await emit()));
  return { ...result, cost };
}

function latencyFigure({ subscribers, everyMs, bar }: Pace, rounds: readonly Round[]): Figure {
  return {
    name: `stream-p99-${subscribers}`,
    unit: 'ms p99',
    limitName: `bare node:http, one response.write a frame, ${1000 / everyMs} events/s`,
    bar: { of: 'ratio', is: '<=', amount: bar },
    samples: rounds.map(({ host, bare }): Sample => ({ value: host.p99Ms, limit: bare.p99Ms })),
    durability: totalDurability(rounds.map(({ host }) => host.cost)),
    notes: receiverNotes(rounds),
  };
}

const perSecond = ({ frames, ms }: Side): number => (frames / ms) * 1000;

function burstFigure(rounds: readonly Round[]): Figure {
  return {
    name: 'stream-burst-100',
    unit: 'frames/s',
    limitName: 'bare node:http, one response.write a frame',
    bar: { of: 'value', is: '>=', amount: BURST_BAR },
    samples: rounds.map(({ host, bare }): Sample => ({ value: perSecond(host), limit: perSecond(bare) })),
    durability: totalDurability(rounds.map(({ host }) => host.cost)),
    notes: receiverNotes(rounds),
  };
}

/** Everything the host sent in all rounds. The limit is what arrived, so the ratio is the share that went wrong. */
function integrityFigure(rounds: readonly Round[]): Figure {
  const sum = (pick: (side: Side) => number) => rounds.reduce((all, { host }) => all + pick(host), 0);
  const [lost, duplicated, outOfOrder] = [sum((s) => s.lost), sum((s) => s.duplicated), sum((s) => s.outOfOrder)];
  return {
    name: 'stream-integrity',
    unit: 'frames lost, duplicated or out of order',
    limitName: 'frames received',
    bar: { of: 'value', is: '<=', amount: 0 },
    samples: [{ value: lost + duplicated + outOfOrder, limit: sum(({ frames }) => frames) }],
    notes: [`${lost} lost, ${duplicated} duplicated, ${outOfOrder} out of order`],
  };
}

/** A receiver without a spare core adds its own delay to both sides; the note says so. */
function receiverNotes(rounds: readonly Round[]): readonly string[] {
  const cores = Math.max(...rounds.flatMap(({ host, bare }) => [host.cores, bare.cores]));
  return cores < 0.9 ? [] : [`the receiver used up to ${cores.toFixed(2)} cores`];
}

const sideText = ({ p50Ms, p99Ms, cost }: Side): string =>
  `p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms, ${(cost.cpuMs / cost.ms).toFixed(2)} cores`;

function burstText(side: Side): string {
  const perFrame = ((side.cost.cpuMs / side.frames) * 1000).toFixed(1);
  return `${Math.round(perSecond(side))} frames/s, ${perFrame} us CPU a frame, receiver ${side.cores.toFixed(2)} cores`;
}
