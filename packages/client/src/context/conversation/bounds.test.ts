import { expect, test } from 'vitest';
import { eventsOf, type Made } from '../scripted-context.kit.ts';
import { MAX_CHARS, MAX_ENTRIES, MAX_ITEMS } from './bounds.ts';
import { reduceConversation } from './reduce.ts';
import { type ConversationState, emptyConversation } from './state.ts';

const folded = (made: readonly Made[]) => reduceConversation(emptyConversation, eventsOf(made));
const sizeOf = ({ tasks, messages, tools, thoughts, questions, signIns, artifacts }: ConversationState): number =>
  [tasks, messages, tools, thoughts, questions, signIns, artifacts].reduce((sum, { size }) => sum + size, 0);

const turn = (n: number): readonly Made[] => [
  {
    kind: 'task-created',
    taskId: `t${n}`,
    initiator: 'user',
    metadata: { message: { role: 'user', content: `message ${n}` } },
  },
  { kind: 'data-write', taskId: `t${n}`, artifactId: `a${n % 7}`, data: { n } },
  { kind: 'subtask-created', taskId: `t${n}`, subtaskId: `t${n}.0`, prompt: 'go' },
  { kind: 'content-complete', taskId: `t${n}.0`, parentTaskId: `t${n}`, contentId: `c${n}`, content: 'done' },
  { kind: 'task-complete', taskId: `t${n}.0`, parentTaskId: `t${n}` },
  { kind: 'task-complete', taskId: `t${n}` },
];

test('a conversation of 30,000 events keeps its newest tasks whole, and nothing of those that it drops', () => {
  const turns = 5_000;
  const state = folded(Array.from({ length: turns }, (_, n) => turn(n)).flat());
  expect(sizeOf(state)).toBeLessThanOrEqual(MAX_ENTRIES);
  expect(sizeOf(state)).toBeGreaterThan(MAX_ENTRIES * 0.89);
  expect(state.isTrimmed).toBe(true);
  expect(state.roots.at(-1)).toBe(`t${turns - 1}`);
  // Each task that is left has its message, its subtask and the words of that; artifacts stay with their last writer.
  expect([state.tasks.size, state.messages.size]).toEqual([state.roots.length * 2, state.roots.length * 2]);
  expect([...state.artifacts.keys()].sort()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
  expect(state.tasks.get('t0')).toBeUndefined();
});

test('a task that does very much drops its oldest calls, never one that runs nor a question that is open', () => {
  const calls = Array.from({ length: MAX_ITEMS + 500 }, (_, n): readonly Made[] => [
    { kind: 'tool-start', toolCallId: `c${n}`, toolName: 'count', arguments: {} },
    ...(n === 0 ? [] : [{ kind: 'tool-complete' as const, toolCallId: `c${n}`, toolName: 'count', success: true }]),
  ]);
  const asked: Made = { kind: 'input-required', inputId: 'i', inputType: 'custom', prompt: '?', requireUser: true };
  const state = folded([asked, ...calls.flat()]);
  const items = state.tasks.get('task_a')?.items ?? [];
  expect(items.length).toBeLessThanOrEqual(MAX_ITEMS);
  expect(items.length).toBeGreaterThan(MAX_ITEMS * 0.89);
  expect(items.slice(0, 2)).toEqual([
    { of: 'questions', id: 'i' },
    { of: 'tools', id: 'c0' },
  ]);
  expect(items.at(-1)).toEqual({ of: 'tools', id: `c${MAX_ITEMS + 499}` });
  expect(state.tools.size).toBe(items.length - 1);
});

test('a text that is too long stops growing and says so', () => {
  const piece = 'x'.repeat(MAX_CHARS / 4);
  const deltas = Array.from(
    { length: 5 },
    (_, index): Made => ({
      kind: 'content-delta',
      contentId: 'b',
      index,
      delta: piece,
    }),
  );
  const message = folded(deltas).messages.get('b');
  expect([message?.text.length, message?.isPartial, message?.isOpen]).toEqual([MAX_CHARS, true, true]);
});

test('a text that is too long is the same whatever its pieces, and has no gap', () => {
  const long = Array.from({ length: MAX_CHARS + 100 }, (_, n) => String.fromCharCode(97 + (n % 23))).join('');
  const inPieces = (...sizes: readonly number[]): string | undefined => {
    let at = 0;
    const deltas = sizes.map((size, index): Made => {
      at += size;
      return { kind: 'content-delta', contentId: 'b', index, delta: long.slice(at - size, at) };
    });
    return folded(deltas).messages.get('b')?.text;
  };
  const whole = long.slice(0, MAX_CHARS);
  expect(inPieces(MAX_CHARS + 100) === whole).toBe(true);
  expect(inPieces(MAX_CHARS - 10, 50, 5, 55) === whole).toBe(true);
});
