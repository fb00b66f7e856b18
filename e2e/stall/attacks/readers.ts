/** Readers of large runs: fast ones, many, and ones that never read. */
import type { Attack } from '../attack.ts';
import { chain } from '../attack.ts';
import type { Attacker } from '../attacker.ts';
import { blobNode } from './values.ts';

/** A run with 150 results of 200 kB. Null when the host refuses it. */
async function largeRun(attacker: Attacker): Promise<string | null> {
  if (!(await attacker.register('large', chain(Array.from({ length: 150 }, (_, i) => blobNode(i, 200)))))) return null;
  const runId = await attacker.start('large');
  await attacker.ended(runId);
  return runId;
}

const sse = 'Accept: text/event-stream';
const settleMs = 3_000;

/** Each of these, below a run, can be large. */
export const readable = [
  { path: '', headers: [] },
  { path: '/events', headers: [sse] },
  { path: '/events?streamMode=values', headers: [sse] },
  { path: '/events?streamMode=debug', headers: [sse] },
  { path: '/events?streamMode=updates,messages', headers: [sse] },
  { path: '/events', headers: ['Accept: application/json'] },
  { path: '/events/poll?lastSequence=0&timeout=1', headers: [] },
  { path: '/debug-bundle', headers: [] },
] as const;

export const unreadAttack = (name: string, which: (typeof readable)[number], count: number): Attack => ({
  name,
  async run(attacker) {
    const runId = await largeRun(attacker);
    if (runId === null) return;
    await attacker.unread(count, attacker.request(`/v1/runs/${runId}${which.path}`, which.headers));
    await attacker.quiet(settleMs);
  },
});

export const readerAttacks: readonly Attack[] = [
  {
    name: 'readers-1-of-large-events',
    async run(attacker) {
      const runId = await largeRun(attacker);
      if (runId !== null) await attacker.drain(`/v1/runs/${runId}/events`, { accept: 'text/event-stream' });
    },
  },
  {
    name: 'readers-20-of-large-events',
    async run(attacker) {
      const runId = await largeRun(attacker);
      if (runId === null) return;
      const read = () => attacker.drain(`/v1/runs/${runId}/events`, { accept: 'text/event-stream' });
      await Promise.all(Array.from({ length: 20 }, read));
    },
  },
  {
    name: 'reader-of-values',
    async run(attacker) {
      const runId = await largeRun(attacker);
      if (runId === null) return;
      const bytes = await attacker.drain(`/v1/runs/${runId}/events?streamMode=values`, { accept: 'text/event-stream' });
      if (bytes > 120_000_000) attacker.fault(`values of a run of 30 MB took ${Math.round(bytes / 1e6)} MB`);
    },
  },
  ...readable.map((which) =>
    unreadAttack(`unread-20${which.path}${which.headers.join()}`.replace(/\W+/g, '-'), which, 20),
  ),
  unreadAttack('unread-snapshots-40', readable[0], 40),
];
