/** `npm run e2e:streams`: the stream proofs at full size, with figures. Exits with 1 when one fails. */
import { parseArgs } from 'node:util';
import { type ChaosWish, chaosCampaign } from './chaos.ts';
import { aloneMs, stalledCampaign } from './stalled.ts';

const usage = `Stalls a reader of a stream beside another one, then cuts the connections of readers at random bytes.

  npm run e2e:streams -- [options]

  --events N   how many events a run has beside the stalled reader (default 200000)
  --cuts N     how often each reader is cut off (default 2000)
  --seed S     decides the bytes (default: fresh, printed)
  --help       this text

Exit code: 0 when every reader got every event once and in order, and the stalled one slowed nobody; 1 when not; 2 for
wrong usage. The bound of time is that of a machine that does nothing else.
`;

function parse() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      events: { type: 'string', default: '200000' },
      cuts: { type: 'string', default: '2000' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const whole = (name: 'seed' | 'events' | 'cuts'): number => {
    const number = Number(values[name]);
    if (Number.isSafeInteger(number) && number >= 0) return number;
    throw new TypeError(`--${name} takes a whole number, not "${values[name]}".`);
  };
  return { help: values.help, seed: whole('seed'), events: whole('events'), cuts: whole('cuts') };
}

function parsed(): ReturnType<typeof parse> {
  try {
    const values = parse();
    if (!values.help) return values;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const { seed, events, cuts } = parsed();
process.stdout.write(`seed ${seed}\n`);

const alone = await aloneMs(events);
const stalled = await stalledCampaign(events);
const megabytes = (bytes: number) => (bytes / 1_048_576).toFixed(1);
process.stdout.write(
  `${stalled.events} events: alone ${Math.round(alone)} ms, beside a stalled reader ${Math.round(stalled.besideMs)} ms; ` +
    `memory ${megabytes(stalled.early)} MB at a quarter, ${megabytes(stalled.late)} MB at the end; ` +
    `the stalled one had ${stalled.asleep} frames asleep, ${stalled.awake} awake\n`,
);

const readers: readonly ChaosWish['reader'][] = [
  'client',
  { query: '?streamMode=debug' },
  { query: '?streamMode=updates' },
  { query: '?streamMode=debug&bufferMs=1' },
];
// Assumes an idle machine. A busy one may need a second attempt.
let failed = stalled.besideMs > 1.5 * alone ? 1 : 0;
for (const reader of readers) {
  const begin = performance.now();
  const result = await chaosCampaign({ seed, cuts, reader });
  const isExact = JSON.stringify(result.seen) === JSON.stringify(result.expected);
  if (!isExact) failed += 1;
  const name = reader === 'client' ? 'the client' : `a bare reader of ${reader.query}`;
  process.stdout.write(
    `${result.cuts} cuts, ${result.connections} connections, ${name}: ${result.seen.length} of ${result.expected.length} events, ` +
      `${isExact ? 'none missing, none twice' : 'NOT what the log has'}, ${Math.round(performance.now() - begin)} ms\n`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;
