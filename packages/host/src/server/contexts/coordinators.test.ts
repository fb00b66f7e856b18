/** Questions of subtasks go to the agents above, level by level, and then to the user; on a whole host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { chunk, type FakeReply, type FakeRequest, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import type { InputRequired, InputVerdict } from '../../agents/coordination/input-required.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { createHost, type Host } from '../create-host.ts';
import { says } from './talk.kit.ts';

const keys = {
  ann: 'ann-key-0123456789-abcdefghijklmnop',
  bob: 'bob-key-0123456789-abcdefghijklmnop',
  auditor: 'auditor-key-0123456789-abcdefghijkl',
};
const data = mkdtempSync(join(tmpdir(), 'cairn-coordinators-'));

const question = { id: 'color', question: 'Which color?', schema: { type: 'string', enum: ['red', 'blue'] } };
const asks = (id: string, config: JsonObject = { questions: [question] }) =>
  defineWorkflow({ id, version: '1', nodes: { ask: { type: 'core.clarificationGate', config } } });
/** A workflow in which an agent acts and a child run follows. */
const above = (id: string, agentId: string, workflowId: string) =>
  defineWorkflow({
    id,
    version: '1',
    nodes: {
      plan: { type: 'cairn.agent', agent: { agentId } },
      down: { type: 'core.subWorkflow', config: { workflowId } },
    },
    edges: [{ from: 'plan', to: 'down' }],
  });

const calls = (name: string, input: JsonObject): FakeReply => ({
  chunks: [
    chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name, arguments: JSON.stringify(input) } }] }),
    chunk({}, 'tool_calls'),
    usageChunk({ prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 }),
  ],
});
const isSideTurn = ({ body }: FakeRequest): boolean => JSON.stringify(body.tools ?? []).includes('"forward"');

let model: Awaited<ReturnType<typeof fakeOpenAi>>;
let host: Host;
let sideTurn: (request: FakeRequest) => FakeReply;
let hook: (input: InputRequired) => InputVerdict | undefined | Promise<InputVerdict | undefined>;
let hooked: InputRequired[] = [];
const sideTurns = () => model.requests.filter(isSideTurn);

async function start(): Promise<void> {
  host = await createHost({
    config: {
      port: 0,
      data,
      keys: [
        { key: keys.ann, tenant: 't', principal: 'ann' },
        { key: keys.bob, tenant: 't', principal: 'bob' },
        { key: keys.auditor, tenant: 't', scopes: ['runs:read', 'audit:read'] },
      ],
      agents: { coordinatorTimeoutMs: 2_000 },
      models: { providers: { local: { kind: 'openai-compatible', baseUrl: model.url } }, default: 'local/small' },
    },
    agents: [
      defineAgent({ id: 'host:boss', persona: 'Boss', instructions: 'Plan.' }),
      defineAgent({
        id: 'host:code',
        persona: 'Code',
        instructions: 'Plan.',
        onInputRequired: (input) => {
          hooked.push(input);
          return hook(input);
        },
      }),
    ],
    workflows: [
      asks('leaf'),
      asks('leaf-user', { questions: [question], contextType: 'cairn.require-user' }),
      defineWorkflow({ id: 'leaf-gate', version: '1', nodes: { ask: { type: 'core.approvalGate' } } }),
      defineWorkflow({
        id: 'plain',
        version: '1',
        nodes: { down: { type: 'core.subWorkflow', config: { workflowId: 'leaf' } } },
      }),
      above('model', 'host:boss', 'leaf'),
      above('code', 'host:code', 'leaf'),
      above('two', 'host:boss', 'code'),
      above('two-user', 'host:boss', 'one-user'),
      above('one-user', 'host:code', 'leaf-user'),
      above('to-gate', 'host:code', 'leaf-gate'),
    ],
    report: () => undefined,
  });
}

beforeAll(async () => {
  model = await fakeOpenAi((request) => (isSideTurn(request) ? sideTurn(request) : says('The user wants blue.')));
  await start();
});
afterAll(async () => {
  await host.close();
  await model[Symbol.asyncDispose]();
  rmSync(data, { recursive: true, force: true });
});
beforeEach(() => {
  sideTurn = () => calls('forward', {});
  hook = () => 'forward';
  hooked = [];
});

const run = (workflowId: string) =>
  host.engine.start({ tenant: 't', principal: 'ann', workflowId, inputs: { message: 'Paint it.' }, options: {} });

async function json(method: string, path: string, key = keys.ann, body?: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${host.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as JsonObject };
}
const eventsOf = async (contextId: string) =>
  (await json('GET', `/api/contexts/${contextId}/events?limit=500&subtasks=1`)).body.events as readonly JsonObject[];
