/** A conversation is the same whoever takes it over, however often a turn is sent, and wherever it is read from. */
import { foldRun, type JsonObject, newRunView, type RunView } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';

const said = fc.record({
  content: fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.constant(null)),
  messageId: fc.option(fc.constantFrom('m1', 'm2', 'm3', 'constructor'), { nil: undefined }),
  speaker: fc.option(fc.constantFrom('host:a', 'host:b', 'host:stranger'), { nil: undefined }),
  isSentTwice: fc.boolean(),
  crashesBefore: fc.boolean(),
});
type Said = typeof said extends fc.Arbitrary<infer Value> ? Value : never;

const opened = (maxSize: number | undefined) =>
  new RunScript(
    workflowOf(
      {
        talk: {
          type: 'core.conversationGate',
          config: { participants: [{ agentId: 'host:a' }, { agentId: 'host:b' }] },
        },
      },
      undefined,
      { channels: { conversation: { reducer: 'message', ...(maxSize === undefined ? {} : { maxSize }) } } as never },
    ),
  );

const answerOf = ({ content, messageId, speaker }: Said): JsonObject => ({
  operation: 'exchange',
  turn: {
    content,
    ...(messageId === undefined ? {} : { messageId }),
    ...(speaker === undefined ? {} : { role: 'agent', speakerId: speaker }),
  },
});

/** True when it was taken, whether for the first time or again. */
function send(run: RunScript, value: JsonObject): boolean {
  try {
    run.answers('talk', value, 'ada');
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'validation_error' });
    return false;
  }
}

/** What the same turns give when nothing is sent twice and nobody crashes. */
function plainly(turns: readonly Said[], maxSize: number | undefined): RunScript {
  const run = opened(maxSize);
  for (const turn of turns) send(run, answerOf(turn));
  return run;
}

const channelOf = (view: RunView) => view.channels.conversation?.value;

test('crashes and turns that are sent again change neither the rows nor the channel', () => {
  fc.assert(
    fc.property(
      fc.array(said, { maxLength: 12 }),
      fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      (turns, maxSize) => {
        const run = opened(maxSize);
        for (const turn of turns) {
          if (turn.crashesBefore) run.crashes();
          const isTaken = send(run, answerOf(turn));
          // Only a turn that says which it is can be known again.
          if (turn.isSentTwice && turn.messageId !== undefined) expect(send(run, answerOf(turn))).toBe(isTaken);
        }
        const plain = plainly(turns, maxSize);
        expect(run.events).toEqual(plain.events);
        expect(channelOf(run.state.view)).toEqual(channelOf(plain.state.view));
      },
    ),
  );
});

test('indexes have no gap, causes form one chain, and every turn has a messageId of its own', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), (turns) => {
      const run = plainly(turns, undefined);
      run.answers('talk', { operation: 'close' });
      const rows = run.events.filter(({ type }) => type.startsWith('conversation.'));
      const taken = rows.map(({ payload }) => (payload.initialTurn ?? payload.turn ?? payload.finalTurn) as JsonObject);
      expect(taken.map(({ turnIndex }) => turnIndex)).toEqual(taken.map((_, index) => index));
      expect(rows.slice(1).map(({ cause }) => cause)).toEqual(rows.slice(0, -1).map(({ seq }) => seq));
      expect(new Set(taken.map(({ messageId }) => messageId)).size).toBe(taken.length);
      expect(channelOf(run.state.view)).toEqual(taken);
    }),
  );
});

test('the channel is the same wherever the log is cut and folded on from a copy', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), fc.nat(60), (turns, at) => {
      const run = plainly(turns, undefined);
      const whole = newRunView(run.state.runId);
      for (const event of run.events) foldRun(whole, event);
      const first = newRunView(run.state.runId);
      for (const event of run.events.slice(0, at)) foldRun(first, event);
      const second = JSON.parse(JSON.stringify(first)) as RunView;
      for (const event of run.events.slice(at)) foldRun(second, event);
      expect(JSON.stringify(channelOf(second))).toBe(JSON.stringify(channelOf(whole)));
      expect(Object.values(second.interrupts).map(({ data }) => data)).toEqual(
        Object.values(whole.interrupts).map(({ data }) => data),
      );
    }),
  );
});
