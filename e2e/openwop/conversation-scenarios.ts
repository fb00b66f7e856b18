/** Conversation fixtures: scripted ones, and the turns that people and others may add to an open one. */
import type { Json, JsonObject, RunEventDoc } from '@cairn/protocol';
import { expect } from 'vitest';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import { replaysConversation } from './replay-scenarios.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import type { RunView, WireHost } from './wire-host.ts';

const lifecycle = [
  'node.suspended',
  'conversation.opened',
  'conversation.exchanged',
  'conversation.closed',
  'node.resumed',
];
const says = (content: Json, more: JsonObject = {}): JsonObject => ({
  operation: 'exchange',
  turn: { content, ...more },
});

const turnsOf = ({ snapshot }: RunView): readonly JsonObject[] => objects(fields(snapshot.channels).conversation);

/**
 * Returns the events of the conversation. Checks one id, a causal chain, gapless indexes, and each turn once in the
 * channel.
 */
function checkConversation({ events, ...view }: RunView): readonly RunEventDoc[] {
  const rows = events.filter(({ type }) => type.startsWith('conversation.'));
  const payloads = rows.map(({ payload }) => fields(payload));
  expect(new Set(payloads.map(({ conversationId }) => conversationId)).size).toBe(1);
  const suspended = events.find(({ type }) => type === 'node.suspended');
  expect(rows.map(({ causationId }) => causationId)).toEqual(
    [suspended, ...rows].slice(0, rows.length).map((event) => event?.eventId),
  );
  const turns = payloads.map(({ initialTurn, turn, finalTurn }) => fields(initialTurn ?? turn ?? finalTurn));
  expect(turns.map(({ turnIndex }) => turnIndex)).toEqual(turns.map((_, index) => index));
  expect(turnsOf({ events, ...view })).toEqual(turns);
  return rows;
}

const talksToItself = (workflowId: string, exchanges: number): Scenario => ({
  name: `opens a conversation, takes ${exchanges} turns and closes it by itself`,
  async run(host) {
    const run = await host.start(workflowId);
    const ended = await run.ended();
    expect(ended.status).toBe('completed');
    const seen = ended.types.filter((type, at) => lifecycle.includes(type) && type !== ended.types[at - 2]);
    expect([...new Set(seen)]).toEqual(lifecycle);
    expect(ended.payloads('conversation.exchanged')).toHaveLength(exchanges);
    checkConversation(ended);
    expect(ended.types.some((type) => type.startsWith('clarification.'))).toBe(false);
    expect(ended.payloads('node.suspended')[0]).toMatchObject({ reason: 'conversation-input' });
    expect(ended.payloads('conversation.closed')[0]).toMatchObject({ turnCount: exchanges });
  },
});

const byHand = 'conformance-conversation-capability-negotiation';

const opened = async (host: WireHost) => {
  const run = await host.start(byHand);
  const before = await run.settled();
  expect(before.snapshot).toMatchObject({ status: 'waiting-approval', currentNodeId: 'convo' });
  return { run, before };
};

