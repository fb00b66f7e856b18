/** `npm run e2e:stall`: attacks a host with the data of one tenant and measures what another tenant feels. */
import { parseArgs } from 'node:util';
import { storeKind } from '../campaign-store.ts';
import { type CaseReport, campaign, type VictimNode } from './campaign.ts';
import { generatedAttacks } from './generated.ts';
import { knownAttacks } from './known-attacks.ts';
import type { Waits } from './victim-main.ts';

const usage = `Attacks a running host with one tenant's requests while another tenant asks for health, starts and delays.

  npm run e2e:stall -- [options]

  --cases N    how many generated attacks follow the fixed ones (default 200)
  --seed S     decides the generated attacks (default: fresh, printed)
  --only TEXT  only attacks whose name contains this text, or one of several with commas between them
  --store S    sqlite (default), or postgres: three nodes on a real server, one of which is attacked
  --victim N   on Postgres, the node of the other tenant: same (default) as the attacked one, or other
  --for S      begin no attack after so many seconds, and say how to go on
  --after NAME only attacks after this one
  --gap MS     the longest wait that the other tenant may feel (default 100)
  --on-cores   on Postgres, judge waits without the time in which the host was ready to go on and had no core
  --rss MB     the most memory that the host may take (default 1024)
  --list       print the names of the attacks
  --json       print one line of JSON for each attack on stdout
  --help       this text

Exit code: 0 when the host survived every attack within the bounds and each ended with a documented code, 1 when not,
2 for wrong usage. The bounds are those of a machine that does nothing else.
`;

function parse() {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: '200' },
      seed: { type: 'string' },
      only: { type: 'string', default: '' },
      store: { type: 'string', default: 'sqlite' },
      victim: { type: 'string', default: 'same' },
      for: { type: 'string' },
      after: { type: 'string' },
      gap: { type: 'string', default: '100' },
      'on-cores': { type: 'boolean', default: false },
      rss: { type: 'string', default: '1024' },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [cases, gapMs, rssMb] = [Number(values.cases), Number(values.gap), Number(values.rss)];
  if (!Number.isInteger(cases) || cases < 0)
    throw new TypeError(`--cases takes a whole number, not "${values.cases}".`);
  if (!(gapMs > 0 && rssMb > 0)) throw new TypeError('--gap and --rss take a number above 0.');
  const [store, victimNode] = [storeKind(values.store), victimNodeOf(values.victim)];
  if (store === 'sqlite' && victimNode === 'other') throw new TypeError('--victim other needs --store postgres.');
  if (store === 'sqlite' && values['on-cores']) throw new TypeError('--on-cores needs --store postgres.');
  const forMs = values.for === undefined ? Number.POSITIVE_INFINITY : Number(values.for) * 1_000;
  if (!(forMs > 0)) throw new TypeError('--for takes a number above 0.');
  return {
    ...values,
    store,
    victimNode,
    forMs,
    cases,
    bounds: { gapMs, countsCoreWaits: !values['on-cores'], rssMb },
    seed: values.seed ?? crypto.randomUUID().slice(0, 8),
  };
}

function victimNodeOf(value: string): VictimNode {
  if (value === 'same' || value === 'other') return value;
  throw new TypeError(`--victim takes same or other, not "${value}".`);
}

async function main(): Promise<number> {
  let options: ReturnType<typeof parse>;
  try {
    options = parse();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { seed, cases, only, after, bounds, json, store, victimNode, forMs } = options;
  const texts = only.split(',');
  const all = [...knownAttacks, ...generatedAttacks(seed, cases)];
  const attacks = all
    .slice(after === undefined ? 0 : all.findIndex(({ name }) => name === after) + 1)
    .filter(({ name }) => texts.some((text) => name.includes(text)));
  if (options.list) {
    process.stdout.write(attacks.map(({ name }) => `${name}\n`).join(''));
    return 0;
  }
  process.stderr.write(`seed ${seed}, ${attacks.length} attacks\n`);
  const write = (report: CaseReport) => process.stdout.write(json ? `${JSON.stringify(report)}\n` : line(report));
  const reports = await campaign({ attacks, bounds, store, victimNode, forMs, done: write });
  const broken = reports.filter(({ breaches }) => breaches.length > 0);
  const worst = Math.round(Math.max(0, ...reports.map(({ gaps }) => longest(gaps))));
  const onCores = Math.round(Math.max(0, ...reports.map(({ gaps }) => longest(gaps?.onCores))));
  process.stderr.write(
    `${reports.length} attacks, ${broken.length} broke a bound; longest wait ${worst} ms (${onCores} on cores), most memory ${Math.max(0, ...reports.map((report) => report.rssMb))} MB\n`,
  );
  const last = reports.at(-1);
  if (last !== undefined && reports.length < attacks.length)
    process.stderr.write(`${attacks.length - reports.length} are left: --seed ${seed} --after ${last.name}\n`);
  return broken.length === 0 ? 0 : 1;
}

const longest = (waits: Waits | null | undefined): number =>
  waits ? Math.max(waits.healthMs, waits.startMs, waits.delayMs) : 0;

function line(report: CaseReport): string {
  const { name, ms, rssMb, codes, breaches } = report;
  const ends = Object.entries(codes).map(([code, count]) => `${code} ${count}`);
  const head = `${breaches.length === 0 ? 'ok    ' : 'BROKEN'} ${name.padEnd(34)} ${String(ms).padStart(6)} ms`;
  const { gaps } = report;
  const withoutCore = Math.round(gaps?.withoutCoreMs ?? 0);
  const onCores = Math.round(longest(gaps?.onCores));
  const felt = `longest wait ${String(Math.round(longest(gaps))).padStart(5)} ms (${withoutCore} without a core; ${onCores} on cores), ${String(rssMb).padStart(4)} MB`;
  return `${head}  ${felt}  ${ends.join(', ')}\n${breaches.map((breach) => `         ${breach}\n`).join('')}`;
}

// Not `process.exitCode`: what starts Postgres ends a process that has nothing left to do, with 0.
process.exit(await main());