const until = async (contextId: string, isThere: (event: JsonObject) => boolean): Promise<readonly JsonObject[]> => {
  for (;;) {
    const events = await eventsOf(contextId);
    if (events.some(isThere)) return events;
    await new Promise((next) => setTimeout(next, 5));
  }
};
const over = (runId: string) => (event: JsonObject) => event.kind === 'task-complete' && event.taskId === runId;
const inbox = async () => (await json('GET', '/v1/host/cairn/inbox')).body.entries as readonly JsonObject[];

it('takes the answer of the model above, on a branch of its conversation that never joins it', async () => {
  sideTurn = () => calls('answer', { color: 'blue' });
  const before = sideTurns().length;
  const { runId, contextId } = await run('model');
  const events = await until(contextId, over(runId));
  expect(events.find(({ kind }) => kind === 'input-received')).toMatchObject({
    taskId: `${runId}.0`,
    parentTaskId: runId,
    providedBy: 'agent',
    agentId: 'host:boss',
    metadata: { outcome: 'answered' },
  });
  expect(events.some(({ kind, userId }) => kind === 'input-forwarded' || userId !== undefined)).toBe(false);
  const [asked, ...more] = sideTurns().slice(before);
  expect(more).toEqual([]);
  const messages = asked?.body.messages as readonly JsonObject[];
  const said = messages.map(({ content }) => JSON.stringify(content)).join('\n');
  expect(said).toContain('Paint it.');
  expect(said).toContain('The user wants blue.');
  expect(said).toContain('<UNTRUSTED tool=\\"question\\">');
  expect(asked?.body.tools).toMatchObject([{ function: { name: 'answer' } }, { function: { name: 'forward' } }]);
  // The turn is paid by the run that asked, and shows in no conversation.
  const usage = events.filter(({ kind, taskId }) => kind === 'llm-usage' && taskId === `${runId}.0`);
  expect(usage).toMatchObject([{ inputTokens: 30, outputTokens: 5 }]);
  expect(events.some(({ kind, taskId }) => kind === 'content-delta' && taskId === `${runId}.0`)).toBe(false);
  const { body } = await json('GET', `/v1/runs/${runId}.0/debug-bundle`, keys.auditor);
  expect(body.spans).toContainEqual(
    expect.objectContaining({
      name: 'openwop.activity.cairn.coordinator',
      attributes: expect.objectContaining({
        'gen_ai.agent.id': 'host:boss',
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': 30,
        'gen_ai.usage.output_tokens': 5,
      }),
    }),
  );
  // A replay writes the same and asks nobody.
  const asks = model.requests.length;
  const fork = await json('POST', `/v1/runs/${runId}.0:fork`, keys.ann, { mode: 'replay', fromSeq: 0 });
  const copy = await until(String(fork.body.contextId), over(String(fork.body.runId)));
  expect(copy.find(({ kind }) => kind === 'input-received')).toMatchObject({
    providedBy: 'agent',
    agentId: 'host:boss',
  });
  expect(model.requests).toHaveLength(asks);
});

it('asks the user when the model forwards, answers what does not fit, calls both tools, or is too slow', async () => {
  const ways: readonly FakeReply[] = [
    calls('forward', {}),
    calls('answer', { color: 'green' }),
    calls('answer', { anything: 'blue' }),
    says('blue'),
    { status: 500, body: {} },
  ];
  for (const way of ways) {
    sideTurn = () => way;
    const { runId, contextId } = await run('model');
    const events = await until(contextId, ({ kind }) => kind === 'input-forwarded');
    const [asked] = events.filter(({ kind }) => kind === 'input-required');
    const told = events.find(({ kind }) => kind === 'input-forwarded');
    expect(told).toMatchObject({
      inputId: asked?.inputId,
      taskId: `${runId}.0`,
      parentTaskId: runId,
      metadata: { forwardedTo: 'user' },
    });
    const path = `/api/contexts/${contextId}/inputs/${asked?.inputId}`;
    expect((await json('POST', path, keys.ann, { value: 'green' })).status).toBe(422);
    expect((await json('POST', path, keys.ann, { value: 'red' })).status).toBe(202);
    expect(await json('POST', path, keys.ann, { value: 'red' })).toMatchObject({
      status: 409,
      body: { error: 'input_already_answered' },
    });
    const all = await until(contextId, over(runId));
    expect(all.find(({ kind }) => kind === 'input-received')).toMatchObject({ providedBy: 'user', userId: 'ann' });
  }
});

