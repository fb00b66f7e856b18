import { type EventType, eventId, eventPayloads, row, runId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { isAgentEvent, withRemoteCause } from './remote-cause.ts';

/** The payloads that the protocol lets name a cause on another host. */
const named: readonly EventType[] = [
  'agent.decided',
  'agent.handoff',
  'agent.promptResolved',
  'agent.reasoned',
  'agent.toolCalled',
  'agent.toolReturned',
  'core.workflowChain.confidence-escalated',
  'core.workflowChain.event',
  'prompt.composed',
  'runOrchestrator.decided',
];

test('exactly ten payloads, besides the first of a run, may name a cause on another host', () => {
  const types = Object.entries(eventPayloads).flatMap(([type, payload]) =>
    'shape' in payload && Object.hasOwn(payload.shape, 'causationHostId') ? [type] : [],
  );
  expect(types.filter((type) => type !== 'run.started' && type !== 'agent.verified').sort()).toEqual(named);
  expect(Object.keys(eventPayloads).filter(isAgentEvent).sort()).toEqual(
    named.filter((type) => type !== 'agent.toolReturned'),
  );
});

const there = eventId(runId('there'), 1);

test('only the first agent event of a decision names it', () => {
  const decided = row('agent.decided', { agentId: 'host:a', decision: 'go', confidence: 1 });
  const drafts = [row('node.started', { nodeId: 'n', typeId: 't' }), decided, decided];
  const caused = withRemoteCause(drafts, { hostId: 'beta', eventId: there });
  expect(caused?.map(({ cause, payload }) => [cause, 'causationHostId' in payload])).toEqual([
    [undefined, false],
    [there, true],
    [undefined, false],
  ]);
  expect(withRemoteCause(drafts.slice(0, 1), { hostId: 'beta', eventId: there })).toBeNull();
});
