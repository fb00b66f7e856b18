/** Supervisors, their workers and what all of them may spend, on a whole host. */
import { createClient } from '@cairn/client';
import type { Json, JsonObject, RunStatus, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chunk, type FakeReply, type FakeRequest, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { present } from '../../../test/kit/present.ts';
import { type AgentOptions, defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow, type NodeOptions, variable } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type HostOptions } from '../create-host.ts';

const key = 'a-key-of-enough-characters';

interface Office {
  readonly agents?: readonly AgentOptions[];
  readonly workflows: readonly WorkflowDefinition[];
  readonly config?: Partial<NonNullable<HostOptions['config']> & object>;
}

async function open({ agents = [], workflows, config = {} }: Office) {
  const host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }], ...config },
    agents: agents.map(defineAgent),
    workflows,
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  const client = createClient({ url: host.url ?? '', key });
  const start = async (workflowId: string, more: JsonObject = {}) =>
    (await client.runs.create({ workflowId, inputs: { topic: 'tides' }, ...more })).runId;
  /** The rows of a run once it has ended. */
  const ended = async (runId: string) => {
    const rows: { type: string; payload: JsonObject }[] = [];
    for await (const { type, payload } of client.follow(runId)) rows.push({ type, payload: payload as JsonObject });
    return { rows, of: (type: string) => rows.filter((row) => row.type === type).map(({ payload }) => payload) };
  };
  const get = (runId: string) => fetch(`${host.url}/v1/runs/${runId}`, { headers: { authorization: `Bearer ${key}` } });
  return { client, start, ended, get };
}

