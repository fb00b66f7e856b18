/** Formats times and durations for people. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "502 ms", "1.2 s", "3 min 4 s", "2 h 5 min", "4 d 1 h". */
export function span(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < HOUR) return two(ms, [MINUTE, 'min'], [SECOND, 's']);
  if (ms < DAY) return two(ms, [HOUR, 'h'], [MINUTE, 'min']);
  return two(ms, [DAY, 'd'], [HOUR, 'h']);
}

type Unit = readonly [size: number, name: string];

function two(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** "just now", "12 s ago", "3 min ago", "5 h ago", "2 d ago"; the date when it is a month old. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < 2 * SECOND) return 'just now';
  if (passed > 30 * DAY) return new Date(at).toISOString().slice(0, 10);
  for (const [size, name] of [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
  ] as const) {
    if (passed >= size) return `${Math.floor(passed / size)} ${name} ago`;
  }
  return `${Math.floor(passed / SECOND)} s ago`;
}
