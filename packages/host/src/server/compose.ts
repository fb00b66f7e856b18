/**
 * The system implementations of the ports: clock, ids, hashes, timers, and the log on stderr. Only this file creates
 * them.
 */
import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { monitorEventLoopDelay, performance as nodePerformance } from 'node:perf_hooks';
import { isCairnError } from '@cairn/protocol';
import { type DestinationStream, destination, pino } from 'pino';
import { operatorEvents } from '../engine/operator-events.ts';
import type { Clock, EventLoop, Report, Sha256, Timers, UniqueId } from '../engine/ports.ts';
import { escapeText } from '../escape-text.ts';
import type { SampleEventLoop } from '../telemetry/event-loop.ts';
import type { RandomHex } from '../telemetry/trace-context.ts';
import { LaterTurns } from './later-turns.ts';
import type { LoopTime } from './streams/stream-pace.ts';

/** The longest delay of a Node timer. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt(at, wake) {
    let timer: NodeJS.Timeout;
    // Timers measure the delay, so that a wall clock set back does not delay the wake-up.
    const arm = (rest: number) => {
      const isFar = rest > LONGEST_TIMER_MS;
      timer = setTimeout(
        isFar ? () => arm(rest - LONGEST_TIMER_MS) : wake,
        isFar ? LONGEST_TIMER_MS : Math.max(rest, 0),
      );
    };
    arm(at - Date.now());
    return () => clearTimeout(timer);
  },
};

export const systemTimers: Timers = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

export const loopTime: LoopTime = () => nodePerformance.eventLoopUtilization();

export const elapsedMs = (): number => nodePerformance.now();

export const systemEventLoop: EventLoop = {
  elapsedMs,
  nextTurn: (go) => void setImmediate(go),
};

const turn = { count: -1, began: 0 };

/** How long the present turn of the event loop has lasted since somebody first asked in it. */
function turnMs(): number {
  const now = elapsedMs();
  const { loopCount } = nodePerformance.nodeTiming.uvMetricsInfo;
  if (loopCount !== turn.count) {
    turn.count = loopCount;
    turn.began = now;
  }
  return now - turn.began;
}

/**
 * Calls back a turn after the next one, as a part of that one: the driver of Postgres sends what is asked of it at the end
 * of a turn. Long work before that would keep each statement of the turn for as long, and its answer for another turn.
 */
function nextLongTurn(go: () => void): void {
  setImmediate(() => {
    const spent = turnMs();
    setImmediate(() => {
      turnMs();
      turn.began -= spent;
      go();
    });
  });
}

/** For work of milliseconds. Everything in this process shares its turns. */
export const laterTurns = new LaterTurns({
  elapsedMs,
  nextTurn: nextLongTurn,
  turnMs,
  // Ticks that reactions ask for come after the last of them.
  afterReactions: (go) => queueMicrotask(() => process.nextTick(go)),
});

export const sampleEventLoop: SampleEventLoop = (intervalMs) => {
  const samples = monitorEventLoopDelay({ resolution: intervalMs });
  samples.enable();
  return samples;
};

/** Random hex digits from a buffer that is filled for hundreds of calls at once. */
export function randomHexSupply(): RandomHex {
  let random = '';
  let used = 0;
  return (digits) => {
    if (used + digits > random.length) {
      random = randomBytes(8_192).toString('hex');
      used = 0;
    }
    used += digits;
    return random.slice(used - digits, used);
  };
}

export const uniqueId: UniqueId = () => randomUUIDv7();

export const sha256: Sha256 = (text, encoding) => hash('sha256', text, encoding);

/** JSON lines on stderr. Stdout carries only the line that says the host is ready. */
export const stderrReport = (): Report => reportTo(destination({ fd: 2, sync: true }));

/**
 * One line per notice: `event` is for searches, `msg` is for people. JSON escapes line breaks and most control
 * characters; the rest could still forge a line or steer a terminal that shows it.
 */
export function reportTo(output: DestinationStream): Report {
  const escaping = { write: (line: string) => output.write(escapeText(line, (one) => (one === '\n' ? one : null))) };
  const logger = pino({ base: null }, escaping);
  return ({ level, event, message = operatorEvents[event], facts, error }) => {
    const err = error === undefined ? {} : { err: errorFacts(error) };
    logger[level]({ event, ...facts, ...err }, message);
  };
}

function errorFacts(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack, cause } = error;
  const code = isCairnError(error) ? { code: error.code, hint: error.hint, details: error.details } : {};
  return { ...code, message, stack, ...(cause === undefined ? {} : { cause: errorFacts(cause) }) };
}
