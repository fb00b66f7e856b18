/** What reaches beyond a program's input: globals, and imports of built-ins, each with the kind of access. As data. */
import type { World } from './room.ts';

interface GlobalRule {
  readonly world: World;
  /** Uses that are pure. Every other use counts. */
  readonly harmless?: readonly string[];
  /** Only these uses count. The bare name means passing the object on, which hides how it is used. */
  readonly only?: readonly string[];
}

/** Uses are written as in the source: `Date.now`, `new Date()`, `new Date(…)`, `instanceof Date`, or the bare name. */
export const worldGlobals: Readonly<Record<string, GlobalRule>> = {
  Date: { world: 'clock', harmless: ['new Date(…)', 'Date.parse', 'Date.UTC', 'instanceof Date'] },
  performance: { world: 'clock' },
  Temporal: { world: 'clock', only: ['Temporal.Now', 'Temporal'] },
  Math: { world: 'random', only: ['Math.random', 'Math'] },
  crypto: { world: 'random', harmless: ['crypto.subtle'] },
  setTimeout: { world: 'timer' },
  setInterval: { world: 'timer' },
  setImmediate: { world: 'timer' },
  clearTimeout: { world: 'timer' },
  clearInterval: { world: 'timer' },
  clearImmediate: { world: 'timer' },
  AbortSignal: { world: 'timer', only: ['AbortSignal.timeout', 'AbortSignal'] },
  fetch: { world: 'network' },
  WebSocket: { world: 'network' },
  EventSource: { world: 'network' },
  XMLHttpRequest: { world: 'network' },
  process: { world: 'process' },
  globalThis: { world: 'process' },
  eval: { world: 'process' },
  console: { world: 'console' },
  Buffer: { world: 'node' },
  require: { world: 'node' },
};

/** Named imports with ambient access from a built-in that a room may otherwise use. `*` is the whole module. */
export const worldImports: Readonly<Record<string, Readonly<Record<string, World>>>> = {
  'node:crypto': {
    '*': 'random',
    randomUUID: 'random',
    randomUUIDv7: 'random',
    randomBytes: 'random',
    randomInt: 'random',
    getRandomValues: 'random',
    webcrypto: 'random',
  },
  'node:perf_hooks': { '*': 'clock', performance: 'clock' },
};
