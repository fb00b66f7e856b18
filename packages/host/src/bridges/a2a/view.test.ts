/** The rows of the mapping, one by one. */
import { expect, test } from 'vitest';
import { SUBTASK, stamped, TASK } from './task-log.kit.ts';
import type { A2aUpdate } from './update.ts';
import { v1Update } from './v1.ts';
import { v03Update } from './v03.ts';
import { a2aUpdates, newA2aView } from './view.ts';

type Faces = Parameters<typeof stamped>[0];

const artifactUrl = (contextId: string, id: string) => `https://host.example/${contextId}/${id}`;

function updatesOf(...faces: Faces): readonly A2aUpdate[] {
  const view = newA2aView({ taskId: TASK, hostId: 'host/1', artifactUrl });
  return stamped(faces).flatMap((event) => a2aUpdates(view, event));
}

/** The state and the texts of each status update. */
const said = (updates: readonly A2aUpdate[]) =>
  updates.flatMap((update) =>
    update.type === 'status'
      ? [
          [
            update.status.state,
            ...(update.status.message?.parts ?? []).flatMap((part) => ('text' in part ? [part.text] : [])),
          ],
        ]
      : [],
  );

const flags = (updates: readonly A2aUpdate[]) =>
  updates.flatMap((update) =>
    update.type === 'artifact' ? [{ parts: update.artifact.parts, append: update.append, last: update.lastChunk }] : [],
  );

test('a created task is submitted, with the message in its history and its origin in its metadata', () => {
  const [update] = updatesOf({
    kind: 'task-created',
    initiator: 'user',
    metadata: { message: { role: 'user', content: 'Hi.' } },
  });
  const timestamp = '2026-01-01T00:00:00.000Z';
  const ids = { messageId: 'run_a:0', contextId: 'ctx_1', taskId: TASK };
  const metadata = { openwop: { runId: TASK, hostId: 'host/1', eventId: 'run_a:0' } };
  expect(update && v1Update(update)).toEqual({
    task: {
      id: TASK,
      contextId: 'ctx_1',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp },
      history: [{ ...ids, role: 'ROLE_USER', parts: [{ text: 'Hi.' }] }],
      metadata,
    },
  });
  expect(update && v03Update(update)).toEqual({
    kind: 'task',
    id: TASK,
    contextId: 'ctx_1',
    status: { state: 'submitted', timestamp },
    history: [{ kind: 'message', ...ids, role: 'user', parts: [{ kind: 'text', text: 'Hi.' }] }],
    metadata,
  });
});

test('the states of a task are those of its statuses, and a success is told once', () => {
  const updates = updatesOf(
    { kind: 'task-status', status: 'working' },
    { kind: 'task-status', status: 'waiting-subtask' },
    { kind: 'task-status', status: 'working', message: 'Goes on.' },
    { kind: 'task-status', status: 'completed' },
    { kind: 'task-complete', content: 'Done.' },
  );
  expect(said(updates)).toEqual([['working'], ['working'], ['working', 'Goes on.'], ['completed', 'Done.']]);
  const last = updates.at(-1);
  expect(last && v03Update(last)).toMatchObject({ kind: 'status-update', final: true, status: { state: 'completed' } });
  expect(updates.slice(0, -1).map((update) => v03Update(update).final)).toEqual([false, false, false]);
});

test('a failure is final and names its error; a cancellation is final and names its reason', () => {
  const error = { code: 'tool_failed', message: 'It broke.', retryable: false, details: { host: 'internal' } };
  const [failed] = updatesOf({ kind: 'task-status', status: 'failed', error });
  expect(failed).toMatchObject({
    isFinal: true,
    status: { state: 'failed', message: { parts: [{ text: 'It broke.' }] } },
    metadata: { openwop: { error: { code: 'tool_failed', message: 'It broke.' } } },
  });
  const [canceled] = updatesOf({ kind: 'task-status', status: 'canceled', metadata: { reason: 'enough' } });
  expect(canceled).toMatchObject({
    isFinal: true,
    status: { state: 'canceled', message: { parts: [{ text: 'enough' }] } },
  });
});

test('nothing follows the end of a task', () => {
  const updates = updatesOf(
    { kind: 'task-complete' },
    { kind: 'task-status', status: 'working' },
    { kind: 'task-complete' },
  );
  expect(updates).toHaveLength(1);
});

test('text comes in pieces, and its end says nothing twice', () => {
  const updates = updatesOf(
    { kind: 'content-delta', delta: 'Hel', index: 0, contentId: 'c' },
    { kind: 'content-delta', delta: 'lo.', index: 1, contentId: 'c' },
    { kind: 'content-complete', content: 'Hello.', contentId: 'c' },
    { kind: 'content-complete', content: 'At once.', contentId: 'd' },
  );
  expect(flags(updates)).toEqual([
    { parts: [{ text: 'Hel' }], append: false, last: false },
    { parts: [{ text: 'lo.' }], append: true, last: false },
    { parts: [{ text: '' }], append: true, last: true },
    { parts: [{ text: 'At once.' }], append: false, last: true },
  ]);
});

