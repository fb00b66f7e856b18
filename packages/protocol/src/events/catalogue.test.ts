import { expect, test } from 'vitest';
import { audienceOf } from './audiences.ts';
import { operatorPayloads } from './cairn.ts';
import { eventPayloads, eventTypePattern, eventTypes, isEventType } from './catalogue.ts';
import { isCallRequest, isCallResult } from './roles.ts';
import { terminalPayloads } from './run.ts';
import { isTerminalType } from './terminal-types.ts';

test('operators alone see what the engine asked of the outside; everything else is for every reader', () => {
  const operator = eventTypes.filter((type) => audienceOf(type) === 'operator');
  expect(operator).toEqual(Object.keys(operatorPayloads));
  expect(audienceOf('cairn.step.of_a_later_version')).toBe('operator');
  expect(audienceOf('acme.new.thing')).toBe('client');
  expect(audienceOf('cairn.task.status')).toBe('client');
});

test('exactly the three ends of a run are terminal', () => {
  expect(eventTypes.filter(isTerminalType)).toEqual(Object.keys(terminalPayloads));
  expect(isTerminalType('constructor')).toBe(false);
});

test('results of calls are exactly the events that a fork can take over, and every request names its call', () => {
  const having = (field: string) =>
    eventTypes.filter((type) => {
      const payload = eventPayloads[type];
      return 'shape' in payload && Object.hasOwn(payload.shape, field);
    });
  expect(eventTypes.filter(isCallResult)).toEqual(having('reusedFrom'));
  expect(having('callId')).toEqual(expect.arrayContaining(eventTypes.filter(isCallRequest)));
  expect(eventTypes.filter(isCallRequest)).toHaveLength(3);
});

test('our own types are legal as vendor types', () => {
  for (const type of eventTypes.filter((name) => name.startsWith('cairn.'))) expect(type).toMatch(eventTypePattern);
});

test.each(['core.new.thing', 'vendor.acme.thing', 'openwop.x', 'single', 'Upper.case', 'a..b', 'a.'])(
  '%s is no vendor type',
  (type) => {
    expect(type).not.toMatch(eventTypePattern);
  },
);

test('names that every object has are not types', () => {
  expect(isEventType('constructor')).toBe(false);
  expect(isEventType('run.started')).toBe(true);
});

test('a step returns an outcome or an error', () => {
  const call = { nodeId: 'n', callId: 'c', attempt: 1 };
  const shape = eventPayloads['cairn.step.returned'];
  expect(shape.safeParse({ ...call, outcome: null }).success).toBe(true);
  expect(shape.safeParse({ ...call, error: { code: 'c', message: 'm', retryable: true } }).success).toBe(true);
  expect(shape.safeParse({ ...call, attempt: 0 }).success).toBe(false);
});
