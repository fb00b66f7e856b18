/** Each promise of the audit, broken by hand: an audit that lets a breach pass would prove nothing. */
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { auditRun, type Counted } from './audit.ts';
import { writtenText } from './campaign.ts';

type Row = readonly [type: string, payload?: JsonObject];

const rowsOf = (...rows: readonly Row[]): readonly RunEventDoc[] =>
  rows.map(([type, payload = {}], sequence) => ({
    eventId: `run_a:${sequence}`,
    runId: 'run_a',
    timestamp: '2030-01-01T00:00:00.000Z',
    type,
    payload,
    sequence,
  }));

const agentId = 'a.b.c.planner';
const model = (attempt = 1): JsonObject => ({ callId: 'm0', attempt, safety: 'read', agentId });
const tool = (attempt = 1): JsonObject => ({ callId: 't0', attempt, safety: 'write', agentId });
const entry = (attempt: number, safety = 'write') => ({ runId: 'r', nodeId: 'n', callId: 't0', attempt, safety });

const sound: Counted = {
  rows: rowsOf(
    ['run.started'],
    ['cairn.model.requested', model()],
    ['cairn.model.requested', model(2)],
    ['cairn.model.returned', model(2)],
    ['agent.toolCalled', tool()],
    ['agent.toolReturned', tool()],
    ['run.completed'],
  ),
  entries: [entry(1)],
  asked: new Map([['planner/0', 2]]),
  allowedAgain: [],
};

const promises = (counted: Partial<Counted>): readonly string[] =>
  auditRun({ ...sound, ...counted }).map(({ promise }) => promise);

const between = (...rows: readonly Row[]): readonly RunEventDoc[] =>
  rowsOf(['run.started'], ...rows, ['run.completed']);

const turn: readonly Row[] = [
  ['cairn.model.requested', model()],
  ['cairn.model.returned', model()],
];

test('a run that kept every promise passes', () => {
  expect(promises({})).toEqual([]);
});

test.each<[string, Partial<Counted>]>([
  ['the run finishes by itself', { rows: sound.rows.slice(0, -1) }],
  ['rows are dense', { rows: [...sound.rows.slice(0, 1), ...sound.rows] }],
  ['every call is closed once', { rows: between(...turn, ['agent.toolCalled', tool()]) }],
  [
    'a call whose result is recorded is not asked for again',
    { rows: between(...turn, ['cairn.model.requested', model(2)]), entries: [] },
  ],
  ['no tool runs before its call is recorded', { rows: between(...turn) }],
  ['no tool runs more often than it was asked for', { entries: [entry(2)] }],
  ['no attempt of a tool happens twice', { entries: [entry(1, 'read'), entry(1, 'read')] }],
  ['a write happens again only when a person says so', { entries: [entry(1), entry(1)] }],
  ['the model is asked no more often than is recorded', { asked: new Map([['planner/0', 3]]) }],
  ['what the model said was asked of it', { asked: new Map() }],
])('it is seen when it does not hold that %s', (promise, counted) => {
  expect(promises(counted)).toContain(promise);
});

test('a write may happen again once for each time that a person lets it', () => {
  const rows = between(
    ...turn,
    ['agent.toolCalled', tool()],
    ['cairn.step.requested', tool(2)],
    ['agent.toolReturned', tool(2)],
  );
  const counted = { rows, entries: [entry(1), entry(2)], asked: new Map([['planner/0', 1]]) };
  expect(promises({ ...counted, allowedAgain: ['t0'] })).toEqual([]);
  expect(promises(counted)).toContain('a write happens again only when a person says so');
});

test('a file is read from its newest version, which a retried write begins anew, and only once it is closed', () => {
  const piece = (version: number, data: string, complete: boolean): Row => [
    'cairn.artifact.chunk',
    { artifactId: 'f', version, data, complete },
  ];
  const rows = [piece(1, 'cut off', false), piece(2, 'who', false), piece(2, 'le', true)];
  expect(writtenText(rowsOf(...rows), 'f')).toBe('whole');
  expect(writtenText(rowsOf(...rows.slice(0, 2)), 'f')).toBeNull();
});
