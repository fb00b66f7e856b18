/**
 * The victim: a process of its own that asks for the host's health, starts a run and waits for a delay every 50 ms.
 * It reports the longest time of each to its parent and begins anew.
 */
import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { CoreWaits } from './core-waits.ts';
import { VICTIM_KEY } from './tenants.ts';
import { OwnPauses, Wire } from './victim-wire.ts';

/** The longest waits. */
export interface Waits {
  /** For an answer of `/healthz`. */
  readonly healthMs: number;
  /** For the start of a run. */
  readonly startMs: number;
  /** The lateness of a run that waits for 20 ms, from its start to its last event. */
  readonly delayMs: number;
}

export interface Gaps extends Waits {
  /** Of the longest of all, the time in which the host's event loop was ready to go on and had no core. */
  readonly withoutCoreMs: number;
  /** The longest of each without such time. */
  readonly onCores: Waits;
  readonly probes: number;
  /** Probes that got no answer or a wrong one, with the first reason. */
  readonly failed: number;
  readonly reason: string | null;
}

const EVERY_MS = 50;
const DELAY_MS = 20;
/** Probes of one kind that may be unanswered at a time. Their age counts when the parent asks. */
const MAX_PENDING = 40;

try {
  setPriority(-10);
} catch {
  // Without the right to a higher priority the victim measures its own waits for a core as well; it subtracts them.
}

type Kind = 'healthMs' | 'startMs' | 'delayMs';

const wire = new Wire(process.argv[2] ?? '', VICTIM_KEY);
const pauses = new OwnPauses();
const host = new CoreWaits(Number(process.argv[3]));
const pending = { healthMs: new Set<number>(), startMs: new Set<number>(), delayMs: new Set<number>() };
const none: Waits = { healthMs: 0, startMs: 0, delayMs: 0 };
let longest = { ...none };
let onCores = { ...none };
let withoutCoreMs = 0;
let [probes, failed] = [0, 0];
let reason: string | null = null;

function note(kind: Kind, begin: number): void {
  const expected = kind === 'delayMs' ? DELAY_MS : 0;
  const now = performance.now();
  const waited = now - begin - pauses.within(begin, now) - expected;
  const withoutCore = host.within(begin, now);
  if (waited > Math.max(longest.healthMs, longest.startMs, longest.delayMs)) withoutCoreMs = withoutCore;
  longest[kind] = Math.max(longest[kind], waited);
  onCores[kind] = Math.max(onCores[kind], waited - withoutCore);
}

async function probe(kind: Kind, ask: () => Promise<void>): Promise<void> {
  if (pending[kind].size >= MAX_PENDING) return;
  const begin = performance.now();
  pending[kind].add(begin);
  try {
    await ask();
    note(kind, begin);
  } catch (error) {
    failed += 1;
    reason ??= `${kind.slice(0, -2)}: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    probes += 1;
    pending[kind].delete(begin);
  }
}

await wire.register('victim-quick', { id: 'only', typeId: 'core.noop', config: {} });
await wire.register('victim-delay', { id: 'wait', typeId: 'core.delay', config: { delayMs: DELAY_MS } });
setInterval(() => {
  void probe('healthMs', () => wire.health());
  void probe('startMs', async () => void (await wire.start('victim-quick')));
  void probe('delayMs', async () => wire.ended(await wire.start('victim-delay')));
}, EVERY_MS);

process.on('message', () => {
  for (const kind of ['healthMs', 'startMs', 'delayMs'] as const) for (const begin of pending[kind]) note(kind, begin);
  process.send?.({ ...longest, withoutCoreMs, onCores, probes, failed, reason } satisfies Gaps);
  [longest, onCores] = [{ ...none }, { ...none }];
  [withoutCoreMs, probes, failed, reason] = [0, 0, 0, null];
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
