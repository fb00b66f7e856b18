import { describe, expect, it, test } from 'vitest';
import { isCairnError } from '../errors.ts';
import { eventTypes } from '../events/catalogue.ts';
import { isTransition, isUpdate, parseStreamModes, type StreamMode, shownAs, streamModes } from './stream-modes.ts';

const shown = (modes: string) => {
  const asked = parseStreamModes(modes);
  return new Set(eventTypes.map((type) => shownAs(asked, type)).filter((name) => name !== null));
};

/** Every type of the catalogue that `updates` shows, written out: the table of the wire. */
const updates = [
  'approval.received',
  'approval.requested',
  'artifact.created',
  'clarification.requested',
  'clarification.resolved',
  'deployment.canary.adjusted',
  'deployment.promoted',
  'deployment.rolled-back',
  'deployment.state.changed',
  'eval.completed',
  'eval.scored',
  'eval.started',
  'interrupt.requested',
  'interrupt.resolved',
  'node.completed',
  'node.dispatched',
  'node.failed',
  'node.skipped',
  'node.suspended',
  'run.cancelled',
  'run.completed',
  'run.failed',
  'run.paused',
  'run.resumed',
  'run.started',
  'workspace.updated',
];

describe('a stream mode', () => {
  it('updates shows the transitions of the run and nothing else', () => {
    expect([...shown('updates')].sort()).toEqual(updates.filter((type) => (eventTypes as string[]).includes(type)));
    expect(updates.filter((type) => !isUpdate(type))).toEqual([]);
    expect(isUpdate('run.annotated')).toBe(true);
  });

  it.each([
    'node.started',
    'node.retried',
    'variable.changed',
    'log.appended',
    'agent.decided',
    'cap.breached',
    'channel.written',
    'approval.granted',
    'interrupts.closed',
    'output.chunk',
    'cairn.task.status',
  ])('updates leaves out %s', (type) => expect(isUpdate(type)).toBe(false));

  it('values has a state after each of those and after the start of a node', () => {
    const transitions = eventTypes.filter(isTransition).sort();
    expect(transitions).toEqual([...eventTypes.filter(isUpdate), 'node.started'].sort());
  });

  it('messages shows streamed text alone, under the name it has on the wire', () => {
    expect([...shown('messages')]).toEqual(['ai.message.chunk']);
  });

  it('debug shows every type under its own name, also those of vendors', () => {
    expect(shown('debug')).toEqual(new Set(eventTypes));
    expect(shownAs(new Set(['debug']), 'acme.thing.happened')).toBe('acme.thing.happened');
  });

  it('in a list adds to what the others show', () => {
    expect([...shown('updates')].filter((type) => !shown('updates,debug').has(type))).toEqual([]);
    expect(shown('updates,messages')).toEqual(new Set([...shown('updates'), 'ai.message.chunk']));
    expect(shown('messages,debug').has('ai.message.chunk')).toBe(true);
    expect(shown('debug,updates')).toEqual(shown('updates,debug'));
  });
});

test('without a parameter the mode is updates', () => {
  expect(parseStreamModes(undefined)).toEqual(new Set<StreamMode>(['updates']));
});

test('a mode named twice is asked for once', () => {
  expect(parseStreamModes('debug,debug')).toEqual(new Set<StreamMode>(['debug']));
  expect(parseStreamModes('values,values')).toEqual(new Set<StreamMode>(['values']));
});

test.each([
  '',
  'quantum',
  'debug,nonsense',
  'Debug',
  ' debug',
  'updates,',
  'values,updates',
  'debug,values',
  '__proto__',
])('refuses the list %j whole, and names the modes there are', (text) => {
  const refusal = (() => {
    try {
      return parseStreamModes(text);
    } catch (error) {
      return error;
    }
  })();
  expect(isCairnError(refusal, 'unsupported_stream_mode')).toBe(true);
  expect(refusal).toMatchObject({ details: { supported: [...streamModes] } });
});
