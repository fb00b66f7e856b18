/** Messages become tasks of a context; their events are the response, one after the other and each once. */
import { parseShape, taskEvent } from '@cairn/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { type Frame, frames, keys, says, Talk, until } from './talk.kit.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await Talk.open();
});
afterAll(() => talk.close());
beforeEach(() => {
  talk.script = () => says('Hel', 'lo.');
});

const kindsOf = (found: readonly Frame[]) => found.map(({ event }) => event);
const ended = ({ data }: Frame) => data.kind === 'task-complete';
const never = { text: [], end: 'open' } as const;

describe('a message', () => {
  it('is answered with the events of its task, valid and in order, until the task ends', async () => {
    const response = await talk.ask('POST', '/api/messages', {
      body: { message: { role: 'user', content: 'Hello?' } },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const found: Frame[] = [];
    for await (const frame of frames(response)) found.push(frame);
    expect(kindsOf(found).slice(0, 2)).toEqual(['stream:ready', 'task-created']);
    expect(kindsOf(found).slice(-3)).toEqual(['task-status', 'task-complete', 'stream:closing']);
    expect(found.at(-1)?.data).toMatchObject({ reason: 'task-ended' });
    const events = found.filter(({ id }) => id !== null);
    for (const { data } of events) parseShape(taskEvent, data, 'The event');
    const cursors = events.map(({ id, data }) => [Number(id), data.cursor]);
    expect(cursors).toEqual(cursors.toSorted(([a = 0], [b = 0]) => a - b));
    expect(cursors.every(([id, cursor]) => id === cursor)).toBe(true);
    const deltas = events.filter(({ event }) => event === 'content-delta').map(({ data }) => data.delta);
    expect(deltas.join('')).toBe('Hello.');
    expect(events.find(({ event }) => event === 'content-complete')?.data.content).toBe('Hello.');
    expect(events[0]?.data).toMatchObject({ metadata: { message: { role: 'user', content: 'Hello?' } } });
    expect(response.headers.get('cairn-context-id')).toBe(events[0]?.data.contextId);
    expect(response.headers.get('cairn-task-id')).toBe(events[0]?.data.taskId);
  });

  it('is answered at once on request, with the cursor of its first event', async () => {
    const { status, body, headers } = await talk.send('Hello?');
    expect(status).toBe(202);
    expect(headers.get('preference-applied')).toBe('respond-async');
    const [first] = await talk.events(String(body.contextId));
    expect(first).toMatchObject({ kind: 'task-created', taskId: body.taskId, cursor: body.cursor });
  });

  it('with the same key is the same task, whose stream begins again', async () => {
    const body = { message: { role: 'user', content: 'Once.' } };
    const headers = { 'idempotency-key': 'once-and-only-once' };
    const [first, again] = await Promise.all(
      [1, 2].map(async (_, i) => {
        if (i === 1) await new Promise((resolve) => setImmediate(resolve));
        const response = await talk.ask('POST', '/api/messages', { body, headers });
        if (response.status === 409) return null;
        return until(response, ended);
      }),
    );
    const third = await until(await talk.ask('POST', '/api/messages', { body, headers }), ended);
    const ids = (found: readonly Frame[] | null | undefined) => found?.flatMap(({ id }) => id ?? []);
    expect(ids(third)?.length).toBeGreaterThan(3);
    for (const other of [first, again]) if (other != null) expect(ids(other)).toEqual(ids(third));
    const asynchronous = await talk.json('POST', '/api/messages', {
      body,
      headers: { ...headers, prefer: 'respond-async' },
    });
    expect(asynchronous.body.taskId).toBe(third[1]?.data.taskId);
  });

  it('shows the agent the earlier turns of its context, and goes to the agent that answered last', async () => {
    talk.script = () => says('Four.');
    const { body } = await talk.send('Two and two?', '/api/messages', { body: { agentId: 'host:clerk' } });
    const path = `/api/contexts/${body.contextId}/messages`;
    await until(await talk.ask('GET', `/api/contexts/${body.contextId}/stream?after=0`), ended);
    talk.script = () => says('Five.');
    const response = await talk.ask('POST', path, { body: { message: { role: 'user', content: 'And one?' } } });
    await until(response, ended);
    const shown = JSON.stringify(talk.requests.at(-1)?.body.messages);
    for (const text of ['Answer, too.', 'Two and two?', 'Four.', 'And one?']) expect(shown).toContain(text);
    const tasks = await talk.json('GET', `/api/contexts/${body.contextId}/tasks`);
    expect(tasks.body.tasks).toMatchObject([
      { agentId: 'host:clerk', status: 'completed', pending: [] },
      { taskId: body.taskId, agentId: 'host:clerk', status: 'completed' },
    ]);
  });

  it('goes to the agent that answered last, also after a hundred edits of artifacts', async () => {
    const { body } = await talk.send('Two and two?', '/api/messages', { body: { agentId: 'host:clerk' } });
    const path = `/api/contexts/${body.contextId}`;
    await until(await talk.ask('GET', `${path}/stream?after=0`), ended);
    const edits = Array.from({ length: 101 }, (_, i) => talk.ask('PUT', `${path}/artifacts/note-${i}.md`));
    expect(new Set((await Promise.all(edits)).map(({ status }) => status))).toEqual(new Set([201]));
    const again = await talk.send('And one?', `${path}/messages`);
    const task = await talk.json('GET', `${path}/tasks/${again.body.taskId}`);
    expect(task.body.agentId).toBe('host:clerk');
  });

  it('is refused with a reason when it is empty, too long, for nobody or for a context of others', async () => {
    const post = async (body: unknown, path = '/api/messages', key = keys.ann) => {
      const { status, body: refusal } = await talk.json('POST', path, { body, key });
      return [status, refusal.error];
    };
    const message = { role: 'user', content: 'x' };
    expect(await post({ message: { role: 'user', content: '' } })).toEqual([400, 'validation_error']);
    expect(await post({ message: { role: 'system', content: 'x' } })).toEqual([400, 'validation_error']);
    expect(await post({ message: { role: 'user', content: 'x'.repeat(131_073) } })).toEqual([400, 'validation_error']);
    expect(await post({ message: { role: 'user', content: 'é'.repeat(400_000) } })).toEqual([413, 'payload_too_large']);
    expect(await post({ message }, '/api/messages?ifBusy=maybe')).toEqual([400, 'validation_error']);
    expect(await post({ message, contextId: 'ctx_none' })).toEqual([404, 'not_found']);
    expect(await post({ message, agentId: 'host:nobody' })).toEqual([404, 'not_found']);
    const { body } = await talk.send('Mine.');
    expect(await post({ message }, `/api/contexts/${body.contextId}/messages`, keys.other)).toEqual([404, 'not_found']);
  });
});

describe('a second message while a task is open', () => {
  it('waits for its turn, also over a restart, and no more than the limit do', async () => {
    talk.script = () => never;
    const { body: first } = await talk.send('One');
    const path = `/api/contexts/${first.contextId}/messages`;
    const { body: second, status } = await talk.send('Two', path);
    expect(status).toBe(202);
    const { body: third } = await talk.send('Three', path);
    expect(await talk.send('Four', path)).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
    expect(await talk.send('Five', path, { query: '?ifBusy=reject' })).toMatchObject({
      status: 409,
      body: { error: 'conflict', details: { taskId: first.taskId } },
    });
    const listed = await talk.json('GET', `/api/contexts/${first.contextId}/tasks`);
    expect(listed.body.tasks).toMatchObject([{ status: 'queued' }, { status: 'queued' }, { status: 'working' }]);
    await talk.stop();
    talk.script = () => says('Done.');
    await talk.start();
    const stream = await talk.ask('GET', `/api/contexts/${first.contextId}/stream?after=0`);
    const found = await until(stream, (frame) => ended(frame) && frame.data.taskId === third.taskId);
    const order = found.flatMap(({ data }) => (data.kind === 'task-complete' ? [data.taskId] : []));
    expect(order).toEqual([first.taskId, second.taskId, third.taskId]);
    const begun = found.findIndex(({ data }) => data.taskId === second.taskId && data.kind === 'task-status');
    const over = found.findIndex(({ data }) => data.taskId === first.taskId && data.kind === 'task-complete');
    expect(begun).toBeGreaterThan(over);
  });

  it('can cancel the first', async () => {
    talk.script = () => never;
    const { body: first } = await talk.send('One');
    const path = `/api/contexts/${first.contextId}/messages`;
    talk.script = (request) => (JSON.stringify(request.body).includes('Two') ? says('Done.') : never);
    const body = { message: { role: 'user', content: 'Two' } };
    await until(await talk.ask('POST', `${path}?ifBusy=cancel`, { body }), ended);
    const events = await talk.events(String(first.contextId), 'kinds=task-status');
    expect(events.filter(({ taskId }) => taskId === first.taskId).at(-1)).toMatchObject({ status: 'canceled' });
  });
});

describe('a task', () => {
  it('is cancelled once and for all, and is unknown in another context', async () => {
    talk.script = () => never;
    const { body } = await talk.send('One');
    const task = `/api/contexts/${body.contextId}/tasks/${body.taskId}`;
    const { body: elsewhere } = await talk.send('Elsewhere');
    const wrong = `/api/contexts/${elsewhere.contextId}/tasks/${body.taskId}`;
    expect((await talk.json('POST', `${wrong}/cancel`, { body: {} })).status).toBe(404);
    expect((await talk.json('GET', wrong)).status).toBe(404);
    expect(await talk.json('POST', `${task}/cancel`, { body: { reason: 'enough' } })).toMatchObject({ status: 202 });
    const events = await until(
      await talk.ask('GET', `/api/contexts/${body.contextId}/stream?after=0`),
      ({ data }) => data.status === 'canceled',
    );
    expect(present(events.at(-1)).data).toMatchObject({
      message: 'enough',
      metadata: { reason: 'canceled_by_user' },
    });
    const { body: shown } = await talk.json('GET', task);
    expect(shown).toMatchObject({ taskId: body.taskId, status: 'canceled', children: [], pending: [] });
    await talk.json('POST', `/api/contexts/${elsewhere.contextId}/tasks/${elsewhere.taskId}/cancel`, { body: {} });
  });
});
