import { describe, expect, test } from 'vitest';
import { audienceOf } from './audiences.ts';
import { eventTypes } from './catalogue.ts';
import { checkRow } from './check-row.ts';
import { eventOf, foldEventOf, row, typedEvent } from './row.ts';

describe('a draft', () => {
  test('has the audience of its type, its place, and the payload it was given', () => {
    const payload = { nodeId: 'n', typeId: 'core.noop' };
    const draft = row('node.started', payload, { nodeId: 'n', cause: 3 });
    expect(draft).toEqual({ type: 'node.started', nodeId: 'n', cause: 3, audience: 'client', payload });
    expect(draft.payload).toBe(payload);
    expect(row('cairn.pause.requested', { drainPolicy: 'immediate' }).audience).toBe('operator');
  });

  test('has the same keys in the same order, with or without a place', () => {
    const keys = ['type', 'nodeId', 'cause', 'audience', 'payload'];
    expect(Object.keys(row('run.resumed', {}))).toEqual(keys);
    expect(Object.keys(row('run.resumed', {}, { cause: 1, nodeId: 'n' }))).toEqual(keys);
  });

  test('of any type has the audience that readers are told of', () => {
    for (const type of eventTypes) expect(row(type, {} as never).audience).toBe(audienceOf(type));
  });

  test('becomes an event in its place', () => {
    const draft = row('node.skipped', { nodeId: 'n' }, { nodeId: 'n' });
    expect(eventOf(draft, 7, 1_000)).toEqual({
      seq: 7,
      at: 1_000,
      type: 'node.skipped',
      nodeId: 'n',
      payload: draft.payload,
    });
  });
});

describe('a stored row', () => {
  const stored = { seq: 2, at: 5, type: 'node.skipped', nodeId: 'n', cause: 1, payload: '{"nodeId":"n"}' };

  test('is read as the event it was', () => {
    expect(foldEventOf(stored)).toEqual({ ...stored, payload: { nodeId: 'n' } });
  });

  test('has no node and no cause where the log has none', () => {
    const event = foldEventOf({ ...stored, nodeId: null, cause: null });
    expect([event.nodeId, event.cause]).toEqual([undefined, undefined]);
  });

  test.each(['null', '3', '"text"', 'true'])('whose payload is %s has an empty one', (payload) => {
    expect(foldEventOf({ ...stored, payload }).payload).toEqual({});
  });

  test('of an unknown type keeps its payload', () => {
    expect(typedEvent({ seq: 0, at: 0, type: 'acme.new.thing', payload: { any: [1] } }).payload).toEqual({ any: [1] });
  });
});

describe('a row that is checked', () => {
  const client = { audience: 'client' as const };

  test('passes when it is as its type says, with fields this version does not know', () => {
    checkRow({ ...client, type: 'node.skipped', payload: '{"nodeId":"n","later":1}' });
    checkRow({ ...client, type: 'acme.new.thing', payload: '[1]' });
  });

  test('fails when a field is missing or not what it should be', () => {
    expect(() => checkRow({ ...client, type: 'node.skipped', payload: '{}' })).toThrow(
      /payload of node.skipped.*nodeId/,
    );
    expect(() => checkRow({ ...client, type: 'node.skipped', payload: '{"nodeId":3}' })).toThrow(/nodeId/);
    expect(() => checkRow({ ...client, type: 'node.skipped', payload: 'null' })).toThrow(/node.skipped/);
  });

  test('fails when others would see it than its type says', () => {
    expect(() => checkRow({ ...client, type: 'cairn.timer.set', payload: '{}' })).toThrow(/row-audience/);
    expect(() => checkRow({ audience: 'operator', type: 'run.resumed', payload: '{}' })).toThrow(/row-audience/);
  });
});
