import { expect, test } from 'vitest';
import { eventId, eventPlace, runId } from './ids.ts';

test('the id of an event names its run and its position', () => {
  expect(eventPlace(eventId(runId('a'), 12))).toEqual({ runId: 'run_a', seq: 12 });
  expect(eventPlace('run_a.1:0')).toEqual({ runId: 'run_a.1', seq: 0 });
  expect(eventPlace('peer:run_a:3')).toEqual({ runId: 'peer:run_a', seq: 3 });
});

test.each(['', ':3', 'run_a', 'run_a:', 'run_a:x', 'run_a:-1', 'run_a:1.5', 'run a:1', `run_a:${'9'.repeat(16)}`])(
  'an id that no Cairn host wrote names no event: %s',
  (id) => {
    expect(eventPlace(id)).toBeNull();
  },
);
