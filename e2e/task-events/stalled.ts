/** One reader of a context stalls beside a fast one: the fast one is as fast as alone, and nobody loses anything. */
import type { Breach } from '../crash/breach.ts';
import { aloneMs, type StalledResult, stalledCampaign, taskView } from '../streams/stalled.ts';

export interface StalledTasks extends StalledResult {
  /** Milliseconds that the fast reader takes alone. */
  readonly aloneMs: number;
  readonly breaches: readonly Breach[];
}

const MEGABYTE = 1_048_576;
/** A shared machine is not steadier than this. */
const SLOWER = 1.5;

/** With bounds of time, which assume an idle machine. */
export async function stalledTasks(events: number): Promise<StalledTasks> {
  const alone = await aloneMs(events, taskView);
  const stalled = await stalledCampaign(events, taskView);
  const { besideMs, early, late, awake } = stalled;
  const breaches: Breach[] = [];
  if (besideMs > SLOWER * alone)
    breaches.push({ promise: 'a stalled reader costs the fast one nothing', facts: { alone, besideMs } });
  if (late - early > 8 * MEGABYTE)
    breaches.push({ promise: 'a stalled reader costs the host no memory', facts: { early, late } });
  if (awake < events) breaches.push({ promise: 'a stalled reader gets everything once it wakes', facts: { awake } });
  return { ...stalled, aloneMs: alone, breaches };
}
