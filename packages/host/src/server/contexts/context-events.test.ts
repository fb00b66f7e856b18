/** The events of a context: every surface shows the same, resumes anywhere, and shows nobody what is not theirs. */
import { setImmediate } from 'node:timers/promises';
import type { ContextId, RunId } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FairTurns } from '../../fair-turns.ts';
import { row, started } from '../../log/ports/samples.kit.ts';
import type { Call, KeyedRoute } from '../http/routes.ts';
import { contextEventRoutes } from './context-events.ts';
import type { ContextStreams } from './context-stream.ts';
import { type Frame, keys, says, Talk, until } from './talk.kit.ts';

let talk: Talk;
let contextId: ContextId;
beforeAll(async () => {
  talk = await Talk.open();
  talk.script = () => says('Hel', 'lo.');
  const { body } = await talk.send('Hello?');
  contextId = body.contextId as ContextId;
  await until(await talk.ask('GET', `/api/contexts/${contextId}/stream?after=0`), ended);
  await family();
});
afterAll(() => talk.close());

const ended = ({ data }: Frame) => data.kind === 'task-complete';
const face = (kind: string, fields: object = {}) => ({ task: JSON.stringify({ kind, ...fields }) });
const thought = (thoughtType: string, verbosity: string, more: object = {}) =>
  row(
    'agent.reasoned',
    face('thought-stream', { thoughtId: 'th', thoughtType, verbosity, content: 'hm', index: 0, ...more }),
  );

/** A task with a subtask, thoughts of every sort, and rows for operators, as an engine could have written them. */
async function family(): Promise<void> {
  const root = 'run_family' as RunId;
  const below = `${root}.0` as RunId;
  const { log } = talk.store;
  await log.append({
    runId: root,
    create: { tenant: 't', contextId, originRunId: root },
    rows: [
      { ...started({ workflowId: 'wf', owner: { tenant: 't' } }), ...face('task-created', { initiator: 'user' }) },
      thought('planning', 'brief', { metadata: { confidence: 0.9 } }),
      thought('decision', 'normal', { metadata: { confidence: 0.2 } }),
      thought('reasoning', 'detailed'),
      thought('reasoning', 'normal', { visibility: 'operator' }),
      row('cairn.internal.checkpoint', { ...face('internal:checkpoint', { iteration: 1 }), audience: 'operator' }),
      row('agent.reasoning.delta'),
    ],
  });
  await log.append({
    runId: below,
    create: { tenant: 't', contextId, originRunId: below, parentRunId: root },
    rows: [
      { ...started({ parentRunId: root, owner: { tenant: 't' } }), ...face('task-created', { initiator: 'agent' }) },
      row('interrupt.opened', face('input-required', { inputId: 'i', inputType: 'custom', prompt: '?' })),
      row('interrupt.resolved', face('error', { code: 'auth_denied', scope: 'auth', refId: 's' })),
      row('cairn.error', face('error', { code: 'tool_failed', scope: 'tool' })),
      row('run.completed', face('task-complete')),
    ],
  });
  await log.append({ runId: root, rows: [row('run.completed', face('task-complete'))] });
}

const streamed = async (query: string, key: string = keys.ann, after = '0') => {
  const response = await talk.ask('GET', `/api/contexts/${contextId}/stream?after=${after}&${query}`, { key });
  const found = await until(response, ({ event }) => event === 'stream:caught-up');
  return found.filter(({ id }) => id !== null);
};

