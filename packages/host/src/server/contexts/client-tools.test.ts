/** Tools that the client executes: offered with a message, called by the agent, answered by the client. */
import { createClient, liveConversation } from '@cairn/client/context';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { agentOf, CalledHost, calls, type Event, keys, ofKind, says, type Task } from './called-host.kit.ts';

const pick = {
  name: 'pick_color',
  description: 'Lets the user pick a color.',
  parameters: { type: 'object', properties: { of: { type: 'array' } }, required: ['of'] },
};
const place = { name: 'locate', parameters: {} };
const tools = [pick, place];
const colors = { of: ['red', 'blue'] };

const hostTool = defineTool({
  id: 'acme.desk:look',
  description: 'Looks.',
  input: z.object({}),
  run: async () => ({ seen: true }),
});
let isSlowDone: Promise<void> = Promise.resolve();
const slowTool = defineTool({
  id: 'acme.desk:slow',
  description: 'Takes its time.',
  input: z.object({}),
  run: async () => isSlowDone.then(() => ({ slow: true })),
});
const host = new CalledHost(
  [
    agentOf('host:desk', [calls(['client:pick_color', colors]), says('Blue it is.')]),
    agentOf('host:both', [calls(['pick_color', colors], ['acme.desk:look', {}], ['locate', {}]), says('Done.')]),
    agentOf('host:slow', [calls(['pick_color', colors], ['acme.desk:slow', {}], ['locate', {}]), says('Done.')]),
    agentOf('host:wrong', [calls(['pick_color', { of: 'red' }]), says('Sorry.')]),
    agentOf('host:closed', [says('Hello.')], ['acme.desk:look']),
  ],
  [hostTool, slowTool],
);
beforeAll(() => host.start());
afterAll(() => host.close());

/** A task whose agent waits for the client. */
async function waiting(agentId = 'host:desk', count = 1) {
  const task = await host.send(agentId, { tools });
  let seen = 0;
  const events = await host.upTo(task, ({ kind }) => kind === 'input-required' && ++seen === count);
  return { task, events, asked: ofKind(events, 'input-required') };
}

const story = (events: readonly Event[], toolCallId: unknown, inputId: unknown) =>
  events.filter((event) => event.toolCallId === toolCallId || event.inputId === inputId).map(({ kind }) => kind);

it('asks the client for the result, and the agent goes on with it', async () => {
  const { task, asked } = await waiting();
  const [input] = asked;
  expect(input).toMatchObject({ inputType: 'tool-execution', requireUser: true, metadata: { timeout: 60 } });
  const { toolCallId, inputId, metadata } = input as Event;
  expect(metadata).toMatchObject({
    toolCall: { id: toolCallId, function: { name: 'pick_color', arguments: JSON.stringify(colors) } },
  });
  expect(await host.answer(task, inputId, { value: { color: 'blue' } })).toMatchObject({ status: 202 });
  const events = await host.ended(task);
  expect(story(events, toolCallId, inputId)).toEqual([
    'tool-start',
    'input-required',
    'input-received',
    'tool-complete',
  ]);
  expect(ofKind(events, 'tool-start')).toMatchObject([
    { toolName: 'client:pick_color', arguments: colors, metadata: { provider: 'client', cancelable: true } },
  ]);
  expect(ofKind(events, 'input-received')).toMatchObject([{ userId: 'ann', metadata: { outcome: 'answered' } }]);
  expect(ofKind(events, 'tool-complete')).toMatchObject([
    { toolCallId, success: true, result: { color: 'blue' }, metadata: { duration: expect.any(Number) } },
  ]);
  expect(events.at(-1)).toMatchObject({ kind: 'task-complete', content: 'Blue it is.' });
});

it('asks for all calls of a turn at once, beside tools of the host, and takes answers in any order', async () => {
  const { task, asked } = await waiting('host:both', 2);
  const [first, second] = asked;
  expect(asked.map(({ metadata }) => metadata)).toMatchObject([
    { toolCall: { function: { name: 'pick_color' } } },
    { toolCall: { function: { name: 'locate', arguments: '{}' } } },
  ]);
  await host.upTo(task, ({ status }) => status === 'waiting-input');
  const tasks = await host.json('GET', `/api/contexts/${task.contextId}/tasks`);
  expect(tasks.body.tasks).toMatchObject([
    { status: 'waiting-input', pending: [{ id: first?.inputId }, { id: second?.inputId }] },
  ]);
  expect((await host.answer(task, second?.inputId, { value: [1, 2] })).status).toBe(202);
  expect((await host.answer(task, first?.inputId, { value: 'red' })).status).toBe(202);
  const events = await host.ended(task);
  const results = ofKind(events, 'tool-complete').map(({ toolName, result }) => [toolName, result]);
  expect(new Map(results as [string, unknown][])).toEqual(
    new Map<string, unknown>([
      ['acme.desk:look', { seen: true }],
      ['client:locate', [1, 2]],
      ['client:pick_color', 'red'],
    ]),
  );
});

