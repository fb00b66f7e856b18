/** Times as people read them: how long ago, how much longer, how long it took. */
import { useEffect, useState } from 'react';

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** One unit, rounded down: `3 m`, `2 h`. Under a second it is `0 s`. */
function shortSpan(ms: number): string {
  const [unit, name] = units.find(([size]) => ms >= size) ?? units[3];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}

/** The full time, for a title. */
const fullTime = (instant: string): string =>
  new Date(instant).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** One clock for all times on the page, so that they change together. */
const clock = { now: Date.now(), listeners: new Set<(now: number) => void>() };
let timer: ReturnType<typeof setInterval> | null = null;

function follow(listener: (now: number) => void): () => void {
  clock.listeners.add(listener);
  timer ??= setInterval(() => {
    clock.now = Date.now();
    for (const one of clock.listeners) one(clock.now);
  }, 1_000);
  return () => {
    clock.listeners.delete(listener);
    if (clock.listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => follow(setNow), []);
  return now;
}

/** How long ago something was. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time className="figure" dateTime={at} title={fullTime(at)}>
      {shortSpan(now - Date.parse(at))}
    </time>
  );
}

/** How much longer something lasts. */
export function Left({ until }: { readonly until: string }) {
  const left = Date.parse(until) - useNow();
  return (
    <time className="figure" dateTime={until} title={fullTime(until)}>
      {left <= 0 ? 'now' : `in ${shortSpan(left)}`}
    </time>
  );
}