test('blocks without an id are artifacts of their own', () => {
  const updates = updatesOf(
    { kind: 'content-delta', delta: 'a', index: 0 },
    { kind: 'content-complete', content: 'a' },
    { kind: 'content-complete', content: 'b' },
    { kind: 'content-delta', delta: 'c', index: 0 },
  );
  const ids = updates.map((update) => (update.type === 'artifact' ? update.artifact.artifactId : null));
  expect(ids).toEqual(['run_a:content:1', 'run_a:content:1', 'run_a:content:2', 'run_a:content:3']);
});

test('a file of bytes keeps its encoding after the first piece', () => {
  const updates = updatesOf(
    { kind: 'file-write', artifactId: 'f', data: 'AAEC', index: 0, complete: false, name: 'a.bin', encoding: 'base64' },
    { kind: 'file-write', artifactId: 'f', data: 'AwQF', index: 1, complete: true },
  );
  expect(flags(updates)).toEqual([
    { parts: [{ bytes: 'AAEC', filename: 'a.bin' }], append: false, last: false },
    { parts: [{ bytes: 'AwQF', filename: 'a.bin' }], append: true, last: true },
  ]);
  const file = { bytes: 'AwQF', name: 'a.bin' };
  expect(updates[1] && v03Update(updates[1])).toMatchObject({ artifact: { parts: [{ kind: 'file', file }] } });
  expect(updates[1] && v1Update(updates[1])).toMatchObject({
    artifactUpdate: { artifact: { parts: [{ raw: 'AwQF', filename: 'a.bin' }] } },
  });
});

test('a file with a piece outside the log is given by its address when it is complete', () => {
  const blob = { sha256: 'ab', bytes: 9 };
  const piece = { kind: 'file-write', artifactId: 'f', data: '' };
  const updates = updatesOf(
    { ...piece, data: 'begin', index: 0, complete: false, name: 'big.txt', mimeType: 'text/plain' },
    { ...piece, index: 1, complete: false, metadata: { blob } },
    { ...piece, data: 'end', index: 2, complete: true },
  );
  const url = 'https://host.example/ctx_1/f';
  expect(flags(updates)).toEqual([
    { parts: [{ text: 'begin', filename: 'big.txt', mediaType: 'text/plain' }], append: false, last: false },
    { parts: [{ url, filename: 'big.txt', mediaType: 'text/plain' }], append: false, last: true },
  ]);
  expect(updates[1] && v03Update(updates[1])).toMatchObject({
    artifact: { parts: [{ kind: 'file', file: { uri: url, name: 'big.txt', mimeType: 'text/plain' } }] },
  });
});

test('records and datasets are data; a dataset comes batch by batch', () => {
  const updates = updatesOf(
    { kind: 'data-write', artifactId: 'r', data: { total: 3 }, name: 'sum' },
    { kind: 'dataset-write', artifactId: 'd', rows: [{ n: 1 }], index: 0, complete: false, schema: { type: 'object' } },
    { kind: 'dataset-write', artifactId: 'd', rows: [], index: 1, complete: true },
  );
  expect(flags(updates)).toEqual([
    { parts: [{ data: { total: 3 } }], append: false, last: true },
    { parts: [{ data: { rows: [{ n: 1 }] } }], append: false, last: false },
    { parts: [{ data: { rows: [] } }], append: true, last: true },
  ]);
});

