/**
 * Records the log of one checkout, as JSON lines on stdout. Runs as a separate process and imports the given checkout
 * by path, so that one recorder reads old and new code.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { objects } from '../../packages/host/test/kit/json-fields.ts';
import type { Fixture, openwopData as OpenwopData } from '../openwop/openwop-data.ts';
import type { Scenario, Scenarios } from '../openwop/scenario.ts';
import type { Reply, WireHost } from '../openwop/wire-host.ts';
import type { wireSchemas as WireSchemas } from '../openwop/wire-schemas.ts';
import type { simulate as Simulate } from '../sim/world.ts';
import { normalise, type Recorded, type RecordedEvent } from './normalise.ts';
import { recordPacks } from './record-packs.ts';

const [, , checkout = '', part = '', ...range] = process.argv;

const load = <Module>(path: string): Promise<Module> => import(pathToFileURL(join(checkout, path)).href);

const say = (recorded: Recorded): void => void process.stdout.write(`${JSON.stringify(recorded)}\n`);

/** Every row of a seed with its chained hash, which covers all columns and both bodies. */
async function recordSeeds(from: number, to: number): Promise<void> {
  const { simulate } = await load<{ simulate: typeof Simulate }>('e2e/sim/world.ts');
  for (let seed = from; seed <= to; seed += 1) {
    const lines: string[] = [];
    const sink = (line: string): void => {
      const text = line.trimStart().replace(/^\d+ +/, '');
      if (text.startsWith('row ')) lines.push(text);
    };
    const { breach } = await simulate({ seed, steps: 300, sink });
    say({ name: `seed ${seed}`, lines: breach === null ? lines : [...lines, 'a promise was broken'] });
  }
}

/** Plays the published fixtures over HTTP, each scenario on its own host, then records every event of every run. */
async function recordScenarios(): Promise<void> {
  const { openwopData } = await load<{ openwopData: typeof OpenwopData }>('e2e/openwop/openwop-data.ts');
  const { wireSchemas } = await load<{ wireSchemas: typeof WireSchemas }>('e2e/openwop/wire-schemas.ts');
  const { WireHost: Host } = await load<{ WireHost: typeof WireHost }>('e2e/openwop/wire-host.ts');
  const data = openwopData();
  if (data === null) throw new Error(`The OpenWOP fixtures are not beside ${checkout}.`);
  for (const [id, scenarios] of await scenariosOf()) {
    const fixture = data.fixtures.get(id);
    if (fixture === undefined) continue;
    for (const scenario of scenarios) {
      const play = () => played(scenario, fixture, () => Host.open(wireSchemas(data)));
      let lines = await play();
      // Scenarios wait for real time. A failure on a busy machine says nothing about the log, so it is retried.
      for (let again = 0; again < 2 && lines[0]?.startsWith(FAILED); again += 1) lines = await play();
      say({ name: `${id}: ${scenario.name}`, lines });
    }
  }
}

const FAILED = 'the scenario failed';

async function played(scenario: Scenario, fixture: Fixture, open: () => Promise<WireHost>): Promise<readonly string[]> {
  await using host = await open();
  await host.register(fixture);
  const failure = await scenario.run(host).then(
    () => null,
    (error: unknown) => String(error),
  );
  const runs = normalise(await recordedRuns(host));
  return failure === null ? runs : [`${FAILED}: ${failure}`, ...runs];
}

async function scenariosOf(): Promise<readonly (readonly [string, readonly Scenario[]])[]> {
  const files = (await readdir(join(checkout, 'e2e/openwop'))).filter((file) => file.endsWith('-scenarios.ts')).sort();
  const modules = await Promise.all(files.map((file) => load<Record<string, Scenarios>>(`e2e/openwop/${file}`)));
  return modules.flatMap((module) => Object.values(module).flatMap((table) => Object.entries(table)));
}

/** Oldest first: runs are listed newest first. */
async function recordedRuns(host: WireHost): Promise<readonly (readonly RecordedEvent[])[]> {
  const listed: string[] = [];
  let cursor: unknown = null;
  do {
    const query: string = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { body }: Reply = await host.call('GET', `/v1/runs?limit=100${query}`);
    for (const { runId } of objects(body.runs)) listed.push(String(runId));
    cursor = body.nextCursor;
  } while (typeof cursor === 'string');
  const runs: (readonly RecordedEvent[])[] = [];
  for (const runId of listed.reverse()) {
    const { body } = await host.call('GET', `/v1/runs/${runId}/events`);
    runs.push(objects(body.events).map((event) => ({ ...event, type: String(event.type) })));
  }
  return runs;
}

switch (part) {
  case 'seeds':
    await recordSeeds(Number(range[0]), Number(range[1]));
    break;
  case 'scenarios':
    await recordScenarios();
    break;
  case 'packs':
    await recordPacks(checkout, load, say);
    break;
  default:
    throw new Error(`There is nothing to record by the name of "${part}".`);
}
process.exit(0);
