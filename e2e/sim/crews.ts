/** Generates supervisors with workers: what they decide, and how a dispatch node carries it out. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Random } from '../../packages/host/test/kit/random.ts';

export interface DrawnCrew {
  readonly supervisor: JsonObject;
  readonly dispatch: JsonObject;
}

/** A workflow that does not exist. */
const NOWHERE = 'wf-nowhere';

/** `below`: workflows that may be dispatched. */
export function drawCrew(random: Random, below: readonly string[]): DrawnCrew {
  const plan = Array.from({ length: random.between(1, 3) }, () => drawDecision(random, below));
  return { supervisor: { mockDispatchPlan: plan }, dispatch: drawDispatch(random) };
}

function drawDecision(random: Random, below: readonly string[]): Json {
  if (random.chance(0.1)) return { kind: 'ask-user', prompt: 'Which way?' };
  const confidence = random.chance(0.2) ? { confidence: random.pick([0.3, 0.5, 0.9]) } : {};
  if (random.chance(0.1)) return { kind: 'terminate', reason: 'goal-reached', ...confidence };
  const nextWorkerIds = Array.from({ length: random.between(1, 3) }, () =>
    random.chance(0.05) ? NOWHERE : random.pick(below),
  );
  return { kind: 'next-worker', nextWorkerIds, ...confidence };
}

function drawDispatch(random: Random): JsonObject {
  const order = random.pick<JsonObject>([
    { fanOutPolicy: 'sequential', onChildFailure: 'absorb' },
    { onChildFailure: 'fail-parent' },
    { fanOutPolicy: 'parallel', joinPolicy: 'all' },
    { fanOutPolicy: 'parallel', joinPolicy: 'any' },
    { fanOutPolicy: 'parallel', joinPolicy: 'settled' },
    { fanOutPolicy: 'parallel', joinPolicy: 'settled' },
  ]);
  return {
    ...order,
    askUserRouting: 'clarification',
    inputMapping: { count: 'count' },
    outputMapping: { count: 'count', text: 'text' },
    ...(random.chance(0.2) ? { iterationCap: random.between(1, 3) } : {}),
  };
}