const filters: readonly (readonly [query: string, kinds: readonly string[] | null])[] = [
  ['', null],
  [
    'kinds=task-created,task-complete',
    ['task-created', 'task-complete', 'task-created', 'task-created', 'task-complete', 'task-complete'],
  ],
  ['excludeKinds=thought-stream,content-delta&taskId=run_family', ['task-created', 'task-complete']],
  ['taskId=run_family.0', ['task-created', 'input-required', 'error', 'error', 'task-complete']],
  ['taskId=run_family&subtree=1&kinds=task-complete', ['task-complete', 'task-complete']],
  ['taskId=run_fam&subtree=1', []],
  // The error is the end of a refused sign-in.
  ['subtasks=0&taskId=run_family.0', ['input-required', 'error']],
  ['thoughtTypes=decision&kinds=thought-stream&taskId=run_family', ['thought-stream']],
  ['verbosity=brief&kinds=thought-stream&taskId=run_family', ['thought-stream']],
  ['verbosity=detailed&kinds=thought-stream&taskId=run_family', ['thought-stream', 'thought-stream', 'thought-stream']],
  ['minConfidence=0.5&kinds=thought-stream&verbosity=detailed&taskId=run_family', ['thought-stream', 'thought-stream']],
  ['minConfidence=0.30000000000000004&thoughtTypes=planning,decision&kinds=thought-stream', ['thought-stream']],
  ['minConfidence=1e-7&thoughtTypes=planning,decision&kinds=thought-stream', ['thought-stream', 'thought-stream']],
  ['kinds=thought-stream&taskId=run_family', ['thought-stream', 'thought-stream']],
  ['debug=1&kinds=internal:checkpoint', []],
];