test('a task that waits for input shows its questions and the form of their answers', () => {
  const updates = updatesOf(
    {
      kind: 'input-required',
      inputId: 'i',
      inputType: 'confirmation',
      prompt: 'Ship it?',
      schema: { type: 'boolean' },
    },
    { kind: 'task-status', status: 'waiting-input' },
    { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann' },
    { kind: 'task-status', status: 'working' },
  );
  expect(said(updates)).toEqual([['input-required', 'Ship it?'], ['working']]);
  expect(updates[0]).toMatchObject({
    isFinal: false,
    status: {
      message: {
        role: 'agent',
        parts: [{}, { data: { inputId: 'i', inputType: 'confirmation', schema: { type: 'boolean' } } }],
      },
    },
    metadata: { openwop: { interrupt: { kind: 'approval', interruptId: 'i' } } },
  });
});

test('a task that waits before it says for what tells both at once', () => {
  const updates = updatesOf(
    { kind: 'task-status', status: 'working' },
    { kind: 'task-status', status: 'waiting-input', metadata: { pending: [{ type: 'input', id: 'i' }] } },
    { kind: 'input-required', inputId: 'i', inputType: 'clarification', prompt: 'Is it right?' },
    { kind: 'input-required', inputId: 'k', inputType: 'clarification', prompt: 'And this?' },
  );
  expect(said(updates)).toEqual([
    ['working'],
    ['input-required', 'Is it right?'],
    ['input-required', 'Is it right?', 'And this?'],
  ]);
});

test('the answer to one of two questions leaves the other one, which the peer is told of anew', () => {
  const updates = updatesOf(
    { kind: 'input-required', inputId: 'i', inputType: 'clarification', prompt: 'Which one?' },
    { kind: 'input-required', inputId: 'k', inputType: 'clarification', prompt: 'And when?' },
    { kind: 'task-status', status: 'waiting-input' },
    { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann' },
    { kind: 'input-received', inputId: 'k', providedBy: 'user', userId: 'ann' },
    { kind: 'task-status', status: 'working' },
  );
  expect(said(updates)).toEqual([
    ['input-required', 'Which one?', 'And when?'],
    ['input-required', 'And when?'],
    ['working'],
  ]);
});

test('a tool that the caller executes is asked for at once, with its call', () => {
  const toolCall = { id: 'c1', function: { name: 'pick', arguments: '{}' } };
  const updates = updatesOf(
    { kind: 'input-required', inputId: 'i', inputType: 'tool-execution', prompt: 'Run pick.', metadata: { toolCall } },
    { kind: 'task-status', status: 'waiting-input' },
  );
  expect(said(updates)).toEqual([
    ['input-required', 'Run pick.'],
    ['input-required', 'Run pick.'],
  ]);
  expect(updates[0]).toMatchObject({ status: { message: { parts: [{}, { data: { toolCall } }] } } });
});

test('a sign-in is asked for with its address and without any key', () => {
  const updates = updatesOf(
    {
      kind: 'auth-required',
      authId: 's',
      authType: 'oauth2',
      provider: 'forge',
      prompt: 'Sign in.',
      authUrl: 'https://sign.example/in',
      encryptionKey: { kty: 'EC' },
    },
    { kind: 'task-status', status: 'waiting-auth' },
  );
  expect(said(updates)).toEqual([['auth-required', 'Sign in.']]);
  const form = { authId: 's', authType: 'oauth2', provider: 'forge', authUrl: 'https://sign.example/in' };
  expect(updates[0]).toMatchObject({ status: { message: { parts: [{}, { data: form }] } } });
  expect(JSON.stringify(updates)).not.toContain('EC');
});

const below = (face: Faces[number]) => ({ ...face, taskId: SUBTASK });

test('what a task below asks the caller, the task asks', () => {
  const updates = updatesOf(
    { kind: 'task-status', status: 'waiting-subtask' },
    below({ kind: 'input-required', inputId: 'j', inputType: 'custom', prompt: 'Which?' }),
    below({ kind: 'task-status', status: 'waiting-input' }),
    below({ kind: 'input-forwarded', inputId: 'j' }),
    { kind: 'task-status', status: 'waiting-subtask' },
    below({ kind: 'input-received', inputId: 'j', providedBy: 'user', userId: 'ann' }),
  );
  expect(said(updates)).toEqual([['working'], ['input-required', 'Which?'], ['input-required', 'Which?'], ['working']]);
});

test('a question that the agent above a task answers never reaches the caller', () => {
  const updates = updatesOf(
    below({ kind: 'input-required', inputId: 'j', inputType: 'custom', prompt: 'Which?' }),
    below({ kind: 'input-received', inputId: 'j', providedBy: 'agent', agentId: 'host:boss' }),
  );
  expect(updates).toEqual([]);
});

test('a detached task asks after its parent has ended, and a task of another tree never does', () => {
  const detached = { taskId: `${SUBTASK}.0`, parentTaskId: SUBTASK };
  const other = { taskId: 'run_b.0', parentTaskId: 'run_b' };
  const asks = { kind: 'input-required', inputType: 'custom', prompt: 'Which?', requireUser: true };
  const updates = updatesOf(
    { kind: 'task-status', status: 'working' },
    below({ kind: 'task-status', status: 'working' }),
    below({ kind: 'task-complete' }),
    { kind: 'task-status', status: 'working', ...detached },
    { ...asks, inputId: 'j', ...other },
    { ...asks, inputId: 'k', ...detached },
  );
  expect(said(updates)).toEqual([['working'], ['input-required', 'Which?']]);
});

test('the end of a task below ends its questions', () => {
  const updates = updatesOf(
    { kind: 'task-status', status: 'working' },
    below({ kind: 'input-required', inputId: 'j', inputType: 'custom', prompt: 'Which?', requireUser: true }),
    below({ kind: 'task-status', status: 'canceled' }),
  );
  expect(said(updates)).toEqual([['working'], ['input-required', 'Which?'], ['working']]);
});
