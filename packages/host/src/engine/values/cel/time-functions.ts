/** Functions of timestamps and durations. Without a time zone they read a timestamp in UTC. */
import { Duration, Failure, int, timestamp } from './cel-values.ts';
import { type Priced, priced } from './priced.ts';
import { prices } from './prices.ts';

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

export const timeFunctions = (): Readonly<Record<string, Priced>> => ({
  [`timestamp(string): ${TIMESTAMP}`]: priced(prices.time, (text: string) =>
    timestamp(text.length < 20 || text.length > 30 ? Number.NaN : Date.parse(text)),
  ),
  [`timestamp(int): ${TIMESTAMP}`]: priced(prices.time, (seconds: bigint) => timestamp(Number(seconds) * 1000)),
  [`duration(string): ${DURATION}`]: priced(10 * prices.time, durationOf),
  ...parts,
  ...Object.fromEntries(
    Object.entries(fields).flatMap(([name, read]) => [
      [`${TIMESTAMP}.${name}(): int`, priced(prices.time, (time: Date) => BigInt(read(time)))],
      [
        `${TIMESTAMP}.${name}(string): int`,
        priced(prices.zone, (time: Date, zone: string) => BigInt(read(inZone(time, zone)))),
      ],
    ]),
  ),
});

const fields: Readonly<Record<string, (time: Date) => number>> = {
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getDayOfYear: (time) => Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / 86_400_000),
  getFullYear: (time) => time.getUTCFullYear(),
  getHours: (time) => time.getUTCHours(),
  getMilliseconds: (time) => time.getUTCMilliseconds(),
  getMinutes: (time) => time.getUTCMinutes(),
  getMonth: (time) => time.getUTCMonth(),
  getSeconds: (time) => time.getUTCSeconds(),
};

const NANOS_PER_MS = 1_000_000n;
const perUnit = { Hours: 3_600_000n, Minutes: 60_000n, Seconds: 1_000n, Milliseconds: 1n };

const parts: Readonly<Record<string, Priced>> = Object.fromEntries(
  Object.entries(perUnit).map(([unit, ms]) => [
    `${DURATION}.get${unit}(): int`,
    priced(prices.number, ({ nanos }: Duration) => nanos / (NANOS_PER_MS * ms)),
  ]),
);

/** A timestamp whose fields in UTC are those of the time in the zone. */
function inZone(time: Date, timeZone: string): Date {
  if (timeZone.length > 64) throw new Failure('a time zone is unknown');
  try {
    const local = Date.parse(`${time.toLocaleString('en-US', { timeZone })} UTC`);
    return new Date(local + time.getUTCMilliseconds());
  } catch {
    throw new Failure('a time zone is unknown');
  }
}

const nanosPer: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};

/** A sequence of numbers with units, such as `1h30m` or `-1.5s`. */
function durationOf(text: string): Duration {
  const [, sign, amounts = ''] = /^([+-]?)(.{1,100})$/s.exec(text.slice(0, 102)) ?? [];
  const amount = /(\d{0,20})(?:\.(\d{0,20}))?(ns|us|µs|ms|s|m|h)/y;
  let nanos = 0n;
  do {
    const [found, whole = '', fraction = '', unit = ''] = amount.exec(amounts) ?? [];
    if (found === undefined || whole + fraction === '') throw new Failure('duration() needs a text such as "1h30m"');
    const perUnit = nanosPer[unit] ?? 0n;
    nanos += BigInt(whole) * perUnit + (BigInt(fraction) * perUnit) / 10n ** BigInt(fraction.length);
  } while (amount.lastIndex < amounts.length);
  return new Duration(int(sign === '-' ? -nanos : nanos));
}
