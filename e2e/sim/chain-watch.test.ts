import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { Complaints } from './breach.ts';
import { ChainWatch } from './chain-watch.ts';

type Said = readonly [type: string, cause: number | null, payload?: object, runId?: string];

const TOP = 'run_1';
const KID = 'run_1.0';

/** What the watch complains of first, given these rows; the seq of a row is its place. */
function complaint(...said: readonly Said[]): string | null {
  const complaints = new Complaints();
  const watch = new ChainWatch({ complain: complaints.complain, count: () => undefined });
  for (const [seq, [type, cause, payload = {}, runId = TOP]] of said.entries()) {
    watch.take({ runId: runId as RunId, seq, type, cause, payload: JSON.stringify(payload) } as Row);
  }
  return complaints.first?.invariant ?? null;
}

const link = (phase: string, cause: number, more: object = {}): Said => [
  'core.workflowChain.event',
  cause,
  { phase, workerId: 'kid', parentRunId: TOP, ...more },
];
const decided: Said = ['runOrchestrator.decided', null];
const began = link('dispatch.began', 0);
const asked: Said = ['cairn.step.requested', 1, { childRunId: KID, attempt: 1, callId: 'd#0.0/0' }];
const started: Said = ['run.started', null, {}, KID];
const succeeded = link('dispatch.succeeded', 1, { childRunId: KID });
const over: Said = ['run.completed', null, {}, KID];
const told = link('child.completed', 4, { childRunId: KID });
const harvested = link('output.harvested', 6, { childRunId: KID, harvestedKeys: ['a'] });
const whole = [decided, began, asked, started, succeeded, over, told, harvested];

test('a chain as the wire has it is fine', () => {
  expect(complaint(...whole)).toBeNull();
});

test.for([
  ['a worker is sent out because of the last decision', [decided, link('dispatch.began', 5)]],
  ['no worker is asked for before its dispatch began', [decided, asked]],
  ['each step of a chain is caused by the one before it', [...whole.slice(0, 6), link('child.completed', 1)]],
  ['a step of a chain is followed once', [...whole.slice(0, 5), succeeded]],
  ['who is sent out has begun', [decided, began, asked, link('dispatch.succeeded', 1, { childRunId: KID })]],
  ['a chain tells the end of a child as it was', [...whole.slice(0, 6), link('child.failed', 4, { childRunId: KID })]],
  [
    'only children that completed give something back',
    [...whole.slice(0, 7), link('output.harvested', 6, { childRunId: KID, harvestedKeys: [] })],
  ],
  [
    'a run that was refused never begins',
    [decided, began, asked, ['cairn.step.returned', 2, { childRunId: KID, error: {} }], started],
  ],
  [
    'a run that has begun is not called refused',
    [decided, began, asked, started, ['cairn.step.returned', 2, { childRunId: KID, error: {} }]],
  ],
  ['a held decision is not carried out', [decided, ['core.workflowChain.confidence-escalated', 0], began]],
] as const)('complains where %s does not hold', ([invariant, said]) => {
  expect(complaint(...(said as readonly Said[]))).toBe(invariant);
});
