/** Much work at once: loops, fan-outs, timers. */
import type { Attack } from '../attack.ts';
import { chain, fan, looped } from '../attack.ts';
import type { Attacker } from '../attacker.ts';

const noop = { id: 'body', typeId: 'core.noop' };

/** Starts `count` runs of a workflow, 20 at a time. */
export async function startMany(attacker: Attacker, workflowId: string, count: number): Promise<(string | null)[]> {
  const runs: (string | null)[] = [];
  while (runs.length < count) {
    const some = Array.from({ length: Math.min(20, count - runs.length) }, () => attacker.start(workflowId));
    runs.push(...(await Promise.all(some)));
  }
  return runs;
}

export const workAttacks: readonly Attack[] = [
  {
    name: 'loops-of-500-runs',
    async run(attacker) {
      if (!(await attacker.register('loops', looped(100_000, noop)))) return;
      const runs = await startMany(attacker, 'loops', 500);
      for (const runId of runs) await attacker.ended(runId);
    },
  },
  {
    name: 'delays-of-2000-runs',
    async run(attacker) {
      const wait = { id: 'wait', typeId: 'core.delay', config: { delayMs: 3_000 } };
      if (!(await attacker.register('delays', { nodes: [wait] }))) return;
      const runs = await startMany(attacker, 'delays', 2_000);
      for (const runId of runs.slice(-20)) await attacker.ended(runId);
    },
  },
  {
    name: 'delays-of-2000-nodes',
    run: (attacker) =>
      attacker.play(
        'delay-chain',
        chain(Array.from({ length: 990 }, (_, i) => ({ id: `d${i}`, typeId: 'core.delay', config: { delayMs: 1 } }))),
      ),
  },
  {
    name: 'fan-out-of-nodes',
    run: (attacker) =>
      attacker.play(
        'fan-nodes',
        fan(900, (i) => ({ id: `n${i}`, typeId: 'core.noop' })),
      ),
  },
  {
    name: 'fan-out-of-runs',
    async run(attacker) {
      if (!(await attacker.register('leaf', chain([noop, { id: 'next', typeId: 'core.noop' }])))) return;
      const child = (i: number) => ({ id: `c${i}`, typeId: 'core.subWorkflow', config: { workflowId: 'leaf' } });
      await attacker.play('fan-runs', fan(400, child));
    },
  },
  {
    name: 'a-run-that-starts-itself',
    async run(attacker) {
      const self = (i: number) => ({ id: `c${i}`, typeId: 'core.subWorkflow', config: { workflowId: 'self' } });
      await attacker.play('self', fan(3, self));
    },
  },
];
