/** Builds a run's events, fixed and random, for the tests of spans and metrics; not shipped. */
import { type FoldEvent, isJsonObject, type Json, type JsonObject, type RunId, typedEvent } from '@cairn/protocol';
import fc from 'fast-check';

export const someRun = 'run_some' as RunId;
export const START_AT = 1_700_000_000_000;

/** One event: its type, its payload, and the ms since the previous event. */
export type Said = readonly [type: string, payload?: Json, gapMs?: number];

export function eventsOf(said: readonly Said[]): FoldEvent[] {
  let at = START_AT;
  return said.map(([type, payload = {}, gapMs = 0], seq) => {
    at += gapMs;
    const nodeId = isJsonObject(payload) && typeof payload.nodeId === 'string' ? payload.nodeId : undefined;
    return typedEvent({ seq, at, type, payload, nodeId });
  });
}

export const started = (more: JsonObject = {}): Said => [
  'run.started',
  { workflowId: 'wf', owner: { tenant: 't', principal: 'ann' }, ...more },
];

export const nodeStarted = (nodeId: string, attempt = 0, gapMs = 0): Said => [
  'node.started',
  { nodeId, typeId: `type.${nodeId}`, attempt, inputs: { text: CANARY } },
  gapMs,
];

/** Stands for run data, which no span or metric may show. */
export const CANARY = 'c4n4ry';

const error = { code: 'node_timeout', message: `slow ${CANARY}` };

/** One event of any kind about a few nodes, calls and interrupts, in any order, legal or not. */
const anySaid: fc.Arbitrary<Said> = fc
  .record({
    kind: fc.nat(15),
    nodeId: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
    id: fc.constantFrom('x', 'y', '__proto__'),
    attempt: fc.nat(3),
    gap: fc.nat(40),
  })
  .map(({ kind, nodeId, id, attempt, gap }): Said => {
    const said: readonly Said[] = [
      nodeStarted(nodeId, attempt),
      nodeStarted(nodeId, attempt),
      ['node.completed', { nodeId, outputs: { text: CANARY } }],
      ['node.failed', { nodeId, error }],
      ['node.skipped', { nodeId }],
      ['node.cancelled', { nodeId, reason: CANARY }],
      ['node.retried', { nodeId, attempt: attempt + 1, lastError: error }],
      ['interrupt.requested', { nodeId, interruptId: id, kind: 'approval', key: 'k', data: { title: CANARY } }],
      ['interrupt.resolved', { nodeId, interruptId: id, resumeValue: CANARY }],
      ['cairn.step.requested', { nodeId, callId: id, step: 'shop.charge', attempt: 1, safety: 'read' }],
      ['cairn.step.returned', { nodeId, callId: id, attempt: 1, outcome: { text: CANARY } }],
      ['cairn.step.returned', { nodeId, callId: id, attempt: 1, error }],
      ['cap.breached', { kind: 'node-executions', limit: 3, observed: 4, nodeId }],
      ['provider.usage', { nodeId, provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, costEstimateUsd: 0.5 }],
      ['variable.changed', { name: 'v', next: CANARY }],
      ['later.version.said', [null, CANARY]],
    ];
    const [type, payload] = said[kind] as Said;
    return [type, payload ?? {}, gap];
  });

/** Whole histories, from `run.started` to an end. The events between need not be legal. */
export const anyHistory: fc.Arbitrary<readonly FoldEvent[]> = fc
  .tuple(fc.array(anySaid, { maxLength: 60 }), fc.constantFrom('run.completed', 'run.failed', 'run.cancelled'))
  .map(([said, end]) => eventsOf([started(), ...said, [end, { error, outputs: { text: CANARY } }, 5]]));
