/** From an append on one node to a client of another node, beside a raw INSERT with NOTIFY. */
import { setTimeout } from 'node:timers/promises';
import { Child } from '../child.ts';
import type { Figure, Sample } from '../figure.ts';
import { freshFolder, type Group, type Plan } from '../plan.ts';
import { percentile } from '../statistics.ts';
import type { Received, ReceiverCommands } from '../stream-receiver.ts';
import { type Node, startNode } from './nodes.ts';
import type { RawNotifyCommands } from './raw-notify.ts';
import { startMeasuredServer } from './server.ts';

/** Slower than nodes gather notifications, so that each event is one. */
const EVERY_MS = 20;

export const streamGroup: Group = {
  name: 'pg-streams',
  about: 'an event appended on one node, to a client of another node, when both are quiet',
  figures: ['pg-stream-p50', 'pg-stream-p99', 'pg-stream-ratio'],
  run: streamFigures,
};

interface Round {
  readonly host: Received;
  readonly raw: { readonly p50Ms: number; readonly p99Ms: number };
}

async function streamFigures(plan: Plan): Promise<readonly Figure[]> {
  await using server = await startMeasuredServer(plan);
  const url = await server.database();
  await using started = new AsyncDisposableStack();
  const writer = started.use(await startNode(url, freshFolder(plan, 'node')));
  const reader = started.use(await startNode(url, freshFolder(plan, 'node')));
  const receiver = started.use(new Child<ReceiverCommands>(new URL('../stream-receiver.ts', import.meta.url)));
  const raw = (): Child<RawNotifyCommands> =>
    started.use(new Child<RawNotifyCommands>(new URL('./raw-notify.ts', import.meta.url)));
  const [inserting, listening] = [raw(), raw()];
  await inserting.ask('open', { url });
  await listening.ask('open', { url });
  await listening.ask('listen');
  const rounds: Round[] = [];
  // The first pass warms up all processes.
  for (let round = plan.quick ? 0 : -1; round < plan.rounds; round++) {
    const pace = { count: plan.quick ? 50 : 300, everyMs: EVERY_MS };
    const host = await betweenNodes(writer, reader, receiver, pace);
    const delays = await listening.ask('delays', await inserting.ask('emit', pace));
    const bare = { p50Ms: percentile(delays, 0.5), p99Ms: percentile(delays, 0.99) };
    plan.progress(`  p50 ${text(host.p50Ms, bare.p50Ms)}, p99 ${text(host.p99Ms, bare.p99Ms)}`);
    if (round >= 0) rounds.push({ host, raw: bare });
  }
  for (const one of [inserting, listening]) await one.ask('close');
  return figuresOf(rounds);
}

const text = (host: number, raw: number): string => `${host.toFixed(2)} ms, raw ${raw.toFixed(2)} ms`;

/** Appends on one node what a client reads from the other. */
async function betweenNodes(
  writer: Node,
  reader: Node,
  receiver: Child<ReceiverCommands>,
  pace: { readonly count: number; readonly everyMs: number },
): Promise<Received> {
  const { runId, lastSeq } = await writer.host.ask('waitingRun');
  const path = `/v1/runs/${runId}/events?streamMode=debug`;
  await receiver.ask('open', { target: reader.target, path, count: 1, lastId: lastSeq });
  await setTimeout(300);
  return receiver.ask('received', await writer.host.ask('emitSlowly', { runId, ...pace }));
}

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const wrong = rounds.reduce((sum, { host }) => sum + host.lost + host.duplicated + host.outOfOrder, 0);
  const notes = [`${wrong} frames lost, duplicated or out of order`];
  const limitName = 'raw INSERT and NOTIFY in one transaction, to a listener in another process';
  const samples = (name: 'p50Ms' | 'p99Ms'): readonly Sample[] =>
    rounds.map(({ host, raw }) => ({ value: wrong === 0 ? host[name] : Number.NaN, limit: raw[name] }));
  const [p50, p99] = [samples('p50Ms'), samples('p99Ms')];
  return [
    { name: 'pg-stream-p50', unit: 'ms p50', limitName, bar: { of: 'value', is: '<', amount: 3 }, samples: p50, notes },
    {
      name: 'pg-stream-p99',
      unit: 'ms p99',
      limitName,
      bar: { of: 'value', is: '<', amount: 15 },
      samples: p99,
      notes,
    },
    {
      name: 'pg-stream-ratio',
      unit: 'ms p50',
      limitName,
      bar: { of: 'ratio', is: '<=', amount: 4 },
      samples: p50,
      notes,
    },
  ];
}