describe('while a tool of the host goes on', () => {
  const statuses = (events: readonly Event[]) => ofKind(events, 'task-status').map(({ status }) => status);
  const tasksOf = async ({ contextId }: Task) =>
    (await host.json('GET', `/api/contexts/${contextId}/tasks`)).body.tasks;

  it('the task works, and waits for its client once nothing else can go on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    isSlowDone = promise;
    const { task, asked } = await waiting('host:slow', 2);
    const pending = asked.map(({ inputId }) => ({ type: 'input', id: inputId }));
    expect(await tasksOf(task)).toMatchObject([{ status: 'working', pending }]);
    expect((await host.answer(task, asked[0]?.inputId, { value: 'red' })).status).toBe(202);
    resolve();
    const events = await host.upTo(task, ({ status }) => status === 'waiting-input');
    expect(statuses(events)).toEqual(['working', 'waiting-input']);
    expect(ofKind(events, 'tool-complete').map(({ toolName }) => toolName)).toContain('acme.desk:slow');
    expect(events.at(-1)).toMatchObject({ metadata: { blockedBy: 'user', pending: pending.slice(1) } });
    expect((await host.answer(task, asked[1]?.inputId, { value: 1 })).status).toBe(202);
    expect(statuses(await host.ended(task))).toEqual(['working', 'waiting-input', 'working', 'completed']);
  });

  it('a task whose client answers meanwhile never waits', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    isSlowDone = promise;
    const { task, asked } = await waiting('host:slow', 2);
    for (const { inputId } of asked) expect((await host.answer(task, inputId, { value: 1 })).status).toBe(202);
    resolve();
    expect(statuses(await host.ended(task))).toEqual(['working', 'completed']);
  });
});

it('takes one answer that fits, of the user who sent the message', async () => {
  const { task, asked } = await waiting();
  const inputId = asked[0]?.inputId;
  expect(await host.answer(task, inputId, { value: 1 }, keys.bob)).toMatchObject({ status: 403 });
  const large = await host.answer(task, inputId, { value: 'x'.repeat(240_001) });
  expect(large).toMatchObject({ status: 422, body: { error: 'input_invalid' } });
  expect((await host.answer(task, inputId, { value: null })).status).toBe(202);
  expect(await host.answer(task, inputId, { value: 2 })).toMatchObject({
    status: 409,
    body: { error: 'input_already_answered' },
  });
  expect(ofKind(await host.ended(task), 'tool-complete')).toMatchObject([{ success: true, result: null }]);
});

it('an error of the client is a failed result', async () => {
  const { task, asked } = await waiting();
  const answer = await host.answer(task, asked[0]?.inputId, { reject: true, reason: 'The picker is broken.' });
  expect(answer.status).toBe(202);
  const events = await host.ended(task);
  expect(ofKind(events, 'input-received')).toMatchObject([{ metadata: { outcome: 'rejected' } }]);
  expect(ofKind(events, 'tool-complete')).toMatchObject([
    { success: false, error: 'The picker is broken.', errorInfo: { code: 'tool_failed' } },
  ]);
  expect(events.at(-1)?.kind).toBe('task-complete');
});

it('refuses arguments that break the schema before the client sees them', async () => {
  const events = await host.ended(await host.send('host:wrong', { tools }));
  expect(ofKind(events, 'input-required')).toEqual([]);
  expect(ofKind(events, 'tool-complete')).toMatchObject([
    { success: false, errorInfo: { code: 'tool_invalid_arguments' } },
  ]);
});

it('fails with tool_timeout when nobody answers in time, and later answers come too late', async () => {
  const { task, asked } = await waiting();
  host.clock.advanceTo(host.clock.now() + 60_000);
  const events = await host.ended(task);
  expect(ofKind(events, 'tool-complete')).toMatchObject([
    { success: false, errorInfo: { code: 'tool_timeout', retryable: true } },
  ]);
  expect(ofKind(events, 'input-received')).toMatchObject([{ metadata: { outcome: 'timeout' } }]);
  expect((await host.answer(task, asked[0]?.inputId, { value: 1 })).status).toBe(409);
});

