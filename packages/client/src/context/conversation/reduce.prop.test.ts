import type { TaskEvent } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContextEvent } from '../follow-context.ts';
import { eventsOf, type Made } from '../scripted-context.kit.ts';
import { OrderedMap } from './ordered-map.ts';
import { reduceConversation } from './reduce.ts';
import { type ConversationState, emptyConversation } from './state.ts';

const tasks = ['a', 'b', 'a.0', 'a.0.0'] as const;
const statuses = ['working', 'waiting-input', 'waiting-subtask', 'completed', 'failed', 'canceled'] as const;

/** Ids are unique in a context, so each belongs to one task. */
const made: fc.Arbitrary<Made> = fc
  .record({ taskId: fc.constantFrom(...tasks), n: fc.nat(2), index: fc.nat(3), flag: fc.boolean(), text: fc.string() })
  .chain(({ taskId, n, index, flag, text }) => {
    const at = taskId.lastIndexOf('.');
    const of = { taskId, ...(at > 0 && { parentTaskId: taskId.slice(0, at) }) };
    const id = `${taskId}/${n}`;
    const piece = { artifactId: id, index, complete: flag, metadata: { version: n } };
    return fc.constantFrom<Made>(
      { kind: 'task-created', initiator: 'user', metadata: { message: { role: 'user', content: text } }, ...of },
      { kind: 'task-status', status: statuses[(n + index) % statuses.length], ...of },
      { kind: 'task-status', status: 'working', metadata: { reason: 'host_restarted' }, ...of },
      { kind: 'task-complete', content: text, ...of },
      { kind: 'subtask-created', subtaskId: `${taskId}.0`, prompt: text, ...of },
      { kind: 'content-delta', delta: text, index, contentId: id, ...of },
      { kind: 'content-delta', delta: text, index, contentId: id, ...of },
      { kind: 'content-complete', content: text, contentId: id, ...of },
      { kind: 'tool-start', toolCallId: id, toolName: 't', arguments: {}, ...of },
      { kind: 'tool-progress', toolCallId: id, progress: index / 3, ...of },
      { kind: 'tool-complete', toolCallId: id, toolName: 't', success: flag, result: text, ...of },
      { kind: 'input-required', inputId: id, inputType: 'custom', prompt: text, requireUser: flag, ...of },
      { kind: 'input-received', inputId: id, providedBy: 'user', userId: 'u', ...of },
      { kind: 'input-forwarded', inputId: id, ...of },
      { kind: 'auth-required', authId: id, authType: 'oauth2', prompt: text, ...of },
      { kind: 'auth-completed', authId: id, userId: 'u', ...of },
      { kind: 'file-write', data: text, ...piece, ...of },
      { kind: 'data-write', data: { text }, ...piece, ...of },
      { kind: 'dataset-write', rows: [{ text }], ...piece, ...of },
      { kind: 'thought-stream', thoughtId: id, thoughtType: 'x', verbosity: 'brief', content: text, index, ...of },
      { kind: 'error', code: 'c', message: text, retryable: flag, scope: flag ? 'llm' : 'tool', ...of },
      { kind: 'llm-usage', model: 'm', inputTokens: n, outputTokens: index, ...of },
      { kind: 'kind-of-tomorrow' as 'error', ...of },
    );
  });

const history = fc.array(made, { maxLength: 80, size: 'max' }).map(eventsOf);
const fold = (events: Iterable<ContextEvent>, state = emptyConversation) => reduceConversation(state, events);
const oneByOne = (events: readonly ContextEvent[]) =>
  events.reduce<ConversationState>((state, event) => fold([event], state), emptyConversation);
const place = fc.nat(80);

/** Everything that a state holds, shared with nobody. */
const copyOf = (state: ConversationState) =>
  structuredClone(
    Object.entries(state).map(([name, value]) => [name, value instanceof OrderedMap ? [...value.entries()] : value]),
  );

test('a history folds to the same state whole, in two parts, one by one, and with a prefix twice', () => {
  fc.assert(
    fc.property(history, place, (events, at) => {
      const whole = fold(events);
      const prefix = events.slice(0, at);
      expect(fold(events.slice(at), fold(prefix))).toEqual(whole);
      expect(oneByOne(events)).toEqual(whole);
      expect(fold(events, fold(prefix))).toEqual(whole);
      expect(fold([...prefix, ...events])).toEqual(whole);
      expect(fold(events, whole)).toEqual(whole);
    }),
    { numRuns: 200 },
  );
});

test('repeats of earlier events, anywhere, change nothing', () => {
  fc.assert(
    fc.property(history, fc.array(fc.tuple(place, place)), (events, repeats) => {
      const items: TaskEvent[] = [...events];
      for (const [from, to] of repeats) {
        const event = events[from];
        // A repeat comes after the event itself.
        const earliest = event === undefined ? 0 : items.indexOf(event) + 1;
        if (event !== undefined) items.splice(Math.max(earliest, to), 0, event);
      }
      expect(fold(items)).toEqual(fold(events));
    }),
    { numRuns: 100 },
  );
});

test('a state is never changed by what is folded into it', () => {
  fc.assert(
    fc.property(history, place, (events, at) => {
      const before = fold(events.slice(0, at));
      const copy = copyOf(before);
      fold(events.slice(at), before);
      expect(copyOf(before)).toEqual(copy);
      expect(emptyConversation.tasks.size).toBe(0);
    }),
    { numRuns: 100 },
  );
});

test('after a reset only what follows counts', () => {
  const reset = { kind: 'stream:reset', reason: 'cursor-ahead', oldest: 1, head: 1 } as const;
  fc.assert(
    fc.property(history, history, (before, after) => {
      expect(fold([...before, reset, ...after])).toEqual(fold(after));
    }),
    { numRuns: 50 },
  );
});

test('from the middle, what is closed afterwards is what it is from the start', () => {
  fc.assert(
    fc.property(history, place, (events, at) => {
      const whole = fold(events);
      const late = fold(events.slice(at));
      for (const event of events.slice(at)) {
        if (event.kind === 'content-complete') {
          const id = String(event.contentId);
          expect(late.messages.get(id)).toEqual(whole.messages.get(id));
        }
        if (event.kind === 'task-status' || event.kind === 'task-complete') {
          const { taskId } = event;
          expect(late.tasks.get(taskId)?.status).toBe(whole.tasks.get(taskId)?.status);
        }
        if (event.kind === 'tool-complete') {
          const { toolCallId } = event;
          expect(late.tools.get(toolCallId)?.status).toBe(whole.tools.get(toolCallId)?.status);
        }
        if (event.kind === 'input-required') {
          expect(late.questions.get(event.inputId)).toEqual(whole.questions.get(event.inputId));
        }
        if (event.kind === 'data-write') {
          const { artifactId } = event;
          expect(late.artifacts.get(artifactId)?.current).toEqual(whole.artifacts.get(artifactId)?.current);
        }
      }
    }),
    { numRuns: 150 },
  );
});
