/** Three hosts on loopback: A calls B over MCP, B calls C over A2A. The example tells it, and its page shows it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningHost, startThreeHosts, type ThreeHosts } from '../../examples/three-hosts/hosts.ts';
import { type Told, TRACE_ID, tellStory } from '../../examples/three-hosts/story.ts';
import { pattern } from '../pages/page-reader.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'examples/three-hosts/README.md'), 'utf8');
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';

interface Event {
  readonly eventId: string;
  readonly type: string;
  readonly payload: JsonObject;
  readonly causationId?: string;
}

let hosts: ThreeHosts;
let told: Told;
let said = '';
/** The events of each run, read before its host is stopped. */
let events: { readonly [Name in keyof Told['runs']]: readonly Event[] };

const eventsOf = async ({ url, key }: RunningHost, runId: string): Promise<readonly Event[]> => {
  const response = await fetch(`${url}/v1/runs/${runId}/events`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { readonly events: readonly Event[] }).events;
};

beforeAll(async () => {
  hosts = await startThreeHosts();
  const { shop, broker, workshop } = hosts;
  told = await tellStory(hosts, {
    say: (line) => {
      said += `${line}\n`;
    },
    ordered: async (runs) => {
      events = {
        shop: await eventsOf(shop, runs.shop),
        broker: await eventsOf(broker, runs.broker),
        workshop: await eventsOf(workshop, runs.workshop),
      };
    },
  });
});
afterAll(() => hosts.close());

const of = (list: readonly Event[], type: string): Event => {
  const found = list.find((event) => event.type === type);
  if (found === undefined) throw new Error(`There is no ${type}.`);
  return found;
};

test('the example prints what its page shows, and the page shows the command that runs it', () => {
  expect(said).toMatch(pattern(block('text')));
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: JsonObject };
  const name = /^npm run (\S+)\n$/.exec(block('sh'))?.[1] ?? '';
  expect(scripts[name]).toBe('node --conditions=@cairn/source examples/three-hosts/start.ts');
});

test('all three runs are in one trace, each call a span of its own', () => {
  const contexts = Object.values(events).map((list) => String(of(list, 'run.started').payload.traceparent));
  expect(contexts.map((context) => context.split('-')[1])).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
  expect(new Set(contexts.map((context) => context.split('-')[2])).size).toBe(3);
});

test('causes are recorded both ways: the call names its caller, the result the run behind it', () => {
  const { shop, broker, workshop } = events;
  for (const [above, below, hostId] of [
    [shop, broker, hosts.shop.hostId],
    [broker, workshop, hosts.broker.hostId],
  ] as const) {
    const started = of(below, 'run.started');
    expect(started.causationId).toBe(of(above, 'agent.toolCalled').eventId);
    expect(started.payload.causationHostId).toBe(hostId);
    const last = below.at(-1);
    const hostIdBelow = below === broker ? hosts.broker.hostId : hosts.workshop.hostId;
    expect(of(above, 'agent.toolReturned').payload.remote).toEqual({
      runId: last?.eventId.split(':')[0],
      hostId: hostIdBelow,
      eventId: last?.eventId,
    });
  }
});

test('why leads from the last event of C to the first of A', () => {
  const places = [...said.matchAll(/^ {2}(run_\S+) {2}on (\S+)$/gm)].map(([, runId, hostId]) => [runId, hostId]);
  expect(places).toEqual([
    [told.runs.workshop, hosts.workshop.hostId],
    [told.runs.broker, hosts.broker.hostId],
    [told.runs.shop, hosts.shop.hostId],
  ]);
});

test('the question of C is answered on A, and reaches C as the answer of its peer', () => {
  expect(of(events.workshop, 'interrupt.resolved').payload).toMatchObject({
    resumeValue: { answers: { wood: 'oak' } },
    resolvedBy: 'broker',
  });
  // On A it is the answer of its user.
  expect(of(events.shop, 'interrupt.resolved').payload.resolvedBy).toBe('ada');
});

test('a replay of the run of A contacts nobody: B and C are stopped', async () => {
  await expect(fetch(hosts.broker.url)).rejects.toThrow();
  const replayed = await eventsOf(hosts.shop, told.replay);
  expect(replayed.map(({ type }) => type)).toEqual(events.shop.map(({ type }) => type));
  expect(replayed.at(-1)?.type).toBe('run.completed');
});
