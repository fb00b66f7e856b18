import { expect, test } from 'vitest';
import type { RunEvent } from '../events/event.ts';
import type { ContextId, EventId, RunId } from '../ids.ts';
import { eventDoc } from './event-doc.ts';

const event: RunEvent = {
  runId: 'run_a' as RunId,
  contextId: 'ctx_c' as ContextId,
  cursor: 9,
  audience: 'client',
  seq: 3,
  at: 0,
  type: 'node.started',
  payload: { typeId: 'core.noop', nodeId: 'n' },
};

test('a document has the fields of the envelope and no empty ones', () => {
  expect(eventDoc(event)).toEqual({
    eventId: 'run_a:3',
    runId: 'run_a',
    type: 'node.started',
    payload: { typeId: 'core.noop', nodeId: 'n' },
    timestamp: '1970-01-01T00:00:00.000Z',
    sequence: 3,
  });
});

test('a cause is given by its full id, in this run or elsewhere', () => {
  expect(eventDoc({ ...event, nodeId: 'n', cause: 0 })).toMatchObject({ nodeId: 'n', causationId: 'run_a:0' });
  expect(eventDoc({ ...event, cause: 'run_b:7' as EventId })).toMatchObject({ causationId: 'run_b:7' });
});
