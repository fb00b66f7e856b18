/**
 * One order across three hosts: the shop calls the broker over MCP, the broker the workshop over A2A. The workshop asks
 * something, and the shop answers it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client, EventDoc } from '@cairn/client';
import type { RunningHost, ThreeHosts } from './hosts.ts';

/** The trace that the customer's request is part of. */
export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

export interface Told {
  /** The runs that the order caused, one on each host. */
  readonly runs: { readonly shop: string; readonly broker: string; readonly workshop: string };
  readonly replay: string;
}

export interface Listener {
  say(line: string): void;
  /** The order is carried out, and all hosts still run. */
  ordered?(runs: Told['runs']): Promise<void>;
}

export async function tellStory(hosts: ThreeHosts, { say, ordered: onOrdered }: Listener): Promise<Told> {
  const { shop, broker, workshop } = hosts;
  const ordered = await startOrder(shop);
  say('The shop starts a run, and calls the broker over MCP, which calls the workshop over A2A.');

  const question = await firstQuestion(shop.client);
  say('The workshop has a question. It is in the inbox of the shop:');
  say(`  ${question.title}`);
  await shop.client.runs.answer(ordered, question.interruptId, { answers: { answer: { answer: 'oak' } } });
  const { status } = await shop.client.runs.wait(ordered);
  say(`The shop answers "oak", and the run is ${status}.`);

  const brokered = await remoteOf(shop.client, ordered);
  const built = await remoteOf(broker.client, brokered);
  const runs = { shop: ordered, broker: brokered, workshop: built };
  say('One trace on three hosts:');
  for (const [{ client, hostId }, runId] of pairs(hosts, runs)) {
    const { parent } = await client.runs.ancestry(runId);
    const above = parent === null ? '' : `, for a run of ${parent.hostId} (${parent.cause})`;
    say(`  ${await traceOf(client, runId)} on ${hostId}${above}`);
  }

  const last = (await eventsOf(workshop.client, built)).length - 1;
  say(`Why did the last event of the workshop happen? cairn why RUN ${last} --hosts hosts.json`);
  for (const line of (await why(hosts, built, last)).trimEnd().split('\n')) say(`  ${line}`);

  await onOrdered?.(runs);
  await broker.stop();
  await workshop.stop();
  const { runId: replay } = await shop.client.runs.fork(ordered, { mode: 'replay', fromSeq: 0 });
  const [first, again] = [await typesOf(shop.client, ordered), await typesOf(shop.client, replay)];
  const isSame = again.join() === first.join();
  say('The broker and the workshop are stopped. The shop replays its run without them:');
  say(`  ${again.length} events, ${isSame ? 'the same as before' : 'others than before'}; the last is ${again.at(-1)}`);
  return { runs, replay };
}

const pairs = ({ shop, broker, workshop }: ThreeHosts, runs: Told['runs']): readonly [RunningHost, string][] => [
  [shop, runs.shop],
  [broker, runs.broker],
  [workshop, runs.workshop],
];

/** As a request of a customer, which has a trace already. */
async function startOrder({ url, key }: RunningHost): Promise<string> {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ workflowId: 'sell' }),
  });
  const { runId } = JSON.parse(await response.text());
  return runId;
}

interface Question {
  readonly runId: string;
  readonly interruptId: string;
  readonly title: string;
}

async function firstQuestion(client: Client): Promise<Question> {
  for await (const change of client.inbox.watch()) {
    if (change.type !== 'added') continue;
    const { runId, interruptId, title } = change.entry;
    return { runId, interruptId, title: title ?? '' };
  }
  throw new Error('The inbox ended.');
}

/** The events of a run, once it has ended. */
async function eventsOf(client: Client, runId: string): Promise<readonly EventDoc[]> {
  const events: EventDoc[] = [];
  for await (const event of client.follow(runId)) events.push(event);
  return events;
}

const typesOf = async (client: Client, runId: string) => (await eventsOf(client, runId)).map(({ type }) => type);

/** The run on the next host that a run called, as the result of the call names it. */
async function remoteOf(client: Client, runId: string): Promise<string> {
  for (const { type, payload } of await eventsOf(client, runId)) {
    if (type !== 'agent.toolReturned') continue;
    const { remote } = payload as { readonly remote?: { readonly runId?: string } };
    if (remote?.runId !== undefined) return remote.runId;
  }
  throw new Error(`The run ${runId} called no other host.`);
}

async function traceOf(client: Client, runId: string): Promise<string> {
  const [first] = await eventsOf(client, runId);
  const { traceparent = '' } = (first?.payload ?? {}) as { readonly traceparent?: string };
  return traceparent.split('-')[1] ?? '';
}

/** The `cairn` command that npm installed. */
const CAIRN = join(import.meta.dirname, '../../node_modules/.bin/cairn');

/** The command of the terminal, with the keys of its user on each host. */
async function why({ shop, broker, workshop }: ThreeHosts, runId: string, sequence: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-why-'));
  const file = join(folder, 'hosts.json');
  const named = { SHOP_KEY: shop, BROKER_KEY: broker };
  const listed = Object.entries(named).map(([keyEnv, { hostId, url }]) => [hostId, { url, keyEnv }]);
  await writeFile(file, JSON.stringify(Object.fromEntries(listed)));
  const env = { ...process.env, CAIRN_KEY: workshop.key, SHOP_KEY: shop.key, BROKER_KEY: broker.key };
  const typed = [CAIRN, 'why', runId, String(sequence), '--url', workshop.url, '--hosts', file];
  const { stdout } = await promisify(execFile)(process.execPath, typed, { env });
  await rm(folder, { recursive: true, force: true });
  return stdout;
}
