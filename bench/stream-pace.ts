/** The pace and payload of streamed events: the same for the host and for the bare writer it is compared with. */
import { setTimeout } from 'node:timers/promises';

/** Milliseconds on the machine's monotonic clock, which all processes on the machine share. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Events, and the time at which each became visible. In the host, this is the commit time. */
export interface Emitted {
  readonly firstSeq: number;
  readonly at: readonly number[];
}

export const STREAM_TYPE = 'log.appended';
export const STREAM_PAYLOAD = JSON.stringify({ level: 'info', message: 'x'.repeat(160), nodeId: 'gate' });

/** Calls `emit` at a steady pace. A slow machine emits overdue events immediately, as a real program would. */
export async function paced(count: number, everyMs: number, emit: () => void): Promise<void> {
  const begin = machineMs();
  for (let made = 0; made < count; ) {
    const due = Math.min(count, Math.floor((machineMs() - begin) / everyMs) + 1);
    for (; made < due; made++) emit();
    if (made < count) await setTimeout(Math.max(1, begin + made * everyMs - machineMs()));
  }
}
