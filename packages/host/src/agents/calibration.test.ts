/** The fold of stated confidence against verdicts. */
import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { CalibrationFold } from './calibration.ts';

type Said = readonly [type: string, payload: JsonObject, runId?: string];

function agentsAfter(...rows: readonly Said[]) {
  const fold = new CalibrationFold();
  for (const [type, payload, runId = 'run_a'] of rows) fold.take({ runId, type, payload });
  return fold.agents();
}

const decided = (confidence?: unknown, agentId = 'core.a.b'): Said => [
  'agent.decided',
  { agentId, decision: 'x', ...(confidence !== undefined && { confidence }) } as JsonObject,
];
const held = (interruptId: string, observed: number, runId = 'run_a'): Said => [
  'interrupt.requested',
  { interruptId, kind: 'low-confidence', data: { agentId: 'core.a.b', threshold: 0.7, observed } },
  runId,
];
const resolved = (interruptId: string, more: JsonObject, runId = 'run_a'): Said => [
  'interrupt.resolved',
  { interruptId, ...more },
  runId,
];
const nothing = { stated: 0, held: 0, approved: 0, edited: 0, rejected: 0, expired: 0 };

test('a stated confidence falls into its tenth; 1 into the last, and a border into the higher one', () => {
  const stated = [0, 0.05, 0.3, 0.6, 0.7, 0.99, 1].map((confidence) => decided(confidence));
  const [agent] = agentsAfter(...stated);
  expect(agent?.buckets.map(({ from, to, stated: n }) => [from, to, n])).toEqual([
    [0, 0.1, 2],
    [0.3, 0.4, 1],
    [0.6, 0.7, 1],
    [0.7, 0.8, 1],
    [0.9, 1, 2],
  ]);
  expect(agent).toMatchObject({ agentId: 'core.a.b', ...nothing, stated: 7 });
});

test('decisions without a confidence, or with one that is none, are not counted', () => {
  expect(
    agentsAfter(decided(), decided('high'), decided(null), decided(Number.NaN), decided(1.5), decided(-1)),
  ).toEqual([]);
});

test('a verdict counts for the confidence its decision was held with', () => {
  const [agent] = agentsAfter(
    decided(0.42),
    held('i1', 0.42),
    resolved('i1', { resumeValue: { action: 'approve' } }),
    held('i2', 0.42),
    resolved('i2', { resumeValue: { action: 'edit', decision: 'y' } }),
    held('i3', 0.42),
    resolved('i3', { resumeValue: { action: 'reject', final: true } }),
    held('i4', 0.42),
    resolved('i4', { outcome: 'rejected', reason: 'timeout' }),
    held('i5', 0.42),
    resolved('i5', { resumeValue: 'another decision' }),
    held('i6', 0.55),
  );
  expect(agent?.buckets).toEqual([
    { from: 0.4, to: 0.5, stated: 1, held: 5, approved: 1, edited: 2, rejected: 1, expired: 1 },
    { from: 0.5, to: 0.6, ...nothing, held: 1 },
  ]);
});

test('an answer counts once, for its own run, and other questions count nothing', () => {
  const [agent] = agentsAfter(
    held('i1', 0.4, 'run_a'),
    held('i1', 0.4, 'run_b'),
    resolved('i1', { resumeValue: { action: 'approve' } }, 'run_b'),
    resolved('i1', { resumeValue: { action: 'reject' } }, 'run_b'),
    ['interrupt.requested', { interruptId: 'i9', kind: 'approval', data: {} }],
    resolved('i9', { resumeValue: { action: 'reject' } }),
  );
  expect(agent).toMatchObject({ held: 2, approved: 1, rejected: 0 });
});

test('a run that ends unanswered leaves its decision held, and an answer out of order changes nothing', () => {
  const [agent] = agentsAfter(
    held('i1', 0.4),
    ['run.cancelled', {}],
    resolved('i1', { resumeValue: { action: 'approve' } }),
  );
  expect(agent).toMatchObject({ held: 1, approved: 0 });
});

test('agents are listed by id, each with its own figures', () => {
  const agents = agentsAfter(decided(0.9, 'core.z.z'), decided(0.8, 'core.a.a'), decided(0.8, 'constructor'));
  expect(agents.map(({ agentId, stated }) => [agentId, stated])).toEqual([
    ['constructor', 1],
    ['core.a.a', 1],
    ['core.z.z', 1],
  ]);
});