it('waits without a lease, survives a restart, and shows the open call to those who come later', async () => {
  const { task, asked } = await waiting();
  const head = await host.store.log.head(task.taskId as never);
  expect(head).toMatchObject({ owner: null });
  await host.restart();
  const late = await host.ask('GET', `/api/contexts/${task.contextId}/events?after=0`);
  const { events } = (await late.json()) as { events: Event[] };
  expect(ofKind(events, 'input-required')).toMatchObject([{ inputId: asked[0]?.inputId }]);
  expect((await host.answer(task, asked[0]?.inputId, { value: 'red' })).status).toBe(202);
  expect(ofKind(await host.ended(task), 'tool-complete')).toMatchObject([{ success: true, result: 'red' }]);
});

describe('cancel', () => {
  it('of the call ends it, and the agent goes on', async () => {
    const { task, asked } = await waiting('host:both', 2);
    const [first, second] = asked;
    const canceled = await host.cancelTool(task, first?.toolCallId, { reason: 'not now' });
    expect(canceled).toMatchObject({ status: 202, body: { toolCallId: first?.toolCallId, taskId: task.taskId } });
    expect((await host.answer(task, first?.inputId, { value: 1 })).status).toBe(409);
    expect(await host.cancelTool(task, first?.toolCallId)).toMatchObject({ status: 409, body: { error: 'conflict' } });
    expect((await host.answer(task, second?.inputId, { value: 2 })).status).toBe(202);
    const events = await host.ended(task);
    const complete = ofKind(events, 'tool-complete').find(({ toolCallId }) => toolCallId === first?.toolCallId);
    expect(complete).toMatchObject({
      success: false,
      error: 'canceled',
      errorInfo: { code: 'tool_canceled', message: 'The call was canceled: not now' },
    });
    const received = ofKind(events, 'input-received').map(({ metadata }) => metadata);
    expect(received).toMatchObject([{ outcome: 'canceled' }, { outcome: 'answered' }]);
    expect(events.at(-1)?.kind).toBe('task-complete');
    expect((await host.cancelTool(task, second?.toolCallId)).status).toBe(409);
  });

  it('of the task closes its open calls', async () => {
    const { task, asked } = await waiting('host:both', 2);
    await host.json('POST', `/api/contexts/${task.contextId}/tasks/${task.taskId}/cancel`, { body: {} });
    const events = await host.ended(task);
    expect(ofKind(events, 'input-received').map(({ inputId, metadata }) => [inputId, metadata])).toMatchObject(
      asked.map(({ inputId }) => [inputId, { outcome: 'canceled' }]),
    );
    for (const { success, error } of ofKind(events, 'tool-complete').slice(-2)) {
      expect({ success, error }).toEqual({ success: false, error: 'canceled' });
    }
    expect((await host.answer(task, asked[0]?.inputId, { value: 1 })).status).toBe(409);
    expect((await host.cancelTool(task, asked[0]?.toolCallId)).status).toBe(409);
  });

  it('of what the context does not have is not found', async () => {
    const { task, asked } = await waiting();
    const other = await waiting();
    expect((await host.cancelTool(other.task, asked[0]?.toolCallId)).status).toBe(404);
    expect((await host.cancelTool(task, 'nothing')).status).toBe(404);
    const [, token] = String(asked[0]?.toolCallId).split('_');
    expect((await host.cancelTool(task, `call_${token}_elsewhere#0.0/t0.0`)).status).toBe(404);
  });
});

/** Properties with patterns of 20,000 units each. */
const patterns = (count: number, start: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string', pattern: `^${start}${i}[a-z]{0,450}$` }]),
  );

