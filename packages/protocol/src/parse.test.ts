import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseEvent } from './events/run-event-doc.ts';
import { parseShape } from './parse.ts';
import { parsePosition } from './runs/cursor.ts';
import { parseWorkflowDefinition } from './runs/workflow-definition.ts';

const event = {
  eventId: 'r:0',
  runId: 'r',
  type: 'run.started',
  payload: {},
  timestamp: '2026-01-02T03:04:05.006Z',
  sequence: 0,
};

test('a value of the right shape comes back typed', () => {
  expect(parseShape(z.strictObject({ a: z.int() }), { a: 1 }, 'The body')).toEqual({ a: 1 });
});

test('a missing field is called missing, also where any of several shapes would fit', () => {
  const shape = z.strictObject({ value: z.union([z.string(), z.number()]) });
  expect(() => parseShape(shape, {}, 'The answer')).toThrow('The answer is not valid: value: is missing.');
  expect(() => parseShape(shape, { value: true }, 'The answer')).toThrow('value: Invalid input.');
});

test('a refusal names what, where and every problem by its path', () => {
  const shape = z.strictObject({ list: z.array(z.object({ a: z.int() })), b: z.string() });
  expect(() => parseShape(shape, { list: [{ a: 'x' }] }, 'The body')).toThrow(
    expect.objectContaining({
      code: 'validation_error',
      message: expect.stringMatching(/^The body is not valid: list\.0\.a: .*; b: is missing\.$/),
      details: { problems: [expect.objectContaining({ path: 'list.0.a' }), expect.objectContaining({ path: 'b' })] },
    }),
  );
});

test('a refusal of a flood of problems lists some of them', () => {
  const flood = Array.from({ length: 500 }, () => 'x');
  expect(() => parseShape(z.array(z.int()), flood, 'The body')).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/; 3: [^;]+; and 496 more\.$/),
      details: { problems: expect.objectContaining({ length: 20 }) },
    }),
  );
});

test('a refusal repeats a little of names that are many, or long', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name-${i}`, 1]));
  expect(() => parseShape(z.strictObject({}), many, 'The body')).toThrow(
    expect.objectContaining({
      message:
        'The body is not valid: Unrecognized keys: "name-0", "name-1", "name-2", "name-3", "name-4", and 9995 more.',
    }),
  );
  const long = 'x'.repeat(100_000);
  for (const [shape, value] of [
    [z.strictObject({}), { [long]: 1, [`${long}y`]: 1 }],
    [z.record(z.string(), z.int()), { [long]: 'x' }],
    [z.record(z.string().max(10), z.int()), { [long]: 1 }],
  ] as const) {
    expect(() => parseShape(shape, value, 'The body')).toThrow(
      expect.toSatisfy((error: Error) => JSON.stringify(error).length + error.message.length < 2_000),
    );
  }
});

test('a workflow definition is parsed or refused by name', () => {
  expect(() => parseWorkflowDefinition({ id: 'x' })).toThrow(/^The workflow definition is not valid: /);
});

test('an event of an unknown type or with unknown fields passes through untouched', () => {
  const novel = { ...event, type: 'acme.new.thing', extra: { deep: [1] } };
  expect(parseEvent(novel)).toEqual(novel);
});

test.each([
  ['a type without a dot', { type: 'started' }],
  ['a type under a reserved name', { type: 'core.new.thing' }],
  ['a negative sequence', { sequence: -1 }],
  ['no payload', { payload: undefined }],
  ['a time that is none', { timestamp: 'yesterday' }],
])('an event with %s is refused', (_what, fields) => {
  expect(() => parseEvent({ ...event, ...fields })).toThrow(expect.objectContaining({ code: 'validation_error' }));
});

test('the reserved types of the wire itself are known', () => {
  expect(parseEvent({ ...event, type: 'core.workflowChain.event' }).type).toBe('core.workflowChain.event');
});

test.each([
  ['0', 0],
  ['17', 17],
  [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
])('the position %s is read', (text, position) => {
  expect(parsePosition(text, 'Last-Event-ID')).toBe(position);
});

test.each(['', '-1', '+1', '1.0', '01', ' 1', '1e3', '9007199254740992', '99999999999999999', 'NaN', '٣'])(
  'the position %j is refused by the name it came under',
  (text) => {
    expect(() => parsePosition(text, 'lastSequence')).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        message: expect.stringContaining('lastSequence'),
        details: { parameter: 'lastSequence' },
      }),
    );
  },
);