const scopes = ['manifest:read', 'runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'audit:read'] as const;

const workers = [{ id: 'research', description: 'Finds out what is known.' }];
const boss: AgentOptions = { id: 'host:boss', persona: 'Boss', instructions: 'Get it done.' };
const researcher: AgentOptions = { id: 'host:researcher', persona: 'Researcher', instructions: 'Look it up.' };

const supervisor = (config: JsonObject = { workers }): NodeOptions => ({
  type: 'core.orchestrator.supervisor',
  agent: { agentId: 'host:boss' },
  config,
  inputs: { topic: variable('topic'), findings: variable('findings') },
});

const office = (isLoop: boolean, config?: JsonObject) =>
  defineWorkflow({
    id: 'office',
    version: '1',
    variables: { topic: { type: 'string' }, findings: { type: 'string', defaultValue: 'nothing yet' } },
    nodes: {
      boss: supervisor(config),
      dispatch: {
        type: 'core.dispatch',
        config: { inputMapping: { topic: 'topic' }, outputMapping: { findings: 'found' } },
      },
    },
    edges: [{ from: 'boss', to: 'dispatch' }, ...(isLoop ? [{ from: 'dispatch', to: 'boss' } as const] : [])],
  });

const research = defineWorkflow({
  id: 'research',
  version: '1',
  variables: { topic: { type: 'string' }, found: { type: 'string' } },
  nodes: {
    work: { type: 'cairn.agent', agent: { agentId: 'host:researcher' }, inputs: { topic: variable('topic') } },
    keep: {
      type: 'core.setVariable',
      config: { name: 'found' },
      inputs: { value: { type: 'connection', nodeId: 'work', outputKey: 'content' } },
    },
  },
  edges: [{ from: 'work', to: 'keep' }],
});

describe('a supervisor on the scripted model', () => {
  const decides = (decision: Json, confidence?: number): AgentOptions => ({
    ...boss,
    confidenceThreshold: 0.7,
    rehearsal: {
      turns: [[{ decide: { decision, ...(confidence === undefined ? {} : { confidence }) } }]],
    } as JsonObject,
  });
  const finds: AgentOptions = { ...researcher, rehearsal: { turns: [[{ say: 'The moon does it.' }]] } };
  const send = { kind: 'next-worker', nextWorkerIds: ['research'] };

  test('sends its worker, and what the worker made is the run’s', async () => {
    const { start, ended, client } = await open({
      agents: [decides(send), finds],
      workflows: [office(false), research],
    });
    const runId = await start('office');
    const { of } = await ended(runId);
    expect(of('run.failed')).toEqual([]);
    expect(of('runOrchestrator.decided')).toMatchObject([{ agentId: 'host:boss', decision: send }]);
    const snapshot = await client.runs.get(runId);
    expect(snapshot).toMatchObject({ status: 'completed', variables: { findings: 'The moon does it.' } });
    expect(snapshot.runOrchestrator).toMatchObject({ agentId: 'host:boss' });
  });

  test('holds a decision it is not sure of until a person has looked', async () => {
    const { start, ended, client } = await open({
      agents: [decides(send, 0.4), finds],
      workflows: [office(false), research],
    });
    const runId = await start('office');
    for await (const { type } of client.follow(runId)) if (type === 'node.suspended') break;
    expect((await client.runs.get(runId)).status).toBe('waiting-approval');
    const { token } = await client.interrupts.token(runId, 'boss');
    await client.interrupts.resolve(token, { action: 'approve' });
    const { rows, of } = await ended(runId);
    expect(of('interrupt.requested')).toMatchObject([{ kind: 'low-confidence' }]);
    const types = rows.map(({ type }) => type);
    expect(types.indexOf('runOrchestrator.decided')).toBeGreaterThan(types.indexOf('interrupt.resolved'));
    expect(types).toContain('run.completed');
  });

  test('asks a person before a decision below the floor is carried out', async () => {
    const unsure = { ...send, confidence: 0.2 };
    const { start, client } = await open({ agents: [decides(unsure), finds], workflows: [office(false), research] });
    const runId = await start('office');
    const seen: string[] = [];
    for await (const { type } of client.follow(runId)) {
      seen.push(type);
      if (type === 'node.suspended') break;
    }
    expect(seen).toContain('core.workflowChain.confidence-escalated');
    expect(seen).not.toContain('core.workflowChain.event');
  });
});

describe('a supervisor on a model of a server', () => {
  const says = (text: string): FakeReply => ({
    chunks: [
      chunk({ content: text }),
      chunk({}, 'stop'),
      usageChunk({ prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 }),
    ],
  });
  const decides = (decision: JsonObject): FakeReply => says(JSON.stringify(decision));
  const textOf = ({ body }: FakeRequest): string => JSON.stringify(body.messages);

  async function opened(replies: readonly FakeReply[], isLoop = true) {
    const server = await fakeOpenAi((_, index) => replies[index] ?? { status: 500 });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const models = {
      providers: { local: { kind: 'openai-compatible' as const, baseUrl: server.url } },
      default: 'local/small',
    };
    const on = await open({
      agents: [boss, researcher],
      workflows: [office(isLoop), research],
      config: { models },
    });
    return { ...on, server };
  }

  test('knows its workers, is told what is wrong with a decision, and sees what its workers brought', async () => {
    const { start, ended, server } = await opened([
      decides({ kind: 'next-worker', nextWorkerIds: ['nobody'] }),
      decides({ kind: 'next-worker', nextWorkerIds: ['research'] }),
      says('The moon does it.'),
      decides({ kind: 'terminate', reason: 'goal-reached' }),
    ]);
    const { of } = await ended(await start('office'));
    expect(of('run.failed')).toEqual([]);
    expect(of('run.completed')).toMatchObject([{ reason: 'goal-reached' }]);
    expect(of('runOrchestrator.decided').map(({ decision }) => (decision as JsonObject).kind)).toEqual([
      'next-worker',
      'terminate',
    ]);
    const [first, again, , last] = server.requests;
    expect(textOf(present(first))).toContain('research: Finds out what is known.');
    expect(textOf(present(first))).not.toContain('moon');
    expect(textOf(present(again))).toContain('does not have the required shape');
    expect(textOf(present(last))).toContain('The moon does it.');
  });

  test('fails once it has been told and is wrong again, and sends nobody', async () => {
    const wrong = decides({ kind: 'promote', to: 'boss' });
    const { start, ended, server } = await opened([wrong, wrong]);
    const { of } = await ended(await start('office'));
    expect(of('run.failed')).toMatchObject([{ error: { code: 'handoff_return_schema_violation' } }]);
    expect(of('runOrchestrator.decided')).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test('shares its budget with its workers: what they use is used, and the tree stops when nothing is left', async () => {
    const send = decides({ kind: 'next-worker', nextWorkerIds: ['research'] });
    const { start, ended } = await opened([send, says('A.'), send, says('B.'), send]);
    const runId = await start('office', { configurable: { budget: { maxTokens: 180, maxRuns: 5 } } });
    const { of } = await ended(runId);
    expect(of('cairn.budget.granted')).toMatchObject([
      { childRunId: `${runId}.0`, budget: { maxTokens: 130, maxRuns: 4 } },
      { childRunId: `${runId}.1`, budget: { maxTokens: 30, maxRuns: 3 } },
    ]);
    expect(of('cairn.budget.returned')).toMatchObject([
      { childRunId: `${runId}.0`, spent: { tokens: 50, runs: 1 } },
      { childRunId: `${runId}.1`, spent: { tokens: 50, runs: 1 } },
    ]);
    expect((await ended(`${runId}.0`)).of('run.started')).toMatchObject([{ budget: { maxTokens: 130 } }]);
    // 200 are used: the last call of a worker passed its share, and the supervisor is not asked again.
    expect(of('cap.breached')).toMatchObject([{ kind: 'budget-tokens', limit: 180, observed: 200 }]);
    expect(of('run.failed')).toMatchObject([{ error: { code: 'budget_exhausted' } }]);
  });

  test('with a limit of cost and no prices does not begin', async () => {
    const { start, server } = await opened([]);
    const budget = { maxCostUsd: 1 };
    await expect(start('office', { configurable: { budget } })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('price of local/small is not known'),
    });
    expect(server.requests).toEqual([]);
  });
});

describe('a workflow that starts itself', () => {
  const wide = (branches: number) =>
    defineWorkflow({
      id: 'bomb',
      version: '1',
      nodes: Object.fromEntries(
        Array.from({ length: branches }, (_, n) => [
          `n${n}`,
          { type: 'core.subWorkflow', config: { workflowId: 'bomb', onChildFailure: 'absorb' } },
        ]),
      ),
      // Side by side.
      edges: [],
    });

  test('wide and deep is stopped at the runs the host allows below one root', async () => {
    const { start, ended, client } = await open({
      workflows: [wide(4)],
      config: { limits: { maxRunsPerTree: 60 } },
    });
    const runId = await start('bomb');
    const { of } = await ended(runId);
    expect(of('run.failed')).toEqual([]);
    const { runs } = await client.runs.list({ workflowId: 'bomb', limit: 200 });
    expect(runs.length).toBeGreaterThan(4);
    expect(runs.length).toBeLessThanOrEqual(61);
    expect(runs.every(({ status }) => status === 'completed' || status === 'failed')).toBe(true);
    const reasons = new Set(runs.flatMap(({ error }) => error?.code ?? []));
    expect([...reasons]).toEqual(['budget_exhausted']);
  });

  test('says how many it may start where its own budget is smaller', async () => {
    const { start, ended } = await open({ workflows: [wide(2)] });
    const { of } = await ended(await start('bomb', { configurable: { budget: { maxRuns: 1 } } }));
    expect(of('run.failed')).toMatchObject([
      { error: { code: 'budget_exhausted', details: { kind: 'budget-runs', limit: 1, observed: 2 } } },
    ]);
  });

  test('one below the other is stopped at the depth the host allows', async () => {
    const { start, ended } = await open({ workflows: [wide(1)], config: { limits: { maxRunDepth: 3 } } });
    const runId = await start('bomb');
    await ended(runId);
    const { of } = await ended(`${runId}.0.0.0`);
    expect(of('run.failed')).toMatchObject([{ error: { code: 'run_depth_exceeded' } }]);
  });
});

test('a run shows that it waits while one two runs below does, and no tag that could hide when that is over', async () => {
  const above = (id: string, workflowId: string) =>
    defineWorkflow({ id, version: '1', nodes: { sub: { type: 'core.subWorkflow', config: { workflowId } } } });
  const asks = defineWorkflow({
    id: 'asks',
    version: '1',
    nodes: { gate: { type: 'core.approvalGate', config: { title: 'Go?', actions: ['accept', 'reject'] } } },
  });
  const { start, ended, get, client } = await open({
    workflows: [above('top', 'middle'), above('middle', 'asks'), asks],
  });
  const runId = await start('top');
  const lowest = `${runId}.0.0`;
  for await (const { type } of client.follow(runId)) if (type === 'node.dispatched') break;
  for await (const { type } of client.follow(`${runId}.0`)) if (type === 'node.dispatched') break;
  for await (const { type } of client.follow(lowest)) if (type === 'node.suspended') break;
  const waiting = await get(runId);
  expect(waiting.headers.get('etag')).toBeNull();
  expect(await waiting.json()).toMatchObject({
    status: 'waiting-approval',
    childRuns: [{ runId: `${runId}.0`, workflowId: 'middle', status: 'waiting-approval' }],
  });
  const listed = async (status: RunStatus) =>
    (await client.runs.list({ status })).runs.map((run) => `${run.runId} ${run.status}`).sort();
  const family = [runId, `${runId}.0`, lowest];
  expect(await listed('waiting-approval')).toEqual(family.map((id) => `${id} waiting-approval`));
  expect(await listed('running')).toEqual([]);
  await client.runs.answer(lowest, 'gate', { action: 'accept' });
  await ended(runId);
  expect(await listed('waiting-approval')).toEqual([]);
  expect(await listed('completed')).toEqual(family.map((id) => `${id} completed`));
  const over = await get(runId);
  expect(over.headers.get('etag')).not.toBeNull();
  expect(await over.json()).toMatchObject({ status: 'completed', childRuns: [{ status: 'completed' }] });
});
