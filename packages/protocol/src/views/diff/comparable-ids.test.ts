import { expect, test } from 'vitest';
import { payloadId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import { cleaned, comparable } from './comparable.ts';
import { hashOf } from './content-hash.ts';

/** What a run with this token writes about itself. */
const payloadOf = (token: string) => ({
  idToken: token,
  callId: payloadId(token, 'call', 'a#0'),
  refId: payloadId(token, 'call', 'a#0'),
  value: { messageId: payloadId(token, 'msg', 'a'), text: 'call_me_later' },
});

test('the ids that two runs derive from themselves are no difference, and other texts stay', () => {
  const [one, other] = ['0123456789ab', 'fedcba987654'].map((token) =>
    comparable({ type: 'channel.written', payload: payloadOf(token) }, []),
  );
  expect(one).toEqual(other);
  expect(one).toEqual({ refId: 'call_{token}_a#0', value: { messageId: 'msg_{token}_a', text: 'call_me_later' } });
});

test('a value without ids of its own is not copied, whatever it is made of', () => {
  const value = { list: [{}, { text: 'plain' }, [1, null]], decidedAt: 'on Monday' };
  expect(cleaned(value, [['run_1', '{run}']])).toBe(value);
});

test('an id is named wherever it stands, and what stands around it keeps its order', () => {
  const value = {
    a: [1, 'run_1', {}],
    'of run_1': { decidedAt: '2026-01-01T00:00:00Z', left: true },
    z: [[{ id: 'run_1' }]],
  };
  const shown = cleaned(value, [['run_1', '{run}']]);
  expect(JSON.stringify(shown)).toBe('{"a":[1,"{run}",{}],"of {run}":{"left":true},"z":[[{"id":"{run}"}]]}');
  expect(value.a).toEqual([1, 'run_1', {}]);
});

test('the order of keys does not count at any depth, and that of a list does', () => {
  let [one, other]: [Json, Json] = [
    { a: 1, b: [] },
    { b: [], a: 1 },
  ];
  // Deep enough that a look at both the value and its parts would never end.
  for (let depth = 0; depth < 60; depth += 1) {
    one = { inner: one, more: [depth] };
    other = { more: [depth], inner: other };
  }
  expect(hashOf(one)).toBe(hashOf(other));
  expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]));
  expect(hashOf({ a: 1, b: 2 })).not.toBe(hashOf({ a: 2, b: 1 }));
  expect(hashOf('1')).not.toBe(hashOf(1));
});
