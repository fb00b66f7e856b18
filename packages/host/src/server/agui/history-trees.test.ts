/** What a run of AG-UI knows of the rows before it. */
import { childRunIdOf, type JsonObject, type RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { context, creation, row, runA, runB, started } from '../../log/ports/samples.kit.ts';
import { readHistory } from './history.ts';

const child = childRunIdOf(runA, 0);
const grandchild = childRunIdOf(child, 0);

const faced = (face: JsonObject) => row('log.appended', { task: JSON.stringify(face) });
const working = { kind: 'task-status', status: 'working' };
const question = {
  kind: 'input-required',
  inputId: 'q',
  inputType: 'clarification',
  prompt: 'Where?',
  requireUser: true,
};
const text = (content: string) => ({ kind: 'content-complete', content, contentId: content });

/** A task whose child says nothing, while the child of that one says and asks something, beside another tree. */
async function contextOfTrees() {
  const store = inMemoryStore();
  const begin = (runId: RunId, parentRunId: RunId | null, ...faces: readonly JsonObject[]) => {
    const created = creation(runId).create;
    return store.log.append({
      ...creation(runId, { rows: [started(), ...faces.map(faced)] }),
      create: { tenant: 't', contextId: context, originRunId: runId, ...created, ...(parentRunId && { parentRunId }) },
    });
  };
  await begin(runA, null, { kind: 'task-created', initiator: 'user' }, working);
  await begin(child, runA);
  await begin(grandchild, child, working, text('I look.'), question);
  await begin(runB, null, { kind: 'task-created', initiator: 'user' });
  await begin(childRunIdOf(runB, 0), runB, text('I wait.'));
  return store;
}

const history = async (withMessages: boolean) => {
  const store = await contextOfTrees();
  const run = { threadId: 't', runId: 'r', taskId: runA };
  const head = await store.contexts.head(context);
  return readHistory(store, { contextId: context, run, after: head, head, withMessages });
};

test('a task below counts for its root, also when nothing was read of those between them', async () => {
  for (const withMessages of [false, true]) {
    const { state } = await history(withMessages);
    expect([...state.subagents.keys()]).toEqual([child, grandchild]);
    expect(state.subagents.get(grandchild)).toMatchObject({ parentSubagentRunId: child });
    expect([...state.questions.keys()]).toEqual(['q']);
  }
});

test('other trees are in the messages only', async () => {
  const { messages, state } = await history(true);
  expect(messages.messages()).toMatchObject([{ content: 'I look.' }, { content: 'I wait.' }]);
  expect([...state.subagents.keys()]).toEqual([child, grandchild]);
});
