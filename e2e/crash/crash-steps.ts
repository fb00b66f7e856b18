/**
 * Steps of every safety level. Each writes a journal entry before it acts, then sleeps, fails or returns its result.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Json, type JsonObject, RetryableError } from '@cairn/protocol';
import type { Step, StepContext, StepSafety } from '../../packages/host/src/index.ts';
import type { Journal } from './journal.ts';

const safeties = ['pure', 'read', 'write', 'idempotent'] as const satisfies readonly StepSafety[];

export const stepType = (safety: StepSafety): string => `crash.${safety}`;

export function crashSteps(journal: Journal): readonly Step[] {
  return safeties.map((safety) => ({
    typeId: stepType(safety),
    safety,
    async run(input: JsonObject, { runId, nodeId, callId, attempt, signal }: StepContext): Promise<Json> {
      journal.enter({ runId, nodeId, callId, attempt, safety });
      // The duration, and the number of attempts that fail before one succeeds.
      const [ms, fails] = [Number(input.ms), Number(input.fails)];
      if (ms > 0) await pause(ms, undefined, { signal });
      if (attempt <= fails) {
        throw new RetryableError('service_unavailable', {
          message: `Attempt ${attempt} of ${fails + 1} fails on purpose.`,
        });
      }
      return { callId, attempt };
    },
  }));
}