describe('a message is refused', () => {
  const refused = async (body: object) =>
    (await host.json('POST', '/api/messages', { body: { message: { content: 'Go.' }, ...body } })).body;
  const desk = { agentId: 'host:desk' };
  it.each<[string, object, object]>([
    [
      'with a tool that no agent allows',
      { agentId: 'host:closed', tools },
      { message: expect.stringContaining('host:closed does not allow client:pick_color: its toolAllowlist needs') },
    ],
    ['with two tools of one name', { ...desk, tools: [pick, pick] }, { details: { field: 'tools[1].name' } }],
    [
      'with the name of a tool of the host',
      { ...desk, tools: [{ ...pick, name: 'acme_desk_look' }] },
      { details: { field: 'tools[0].name' } },
    ],
    [
      'with the name of a loop tool',
      { ...desk, tools: [{ ...pick, name: 'openwop_decide' }] },
      { error: 'validation_error' },
    ],
    ['with a name that no model takes', { ...desk, tools: [{ ...pick, name: 'a b' }] }, { error: 'validation_error' }],
    [
      'with parameters that are no schema',
      { ...desk, tools: [{ ...pick, parameters: { type: 'object', properties: 7 } }] },
      { details: { field: 'tools[0].parameters' } },
    ],
    [
      'with parameters of something else',
      { ...desk, tools: [{ ...pick, parameters: { type: 'string' } }] },
      { details: { field: 'tools[0].parameters' } },
    ],
    [
      'with too many tools',
      { ...desk, tools: Array.from({ length: 65 }, (_, i) => ({ ...place, name: `t${i}` })) },
      { error: 'validation_error' },
    ],
    [
      'with too much text',
      {
        ...desk,
        tools: Array.from({ length: 20 }, (_, i) => ({ ...place, name: `t${i}`, description: 'x'.repeat(4_000) })),
      },
      { details: { field: 'tools' } },
    ],
    [
      'with many tools whose patterns are dear to compile',
      {
        ...desk,
        tools: Array.from({ length: 15 }, (_, i) => ({
          ...place,
          name: `t${i}`,
          parameters: { properties: patterns(4, `${i}`) },
        })),
      },
      { details: { field: 'tools' }, message: expect.stringContaining('at most 1000000') },
    ],
  ])('%s', async (_, body, error) => {
    expect(await refused(body)).toMatchObject(error);
  });
});

it('the client runs the tools that a message brings, and answers their calls', async () => {
  const context = createClient({ url: host.url, key: keys.ann }).context();
  const parameters = { type: 'object' };
  const picked = {
    parameters: pick.parameters,
    run: ({ of }: JsonObject) => ({ color: Array.isArray(of) ? (of[1] ?? null) : null }),
  };
  const locate = {
    parameters,
    run: () => {
      throw new Error('No satellites.');
    },
  };
  const events: Event[] = [];
  const sent = context.send('Go.', { agentId: 'host:both', tools: { pick_color: picked, locate } });
  for await (const event of sent) events.push(event as Event);
  const results = ofKind(events, 'tool-complete').map(({ toolName, result, error }) => [toolName, result ?? error]);
  expect(results).toContainEqual(['client:pick_color', { color: 'blue' }]);
  expect(results).toContainEqual(['client:locate', 'No satellites.']);
  expect(events.at(-1)?.kind).toBe('task-complete');
});

it('a live conversation runs the tools that can be run, leaves the others to the page, and cancels a call', async () => {
  const live = liveConversation(createClient({ url: host.url, key: keys.ann }).context());
  const picked = { parameters: pick.parameters, run: () => 'red' };
  const tools = { pick_color: picked, locate: { parameters: { type: 'object' } } };
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = live.subscribe(() => {
    const { tasks, tools: shown } = live.getSnapshot().state;
    const [task] = tasks.values();
    if (task?.isOver) resolve();
    const [picking, , locating] = shown.values();
    if (picking?.status !== 'succeeded' || locating?.status !== 'running' || !locating.isCancelable) return;
    live.cancelTool(locating.toolCallId).catch(() => undefined);
  });
  await live.send('Go.', { agentId: 'host:both', tools });
  await promise;
  stop();
  const shown = [...live.getSnapshot().state.tools.values()].map(({ toolName, result, error }) => [
    toolName,
    result ?? error,
  ]);
  expect(shown).toContainEqual(['client:pick_color', 'red']);
  expect(shown).toContainEqual(['client:locate', 'canceled']);
});

it('a fork of a task that waits keeps its tools and its open call', async () => {
  const { task, asked } = await waiting();
  const source: Task = task;
  const run = await host.json('GET', `/v1/runs/${source.taskId}`);
  expect(run.status).toBe(200);
  const events = await host.json('GET', `/v1/runs/${source.taskId}/events`);
  const fromSeq = (events.body.events as { sequence: number }[]).at(-1)?.sequence;
  const fork = await host.json('POST', `/v1/runs/${source.taskId}:fork`, { body: { fromSeq, mode: 'branch' } });
  expect(fork).toMatchObject({ status: 201 });
  const runId = String(fork.body.runId);
  const branch = await host.json('GET', `/v1/runs/${runId}/interrupts`);
  expect(JSON.stringify(branch.body)).toContain(String(asked[0]?.inputId));
});
