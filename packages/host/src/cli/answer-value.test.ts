import type { Json, JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { type AnswerWords, answerValue } from './answer-value.ts';

const asked = (kind: string, data: JsonObject = {}) => ({ interruptId: 'i', nodeId: 'n', kind, data });
const unsure = asked('low-confidence', { decision: 'a' });
const talk = asked('conversation.exchange', { conversationId: 'c', prompt: 'Well?' });
const gate = asked('approval', { actions: ['accept', 'reject', 'refine', 'ask'] });
const choice = asked('clarification', {
  questions: [
    { id: 'go', question: 'Go?', schema: { type: 'boolean' } },
    { id: 'mode', question: 'How?', schema: { enum: ['accept', 'later'] } },
    { id: 'note', question: 'Why?' },
  ],
});
const form = asked('clarification', {
  questions: [
    { id: 'answer', question: 'Size?', schema: { type: 'object', properties: { size: { type: 'string' } } } },
  ],
});
const declinable = asked('clarification', {
  questions: [
    { id: 'answer', question: 'Size?', schema: { type: ['object', 'null'], properties: { size: { type: 'string' } } } },
  ],
});
const interrupted = asked('custom', { customKind: 'cairn.step.interrupted' });

test.each<[ReturnType<typeof asked>, AnswerWords, Json]>([
  [unsure, { words: ['approve'] }, { action: 'approve' }],
  [unsure, { words: ['rej'], feedback: 'billing' }, { action: 'reject', feedback: 'billing' }],
  [unsure, { words: ['edit'], edited: '{"queue":"billing"}' }, { action: 'edit', decision: { queue: 'billing' } }],
  [unsure, { words: [], value: '{"action":"edit","decision":1}' }, { action: 'edit', decision: 1 }],
  [interrupted, { words: ['retry'] }, { action: 'retry' }],
  [declinable, { words: ['null'] }, { answers: { answer: null } }],
  [declinable, { words: ['large'] }, { answers: { answer: { size: 'large' } } }],
  [form, { words: ['null'] }, { answers: { answer: { size: 'null' } } }],
  [talk, { words: ['a', 'boat'] }, { operation: 'exchange', turn: { content: 'a boat' } }],
  [talk, { words: ['/closed?'] }, { operation: 'exchange', turn: { content: '/closed?' } }],
  [talk, { words: ['/close'] }, { operation: 'close' }],
  [talk, { words: ['/close', 'thanks'] }, { operation: 'close', turn: { content: 'thanks' } }],
  [talk, { words: [], value: '{"n":1}' }, { operation: 'exchange', turn: { content: { n: 1 } } }],
  [talk, { words: [], value: '{"operation":"close","outcome":2}' }, { operation: 'close', outcome: 2 }],
  [interrupted, { words: ['use'], edited: 'null' }, { action: 'use', result: null }],
  [interrupted, { words: ['Yes'], edited: '{"id":1}' }, { action: 'use', result: { id: 1 } }],
  [interrupted, { words: ['false'] }, { action: 'retry' }],
  ...['accept', 'approve', 'yes', 'true', 'Y'].flatMap((word): [ReturnType<typeof asked>, AnswerWords, Json][] => [
    [gate, { words: [word] }, { action: 'accept' }],
    [unsure, { words: [word] }, { action: 'approve' }],
  ]),
  ...['reject', 'no', 'false'].flatMap((word): [ReturnType<typeof asked>, AnswerWords, Json][] => [
    [gate, { words: [word] }, { action: 'reject' }],
    [unsure, { words: [word] }, { action: 'reject' }],
  ]),
  [gate, { words: [], value: '{"action":"approve"}' }, { action: 'accept' }],
  [unsure, { words: ['edit'], edited: '{"action":"accept"}' }, { action: 'edit', decision: { action: 'accept' } }],
  [choice, { words: ['go=Yes', 'mode=approve', 'note=yes'] }, { answers: { go: true, mode: 'accept', note: 'yes' } }],
  [choice, { words: ['go=no', 'mode=later', 'note='] }, { answers: { go: false, mode: 'later', note: '' } }],
  [form, { words: ['very', 'large'] }, { answers: { answer: { size: 'very large' } } }],
  [form, { words: ['answer=large'] }, { answers: { answer: { size: 'large' } } }],
  [form, { words: ['answer={"size":"large"}'] }, { answers: { answer: { size: 'large' } } }],
  [asked('custom', { customKind: 'other' }), { words: ['yes'] }, true],
])('an answer to %j in the words %j is %j', (question, words, value) => {
  expect(answerValue(question, words)).toEqual(value);
});

test.each<[ReturnType<typeof asked>, AnswerWords, string]>([
  [unsure, { words: [] }, 'The answer needs an action.'],
  [unsure, { words: ['aprove'] }, 'is not a valid action'],
  [unsure, { words: ['approve', 'it'] }, 'is not a valid action'],
  [unsure, { words: ['edit'] }, 'edit needs the decision.'],
  [unsure, { words: ['edit'], edited: '{' }, 'is not JSON'],
  [interrupted, { words: ['use'] }, 'use needs the result.'],
  [interrupted, { words: ['accept'] }, 'is not a valid action'],
  [gate, { words: ['re'] }, 'is not a valid action'],
  [choice, { words: ['go=maybe', 'mode=later', 'note=x'] }, 'go must be a boolean, not "maybe".'],
  [talk, { words: [' '] }, 'The turn is empty.'],
  [talk, { words: [], value: '{' }, 'is not JSON'],
])('an answer to %j in the words %j is refused: %s', (question, words, message) => {
  expect(() => answerValue(question, words)).toThrow(message);
});