describe('the events of a context', () => {
  it.each(filters)('with "%s" are the same replayed and in pages', async (query, kinds) => {
    const replayed = await streamed(query);
    const paged = await talk.events(contextId, query);
    expect(replayed.map(({ data }) => data)).toEqual(paged);
    if (kinds !== null) expect(paged.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('are live what they are replayed, for every filter', async () => {
    const head = (await talk.json('GET', `/api/contexts/${contextId}/tasks`)).body.head;
    const open = await Promise.all(
      filters.map(([query]) => talk.ask('GET', `/api/contexts/${contextId}/stream?after=latest&${query}`)),
    );
    const live = open.map((response) => until(response, ({ event }) => event === 'stream:closing'));
    const root = 'run_again' as RunId;
    const kinds = ['task-created', 'content-delta', 'task-status', 'error'];
    await talk.store.log.append({
      runId: root,
      create: { tenant: 't', contextId, originRunId: root },
      rows: [
        started({ owner: { tenant: 't' } }),
        ...kinds.map((kind) => row('x', face(kind))),
        thought('decision', 'brief'),
        row('y', { ...face('internal:checkpoint'), audience: 'operator' }),
        row('run.completed', face('task-complete')),
      ],
    });
    await talk.stop();
    const seen = await Promise.all(live);
    await talk.start();
    for (const [i, [query]] of filters.entries()) {
      const after = (await streamed(query, keys.ann, String(head))).map(({ id }) => id);
      expect([query, seen[i]?.flatMap(({ id }) => id ?? [])]).toEqual([query, after]);
    }
  });

  it('for operators reach only operators that ask for them, whatever the surface', async () => {
    const isInternal = ({ kind, visibility }: { readonly kind?: unknown; readonly visibility?: unknown }) =>
      String(kind).startsWith('internal:') || visibility === 'operator';
    const query = 'debug=1&verbosity=detailed';
    const replayed = await streamed(query, keys.operator);
    expect(replayed.filter(({ data }) => isInternal(data)).length).toBe(3);
    expect(replayed.find(({ data }) => data.kind === 'internal:checkpoint')?.event).toBe('checkpoint');
    expect((await talk.events(contextId, query, keys.operator)).filter(isInternal).length).toBe(3);
    for (const [asked, key] of [
      [query, keys.ann],
      ['verbosity=detailed', keys.operator],
    ] as const) {
      expect((await streamed(asked, key)).filter(({ data }) => isInternal(data))).toEqual([]);
      expect((await talk.events(contextId, asked, key)).filter(isInternal)).toEqual([]);
    }
  });

  it('show an operator who asks for everything the other rows as they are, live, replayed and in pages', async () => {
    const isRaw = (event: { readonly kind?: unknown }) => event.kind === undefined;
    const replayed = (await streamed('debug=1', keys.operator)).filter(({ data }) => isRaw(data));
    expect(replayed.find(({ event }) => event === 'cairn.model.requested')?.data).toMatchObject({
      contextId,
      type: 'cairn.model.requested',
      payload: { agentId: 'host:desk' },
    });
    const paged = (await talk.events(contextId, 'debug=1', keys.operator)).filter(isRaw);
    expect(paged).toEqual(replayed.map(({ data }) => data));
    const one = await streamed('debug=1&taskId=run_family', keys.operator);
    expect(one.filter(({ data }) => isRaw(data)).map(({ event }) => event)).toEqual(['agent.reasoning.delta']);
    for (const [query, key] of [
      ['debug=1', keys.ann],
      ['', keys.operator],
      ['debug=1&kinds=task-created', keys.operator],
    ] as const) {
      expect((await talk.events(contextId, query, key)).filter(isRaw)).toEqual([]);
    }
  });

  it('are fewer for a client that is behind and asks for it, and say the same', async () => {
    const plain = await streamed('kinds=content-delta,content-complete');
    const joined = await streamed('kinds=content-delta,content-complete&coalesce=1');
    const text = (all: readonly Frame[]) => all.map(({ data }) => data.delta ?? '').join('');
    expect(joined.length).toBeLessThan(plain.length);
    expect(text(joined)).toBe(text(plain));
    expect(joined[0]?.data).toMatchObject({ delta: 'Hello.', index: 0, metadata: { coalesced: 2 } });
    expect(joined[0]?.id).toBe(plain[1]?.id);
    expect((await talk.json('GET', `/api/contexts/${contextId}/stream?coalesce=yes`)).status).toBe(400);
  });

  it('begin anew for a client whose next events were purged', async () => {
    const { body } = await talk.send('One.');
    const path = `/api/contexts/${body.contextId}`;
    const first = await until(await talk.ask('GET', `${path}/stream?after=0`), ended);
    const second = await talk.send('Two.', `${path}/messages`);
    await until(await talk.ask('GET', `${path}/stream?after=${first.at(-1)?.id}`), ended);
    const resume = async (after: unknown) =>
      (await until(await talk.ask('GET', `${path}/stream?after=${after}`), ({ event }) => event === 'stream:caught-up'))
        .filter(({ id }) => id === null)
        .map(({ event, data }) => [event, data.reason]);
    const seen = first[2]?.id;
    expect(await resume(seen)).not.toContainEqual(['stream:reset', 'history-purged']);
    const purged = await talk.ask('DELETE', `/v1/runs/${body.taskId}`, { key: keys.operator });
    expect(purged.ok).toBe(true);
    expect(await resume(seen)).toContainEqual(['stream:reset', 'history-purged']);
    const paged = async (after: unknown) => (await talk.json('GET', `${path}/events?after=${after}`)).body.reset;
    expect([await paged(seen), await paged(0)]).toMatchObject([{ reason: 'history-purged' }, undefined]);
    expect(await resume(0)).not.toContainEqual(['stream:reset', 'history-purged']);
    const [left] = (await talk.events(String(body.contextId))).map(({ taskId, cursor }) => ({ taskId, cursor }));
    expect(left?.taskId).toBe(second.body.taskId);
    expect(await resume(Number(left?.cursor) - 1)).not.toContainEqual(['stream:reset', 'history-purged']);
  });

  it('go on after any cursor, each once, and name the parent of a subtask', async () => {
    const all = await streamed('verbosity=detailed');
    for (const [i, { id }] of all.entries()) {
      const response = await talk.ask('GET', `/api/contexts/${contextId}/stream?after=0&verbosity=detailed`, {
        headers: { 'last-event-id': String(id) },
      });
      const rest = await until(response, ({ event }) => event === 'stream:caught-up');
      expect(rest.filter((frame) => frame.id !== null)).toEqual(all.slice(i + 1));
      expect(rest[0]).toMatchObject({ event: 'stream:ready', data: { from: Number(id) } });
    }
    const parents = all.filter(({ data }) => data.taskId === 'run_family.0').map(({ data }) => data.parentTaskId);
    expect(new Set(parents)).toEqual(new Set(['run_family']));
  });

  it('of a page after the latest are none, and it names the cursor to go on with', async () => {
    const { body } = await talk.json('GET', `/api/contexts/${contextId}/events?after=latest`);
    expect(body).toEqual({ events: [], next: body.head, head: expect.any(Number) });
    expect(Number(body.head)).toBeGreaterThan(0);
  });

  it('are rendered as pages in turns, however many requests have read theirs in one', async () => {
    const begin: (() => void)[] = [];
    const pageTurns = new FairTurns({ budget: 1, nextTurn: (go) => void begin.push(go) });
    const [, pages] = contextEventRoutes({ ...talk.store, contextStreams: {} as ContextStreams, pageTurns });
    const request: { readonly params: unknown; readonly query: unknown } = { params: { contextId }, query: {} };
    const call = { caller: { tenant: 't' }, request } as Call;
    let sent = 0;
    const asked = Array.from({ length: 3 }, async () => {
      const text = await (pages as KeyedRoute).handle(call);
      sent += 1;
      return text;
    });
    const sentBy: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await vi.waitFor(() => expect(begin.length).toBe(1));
      await setImmediate();
      sentBy.push(sent);
      begin.shift()?.();
    }
    expect(sentBy).toEqual([1, 2, 3]);
    const texts = await Promise.all(asked);
    expect(new Set(texts).size).toBe(1);
  });

  it('begin anew for a client that is ahead of the log', async () => {
    const response = await talk.ask('GET', `/api/contexts/${contextId}/stream?after=999999999`);
    const found = await until(response, ({ event }) => event === 'stream:caught-up');
    expect(found.map(({ event }) => event)).toEqual(['stream:ready', 'stream:reset', 'stream:caught-up']);
    expect(found[1]?.data).toMatchObject({ reason: 'cursor-ahead', head: found[2]?.data.cursor });
    const { body } = await talk.json('GET', `/api/contexts/${contextId}/events?after=999999999`);
    const head = found[2]?.data.cursor;
    expect(body).toEqual({ events: [], next: head, head, reset: found[1]?.data });
  });

  it('show a late joiner the turn in progress, and nothing of the past when none is', async () => {
    const before = await until(
      await talk.ask('GET', `/api/contexts/${contextId}/stream`),
      ({ event }) => event === 'stream:caught-up',
    );
    expect(before.filter(({ id }) => id !== null)).toEqual([]);
    talk.script = () => ({ text: [], end: 'open' });
    const { body } = await talk.send('Wait.', `/api/contexts/${contextId}/messages`);
    const joined = await until(
      await talk.ask('GET', `/api/contexts/${contextId}/stream`),
      ({ event }) => event === 'stream:caught-up',
    );
    expect(joined.filter(({ id }) => id !== null)[0]?.data).toMatchObject({
      kind: 'task-created',
      taskId: body.taskId,
    });
    await talk.json('POST', `/api/contexts/${contextId}/tasks/${body.taskId}/cancel`, { body: {} });
  });

  it('are refused with a reason for parameters that mean nothing, and to strangers', async () => {
    const status = async (path: string, key = keys.ann) => (await talk.json('GET', path, { key })).status;
    for (const query of [
      'after=x',
      'after=-1',
      'kinds=no',
      'verbosity=loud',
      'minConfidence=2',
      'minConfidence=-0.1',
      'minConfidence=0x1',
      'subtree=yes',
    ]) {
      expect([query, await status(`/api/contexts/${contextId}/stream?${query}`)]).toEqual([query, 400]);
      expect([query, await status(`/api/contexts/${contextId}/events?${query}`)]).toEqual([query, 400]);
    }
    expect(await status(`/api/contexts/${contextId}/events?limit=501`)).toBe(400);
    for (const path of ['stream', 'events', 'tasks', 'tasks/run_family']) {
      expect(await status(`/api/contexts/${contextId}/${path}`, keys.other)).toBe(404);
      expect(await status(`/api/contexts/ctx_none/${path}`)).toBe(404);
    }
  });

  it('are read with a token of the context, and with none of a run or of another context', async () => {
    const { runId } = await talk.engine.start({ tenant: 't', workflowId: 'gate', inputs: {}, options: {} });
    const mint = async (of: string, id: string) =>
      String((await talk.json('POST', `/v1/runs/${id}/tokens`, { body: { of } })).body.token);
    const read = async (token: string) =>
      (await fetch(`${talk.url}/api/contexts/${contextId}/events?token=${token}`)).status;
    expect(await read(await mint('context', 'run_family'))).toBe(200);
    expect(await read(await mint('run', 'run_family'))).toBe(404);
    expect(await read(await mint('context', runId))).toBe(404);
  });
});
