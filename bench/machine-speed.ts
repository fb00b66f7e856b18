/** How fast this machine is: absolute figures of two machines can be compared only by it. */

/** About 300 bytes of JSON, as an event has. */
const event = {
  eventId: 'run_018f0000-0000-7000-8000-000000000000:12',
  runId: 'run_018f0000-0000-7000-8000-000000000000',
  type: 'node.completed',
  payload: { nodeId: 'step', outputs: { text: 'x'.repeat(120) }, durationMs: 12 },
  timestamp: '2026-01-01T00:00:00.000Z',
  sequence: 12,
};

const ROUNDS = 20;
const PER_ROUND = 4_000;

/** Events that one core reads and writes again in a millisecond, in its best round. The first rounds warm up the JIT. */
export function jsonRate(): number {
  const text = JSON.stringify(event);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    for (let i = 0; i < PER_ROUND; i++) JSON.stringify(JSON.parse(text));
    best = Math.min(best, performance.now() - begun);
  }
  return Math.round(PER_ROUND / best);
}
