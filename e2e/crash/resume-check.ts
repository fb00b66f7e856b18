/** Once more from the middle: each run's stream, resumed at a random place, gives exactly the rest of what was seen. */
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { Wire } from './wire.ts';
import type { Witness } from './witness.ts';

export async function checkResumes(witness: Witness, wire: Wire, random: Random): Promise<void> {
  for (const { runId, events, ended } of witness.runs) {
    if (runId === null || ended === null) continue;
    const after = random.between(-1, events.length - 1);
    const rest: string[] = [];
    for await (const message of wire.stream(runId, after)) rest.push(message.data);
    if (JSON.stringify(rest) === JSON.stringify(events.slice(after + 1))) continue;
    witness.complain('a resumed stream has no gap and no repeat', {
      runId,
      after,
      expected: events.length,
      got: rest.length,
    });
  }
}
