import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Listener } from './conversation.ts';
import { Context } from './conversation-rows.kit.ts';

test('a fold that has gone on gives the same conversation as one that stopped at the cut', () => {
  const step = fc.record({
    run: fc.integer({ min: 0, max: 3 }),
    kind: fc.constantFrom('start', 'end', 'invoke', 'turn', 'tool'),
    group: fc.constantFrom('isolated', 'shared', 'shared:red'),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.nat(40),
      fc.constantFrom('isolated', 'shared', 'shared:red'),
      (steps, at, group) => {
        const context = new Context();
        for (const [i, { run, kind, group: theirs }] of steps.entries()) {
          const runId = `run_${run}`;
          if (kind === 'start') context.add(runId, 'run.started', { workflowId: 'w', inputs: { message: `m${i}` } });
          if (kind === 'end') context.add(runId, 'run.completed', { outputs: { content: `r${i}` } });
          if (kind === 'invoke') context.invoked(runId, 'n', `local.a.a${i % 3}`, theirs);
          if (kind === 'turn') context.turn(runId, 'n', `t${i}`);
          if (kind === 'tool') context.add(runId, 'agent.toolReturned', { toolName: 't', outcome: i }, 'n');
        }
        const cutCursor = Math.min(at, context.rows.length) + 1;
        const until = new Context();
        until.rows.push(...context.rows.slice(0, cutCursor - 1));
        const listener = { runId: 'run_0', group: group as Listener['group'], cutCursor };
        expect(context.hear(listener)).toEqual(until.hear(listener));
      },
    ),
  );
});
