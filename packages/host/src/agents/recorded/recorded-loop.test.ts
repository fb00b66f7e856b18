/** What a record tells of the host that it comes from. */
import { hash } from 'node:crypto';
import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { RecordedLoop } from './recorded-loop.ts';

const loopOf = (own: readonly string[] = []) =>
  new RecordedLoop(
    (text, encoding) => hash('sha256', text, encoding),
    (nodeId) => own.includes(nodeId),
  );

const proposed = (verbosity: string, customKind = 'cairn.call.proposed') => {
  const data: JsonObject = { customKind, payload: { inputs: { verbosity } } };
  const place = { seq: 5, at: 1, type: 'interrupt.requested', nodeId: 'boss', cause: 4 };
  return { ...place, payload: JSON.stringify({ interruptId: 'int_1', kind: 'custom', data }) };
};

test('the verbosity of its host shows in a turn that a branch asks about, before any reasoning is recorded', () => {
  const loop = loopOf();
  expect(loop.reasoningVerbosity).toBe('off');
  loop.learn(proposed('full'));
  expect(loop.reasoningVerbosity).toBe('full');
});

test('a node with a verbosity of its own, and a question of another kind, say nothing about the host', () => {
  const own = loopOf(['boss']);
  own.learn(proposed('full'));
  const other = loopOf();
  other.learn(proposed('full', 'acme.question'));
  expect([own.reasoningVerbosity, other.reasoningVerbosity]).toEqual(['off', 'off']);
});