const byPeople: readonly Scenario[] = [
  {
    name: 'is accepted by a host that says it has conversations, and waits',
    async run(host) {
      const { body } = await host.call('GET', '/.well-known/openwop');
      expect(body).toMatchObject({ conversationPrimitive: true, multiPartyConversation: { supported: true } });
      const { before } = await opened(host);
      expect(before.payloads('interrupt.requested')[0]).toMatchObject({ kind: 'conversation.exchange' });
      checkConversation(before);
    },
  },
  {
    name: 'goes on turn by turn, and resumes its node only when it is closed',
    async run(host) {
      const { run } = await opened(host);
      expect(await run.answer('convo', says('one'), 'ann')).toMatchObject({
        status: 200,
        body: { nodeId: 'convo', status: 'waiting-approval' },
      });
      expect((await run.answer('convo', says({ two: 2 }), 'bob')).status).toBe(200);
      const asked = (await host.call('GET', `/v1/runs/${run.runId}/interrupts`)).body.interrupts;
      expect(asked).toMatchObject([{ data: { turnIndex: 3 } }]);
      expect((await run.settled()).types).not.toContain('node.resumed');
      const close = { operation: 'close', turn: { content: 'bye' }, outcome: { ok: true } };
      expect((await run.answer('convo', close)).status).toBe(200);
      const ended = await run.ended();
      expect(ended.status).toBe('completed');
      checkConversation(ended);
      expect(turnsOf(ended).map(({ content, principal }) => [content, principal])).toEqual([
        [expect.any(String), undefined],
        ['one', 'ann'],
        [{ two: 2 }, 'bob'],
        ['bye', 'ann'],
      ]);
      expect(ended.payloads('conversation.closed')[0]).toMatchObject({ outcome: { ok: true }, turnIndex: 3 });
      expect(await run.answer('convo', says('late'))).toMatchObject({
        status: 409,
        body: { error: 'interrupt_already_resolved' },
      });
    },
  },
  {
    name: 'takes a turn that is sent again once',
    async run(host) {
      const { run } = await opened(host);
      const turn = { messageId: 'm-1', from: 'user', content: 'hi', ts: 7, role: 'user', turnIndex: 1 };
      const replies = [];
      for (let n = 0; n < 3; n++) replies.push(await run.answer('convo', { operation: 'exchange', turn }));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
      const other = await run.answer('convo', { operation: 'exchange', turn: { ...turn, content: 'ho' } });
      expect(other).toMatchObject({ status: 400, body: { error: 'validation_error' } });
      expect((await run.settled()).payloads('conversation.exchanged')).toHaveLength(1);
    },
  },
  {
    name: 'gives turns that come at the same time places one after the other',
    async run(host) {
      const { run } = await opened(host);
      const replies = await Promise.all([1, 2, 3, 4, 5].map((n) => run.answer('convo', says(`turn ${n}`))));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      checkConversation(await run.settled());
    },
  },
  {
    name: 'refuses turns that are none, out of place, or of nobody who may speak, and stays open',
    async run(host) {
      const { run, before } = await opened(host);
      const wrong: readonly JsonObject[] = [
        {},
        { operation: 'start', turn: { content: 'x' } },
        { operation: 'exchange' },
        { operation: 'exchange', turn: { role: 'user' } },
        { ...says('x'), outcome: 1 },
        { ...says('x'), conversationId: 'another' },
        says('x', { turnIndex: 2 }),
        says('x', { turnIndex: 0 }),
        says('x', { role: 'agent' }),
        says('x', { role: 'system' }),
        says('x', { role: 'user', from: 'ann' }),
      ];
      for (const value of wrong) {
        const { status, body } = await run.answer('convo', value);
        expect([status, body.error], JSON.stringify(value)).toEqual([400, 'validation_error']);
      }
      expect((await run.settled()).events).toHaveLength(before.events.length);
    },
  },
  {
    name: 'is not there for another tenant, nor open to who may only read',
    async run(host) {
      const { run, before } = await opened(host);
      expect(await run.answer('convo', says('x'), 'stranger')).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
      expect(await run.answer('convo', says('x'), 'reader')).toMatchObject({ status: 403 });
      expect((await run.settled()).events).toHaveLength(before.events.length);
    },
  },
  {
    name: 'is closed when its run is cancelled, and nothing is said in it after that',
    async run(host) {
      const { run } = await opened(host);
      await run.answer('convo', says('x'));
      await run.cancel();
      const ended = await run.ended();
      expect(ended.types.at(-1)).toBe('run.cancelled');
      expect(ended.payloads('conversation.closed')[0]).toMatchObject({ outcome: null });
      checkConversation(ended);
      expect(await run.answer('convo', says('x'))).toMatchObject({
        status: 422,
        body: { error: 'interrupt_cancelled' },
      });
    },
  },
];

export const conversationScenarios: Scenarios = {
  'conformance-conversation-lifecycle': [talksToItself('conformance-conversation-lifecycle', 1)],
  'conformance-conversation-vs-clarification': [talksToItself('conformance-conversation-vs-clarification', 1)],
  'conformance-conversation-replay': [
    talksToItself('conformance-conversation-replay', 3),
    {
      name: 'shows the same channel however often it is read, and whoever reads it',
      async run(host) {
        const run = await host.start('conformance-conversation-replay');
        const first = JSON.stringify((await run.ended()).snapshot.channels);
        const second = JSON.stringify((await run.ended()).snapshot.channels);
        expect(second).toBe(first);
      },
    },
    replaysConversation,
  ],
  [byHand]: byPeople,
};