it('asks the function of an agent in code, and the next level above when that forwards', async () => {
  hook = () => ({ answer: 'red' });
  const one = await run('code');
  const events = await until(one.contextId, over(one.runId));
  expect(events.find(({ kind }) => kind === 'input-received')).toMatchObject({
    providedBy: 'agent',
    agentId: 'host:code',
  });
  expect(hooked).toMatchObject([
    { taskId: `${one.runId}.0`, parentTaskId: one.runId, prompt: 'Which color?', questions: [question] },
  ]);
  hook = () => 'forward';
  sideTurn = () => calls('answer', { color: 'blue' });
  const two = await run('two');
  const above = await until(two.contextId, over(two.runId));
  expect(above.find(({ kind }) => kind === 'input-received')).toMatchObject({
    taskId: `${two.runId}.0.0`,
    providedBy: 'agent',
    agentId: 'host:boss',
  });
  expect(hooked).toHaveLength(2);
});

it('never asks an agent what requires the user, nor to approve, and takes only the user who began', async () => {
  const before = sideTurns().length;
  const { runId, contextId } = await run('two-user');
  const events = await until(
    contextId,
    ({ status, taskId }) => status === 'waiting-input' && taskId === `${runId}.0.0`,
  );
  const asked = events.find(({ kind }) => kind === 'input-required');
  expect(asked).toMatchObject({ requireUser: true, taskId: `${runId}.0.0`, parentTaskId: `${runId}.0` });
  const path = `/api/contexts/${contextId}/inputs/${asked?.inputId}`;
  expect((await json('POST', path, keys.bob, { value: 'red' })).status).toBe(403);
  expect((await json('POST', path, keys.ann, { value: 'red' })).status).toBe(202);
  await until(contextId, over(runId));
  const gate = await run('to-gate');
  const told = await until(gate.contextId, ({ kind }) => kind === 'input-forwarded');
  const approval = told.find(({ kind }) => kind === 'input-required');
  await json('POST', `/api/contexts/${gate.contextId}/inputs/${approval?.inputId}`, keys.bob, { value: true });
  await until(gate.contextId, over(gate.runId));
  expect(hooked).toEqual([]);
  expect(sideTurns()).toHaveLength(before);
});

it('tells at once that the user is asked where no agent is above, and says nothing in a root', async () => {
  const child = await run('plain');
  const events = await until(child.contextId, ({ kind }) => kind === 'input-forwarded');
  expect(events.filter(({ kind }) => kind === 'input-forwarded')).toHaveLength(1);
  const root = await run('leaf');
  const own = await until(root.contextId, ({ status }) => status === 'waiting-input');
  expect(own.some(({ kind }) => kind === 'input-forwarded')).toBe(false);
});

it('lets the user answer first, shows the inbox a question only once it is forwarded, and limits the time', async () => {
  const held = Promise.withResolvers<InputVerdict>();
  hook = () => held.promise;
  const { runId, contextId } = await run('code');
  const events = await until(contextId, ({ kind }) => kind === 'input-required');
  const inputId = events.find(({ kind }) => kind === 'input-required')?.inputId;
  expect((await inbox()).filter((entry) => entry.interruptId === inputId)).toEqual([]);
  const { tasks } = (await json('GET', `/api/contexts/${contextId}/tasks`)).body;
  expect(tasks).toContainEqual(
    expect.objectContaining({
      taskId: runId,
      status: 'waiting-subtask',
      pending: [{ type: 'subtask', id: `${runId}.0` }],
    }),
  );
  await json('POST', `/api/contexts/${contextId}/inputs/${inputId}`, keys.ann, { value: 'red' });
  const all = await until(contextId, over(runId));
  expect(hooked[0]?.signal.aborted).toBe(true);
  expect(all.find(({ kind }) => kind === 'input-received')).toMatchObject({ providedBy: 'user' });
  const late = await run('code');
  const told = await until(late.contextId, ({ kind }) => kind === 'input-forwarded');
  const asked = told.find(({ kind }) => kind === 'input-required')?.inputId;
  expect((await inbox()).filter((entry) => entry.interruptId === asked)).toHaveLength(1);
});

it('asks again after a restart in the middle of a coordinator turn, and takes that answer once', async () => {
  hook = () => new Promise(() => undefined);
  const { runId, contextId } = await run('code');
  await until(contextId, ({ kind }) => kind === 'input-required');
  await host.close();
  hook = () => ({ answer: 'blue' });
  await start();
  const events = await until(contextId, over(runId));
  expect(events.filter(({ kind }) => kind === 'input-received')).toMatchObject([{ agentId: 'host:code' }]);
});
