/** Resumes each run's stream at a random position and checks that it returns exactly the remaining events. */
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { HostProcess } from './host-process.ts';
import { Wire } from './wire.ts';
import type { Witness } from './witness.ts';

/** Limit for all streams together. A stream that has not ended by then never will. */
const WITHIN_MS = 30_000;

export async function checkResumes(host: HostProcess, witness: Witness, random: Random): Promise<void> {
  const wire = new Wire(host, AbortSignal.timeout(WITHIN_MS));
  for (const { runId, events, ended } of witness.runs) {
    if (runId === null || ended === null) continue;
    const after = random.between(-1, events.length - 1);
    const rest = await readRest(wire, runId, after);
    if (JSON.stringify(rest) === JSON.stringify(events.slice(after + 1))) continue;
    const facts = { runId, after, expected: events.length - after - 1, got: rest?.length ?? 'no end' };
    witness.complain('a resumed stream has no gap and no repeat', facts);
    if (rest === null) return;
  }
}

/** Returns null when the stream did not end in time. */
async function readRest(wire: Wire, runId: string, after: number): Promise<readonly string[] | null> {
  const rest: string[] = [];
  try {
    for await (const message of wire.stream(runId, after)) rest.push(message.data);
  } catch {
    return null;
  }
  return rest;
}
