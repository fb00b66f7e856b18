/**
 * The heap of a host. With many gigabytes of memory, V8 lets garbage grow to several times the live data and frees it in
 * one pause: large events then stop everybody for 60 ms. In a smaller heap it frees less at a time, more often. The rest of
 * the process takes about 300 MB, so that all of it stays below a gigabyte.
 */
import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const MAX_MB = 640;

/**
 * Flags for the Node process of a host. A smaller old space alone would shrink the new space, which costs CPU: what runs and
 * requests hold then survives, and goes to the old space. With 16 MB instead of 32, a ten-step run took 1 to 15 % more CPU with
 * 16 clients and 22 to 46 % more with 64 (warm hosts in turns, four times), and under attack pauses were not shorter: the
 * longest come from the old space.
 *
 * Where objects often survive, V8 makes the next ones in the old space at once. Those of a call are garbage soon, and keep
 * alive what they refer to until the next full collection. Without that, and with maps that let go of their entries
 * (`src/passing-map.ts`), an A2A message took 16 and 23 % less CPU of the main thread, and an MCP call 22 and 27 %: two runs
 * with 16 calls at a time, old and new in turns.
 */
export const hostHeapFlags = [
  `--max-old-space-size=${MAX_MB}`,
  '--max-semi-space-size=32',
  `--v8-pool-size=${collectors(availableParallelism())}`,
  '--no-allocation-site-pretenuring',
];

/**
 * Threads that collect garbage beside the main thread. Node starts four on any machine. On two cores they take the core of
 * the main thread, which then waits for up to 20 ms in the middle of a turn: one is left out for it.
 */
export function collectors(cores) {
  return Math.min(4, Math.max(1, cores - 1));
}

/** Whether these arguments start a host. */
export const startsHost = (args = process.argv.slice(2)) => ['start', 'dev'].includes(args[0]);

const isHeapFlag = (flag) =>
  /--(max[-_](old|semi)[-_]space|v8[-_]pool)[-_]size|--no[-_]allocation[-_]site[-_]pretenuring/.test(flag);

/** The flags that this command needs and does not have. Flags of the user win, and so does a machine with less memory. */
export function missingHeapFlags({
  args = process.argv.slice(2),
  nodeFlags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''],
  heapBytes = getHeapStatistics().heap_size_limit,
} = {}) {
  const needs = startsHost(args) && heapBytes > MAX_MB * 1_048_576;
  return needs && !nodeFlags.some(isHeapFlag) ? hostHeapFlags : [];
}
