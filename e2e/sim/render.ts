/** Renders a broken guarantee as text: what, where, the trace, and the command that reproduces it. */
import { inspect } from 'node:util';
import type { WorldResult } from './world.ts';

const replayCommand = (seed: number, steps: number): string => `npm run sim -- --seed ${seed} --steps ${steps} --trace`;

/** Returns null when the seed broke no guarantee. `steps` is the requested number, so that the command repeats it. */
export function renderBreach({ breach, seed, trace }: WorldResult, steps: number): string | null {
  if (breach === null) return null;
  return [
    `seed ${seed} broke at step ${breach.step}: ${breach.invariant}`,
    inspect(breach.facts, { depth: 8, breakLength: 120 }),
    'last lines of the trace:',
    ...breach.last,
    `trace ${trace}`,
    `replay: ${replayCommand(seed, steps)}`,
  ].join('\n');
}
