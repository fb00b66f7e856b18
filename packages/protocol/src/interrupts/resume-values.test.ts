import { expect, test } from 'vitest';
import { isCairnError } from '../errors.ts';
import type { Json } from '../json.ts';
import { parseApprovalAnswer, parseClarificationAnswer, parseExternalAnswer } from './resume-values.ts';

const refusal = (attempt: () => unknown): unknown => {
  try {
    attempt();
  } catch (error) {
    return isCairnError(error) ? error.code : error;
  }
  return 'accepted';
};

test.each<[string, Json, Json]>([
  ['an acceptance', { action: 'accept', feedback: 'fine' }, { action: 'accept', feedback: 'fine' }],
  ['a rejection', { action: 'reject' }, { action: 'reject' }],
  ['an edit', { action: 'edit-accept', editedArtifactData: null }, { action: 'edit-accept', editedArtifactData: null }],
  [
    'an edit by its older name',
    { action: 'edit', editedArtifactData: 1 },
    { action: 'edit-accept', editedArtifactData: 1 },
  ],
  ['the older approved', { decision: 'approved', feedback: 'ok' }, { action: 'accept', feedback: 'ok' }],
  ['the older rejected', { decision: 'rejected' }, { action: 'reject' }],
  [
    'the older rejected with feedback',
    { decision: 'rejected', feedback: 'shorter' },
    { action: 'refine', refineFeedback: { scope: 'whole', text: 'shorter' } },
  ],
  [
    'an action beside an older decision',
    { action: 'reject', decision: 'approved' },
    { action: 'reject', decision: 'approved' },
  ],
])('an approval takes %s', (_what, value, recorded) => {
  expect(parseApprovalAnswer(value, ['accept', 'reject', 'refine', 'edit-accept'])).toEqual(recorded);
});

test('a rejection with feedback stays one where the gate offers no refinement', () => {
  expect(parseApprovalAnswer({ decision: 'rejected', feedback: 'no' }, ['accept', 'reject'])).toEqual({
    action: 'reject',
    feedback: 'no',
  });
});

test.each<[string, Json]>([
  ['nothing', null],
  ['a bare word', 'accept'],
  ['a question', { action: 'ask' }],
  ['a refinement without feedback', { action: 'refine' }],
  ['an edit without data', { action: 'edit-accept' }],
  ['an unknown decision', { decision: 'maybe' }],
])('an approval refuses %s', (_what, value) => {
  expect(refusal(() => parseApprovalAnswer(value, ['accept', 'ask', 'refine']))).toBe('validation_error');
});

test('answers to questions are recorded by id, sent as a map or as a list', () => {
  const recorded = { answers: { q1: 'blue', q2: null } };
  expect(parseClarificationAnswer({ answers: { q1: 'blue', q2: null } })).toEqual(recorded);
  expect(
    parseClarificationAnswer({
      answers: [
        { id: 'q1', answer: 'blue' },
        { id: 'q2', answer: null },
      ],
    }),
  ).toEqual(recorded);
});

test.each<[string, Json]>([
  ['no answers', {}],
  ['a list of words', { answers: ['blue'] }],
  ['an item without an answer', { answers: [{ id: 'q1' }] }],
])('a clarification refuses %s', (_what, value) => {
  expect(refusal(() => parseClarificationAnswer(value))).toBe('validation_error');
});

test('an event from outside carries its payload', () => {
  expect(parseExternalAnswer({ eventPayload: 1 })).toEqual({ eventPayload: 1 });
  for (const bare of [{}, { eventPayload: 1, more: 2 }, [1], 'paid', null]) {
    expect(parseExternalAnswer(bare)).toEqual({ eventPayload: bare });
  }
});
