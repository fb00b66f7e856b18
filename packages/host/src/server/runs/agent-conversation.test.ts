import { hash } from 'node:crypto';
import type { Json, JsonObject } from '@cairn/protocol';
import { beforeEach, expect, test } from 'vitest';
import { idToken } from '../../../test/kit/payload-ids.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { createAgentNodes } from '../../agents/loop/agent-node.ts';
import { createConversations } from '../../agents/models/conversation-reader.ts';
import { ModelCredentials } from '../../agents/models/credentials.ts';
import type { Model, ModelCall } from '../../agents/models/model-port.ts';
import { createModelPerformer } from '../../agents/models/model-turn.ts';
import { PromptRegistry } from '../../agents/prompts/prompt-registry.ts';
import { ToolRegistry } from '../../agents/tools/tool-registry.ts';
import type { Sha256 } from '../../engine/ports.ts';
import { defineWorkflow, fixed, variable } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { systemClock } from '../compose.ts';
import { keys, type Served, served } from '../served.kit.ts';
import { agentFacts } from './agent-facts.kit.ts';
import { branchToEnd, fork, rowsOf, seqOf, snapshotOf, toEnd } from './fork-kit.kit.ts';

const sha256: Sha256 = (text, encoding) => hash('sha256', text, encoding);

const desk = defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Answer.' });
const scribe = defineAgent({ id: 'host:scribe', persona: 'Scribe', instructions: 'Write.' });

/** Answers each call with its number, and remembers what it was shown. */
class Parrot implements Model {
  readonly provider = 'test';
  readonly model = 'parrot';
  readonly capabilities = new Set(['function-calling', 'structured-output'] as const);
  readonly contextTokens = null;
  readonly prices = null;
  readonly isScripted = true;
  readonly shown: string[][] = [];
  readonly systems: string[] = [];

  async *stream({ system, messages }: ModelCall) {
    this.systems.push(system);
    this.shown.push(messages.map((message) => ('text' in message ? `${message.role}: ${message.text}` : message.role)));
    yield [
      { type: 'text-delta' as const, text: `answer ${this.shown.length}` },
      { type: 'finish' as const, finish: 'stop' as const, usage: { inputTokens: 1, outputTokens: 1 } },
    ];
  }
}

let model: Parrot;
let host: Served;

beforeEach(async () => {
  model = new Parrot();
  const store = inMemoryStore();
  const models = { find: () => model };
  const loop = createAgentNodes({
    sha256,
    prompts: new PromptRegistry([]),
    models,
    toolAccess: (_, allowlist) => ({
      registry: new ToolRegistry([]),
      policy: { name: 'none', lines: [] },
      allowlist,
      ceiling: undefined,
      scopes: undefined,
    }),
    reasoningVerbosity: 'summary',
    reasoningTokenLimit: 512,
    lowConfidence: 'ask',
    clarificationRounds: 10,
    isConformanceHost: false,
  });
  const performer = createModelPerformer({
    models,
    conversations: createConversations(store.log),
    credentials: new ModelCredentials(new Map()),
    clock: systemClock,
    sha256,
  });
  host = await served({
    store,
    agents: { facts: agentFacts, nodeTypes: loop, performers: [performer], own: [desk, scribe] },
  });
});

/** Starts a run and sees it to its end. */
async function ran(body: JsonObject): Promise<JsonObject> {
  const { body: created } = await host.ask('POST', '/v1/runs', { body });
  const ended = Promise.withResolvers<void>();
  const look = async () => {
    const { status } = (await host.ask('GET', `/v1/runs/${created.runId}`)).body;
    if (status === 'completed' || status === 'failed') ended.resolve();
  };
  const stop = host.store.log.follow(() => void look());
  await look();
  await ended.promise;
  stop();
  return (await host.ask('GET', `/v1/runs/${created.runId}`)).body;
}

const said = (message: string, contextId?: Json) =>
  ran({
    agentId: 'host:desk',
    inputs: { message },
    ...(contextId === undefined ? {} : { configurable: { 'cairn.contextId': contextId } }),
  });

test('the second message of a context sees the first and what was answered, and no other context does', async () => {
  const first = await said('My name is Ada.');
  expect(first).toMatchObject({ status: 'completed', outputs: { content: 'answer 1' } });
  await said('What is my name?', first.contextId);
  await said('And mine?');
  expect(model.shown).toEqual([
    ['user: My name is Ada.'],
    ['user: My name is Ada.', 'assistant: answer 1', 'user: What is my name?'],
    ['user: And mine?'],
  ]);
});

/** Two agents one after the other, who share as their nodes say. */
const pair = (first: string, second: string) =>
  defineWorkflow({
    id: 'pair',
    version: `${first} ${second}`,
    nodes: {
      one: { type: 'cairn.agent', agent: desk, config: { agentSharing: first }, inputs: { message: fixed('Begin.') } },
      two: {
        type: 'cairn.agent',
        agent: scribe,
        config: { agentSharing: second },
        inputs: { message: fixed('Go on.') },
      },
    },
  });

test.each([
  ['shared', 'shared', true],
  ['shared:desk', 'shared:desk', true],
  ['shared:desk', 'shared:office', false],
  ['shared', 'shared:desk', false],
  ['isolated', 'isolated', false],
  ['isolated', 'shared', false],
])('of agents that are %s and %s the second hears the first: %s', async (first, second, isHeard) => {
  await host.engine.register('t', pair(first, second));
  expect((await ran({ workflowId: 'pair' })).status).toBe('completed');
  expect(model.shown[1]?.some((line) => line.includes('answer 1'))).toBe(isHeard);
  expect(model.shown[1]?.at(-1)).toBe('user: Go on.');
});

test.each([
  ['shared:desk', true],
  ['shared', false],
])('what is %s is heard in a later run of the conversation: %s', async (sharing, isHeard) => {
  await host.engine.register('t', pair(sharing, sharing));
  const { contextId } = await ran({ workflowId: 'pair' });
  await ran({ workflowId: 'pair', configurable: { 'cairn.contextId': contextId ?? null } });
  // The result of the run before is heard by everybody; what its first agent said only by its group.
  expect(model.shown[2]?.some((line) => line.includes('answer 1'))).toBe(isHeard);
});

/** Branches a run where a node starts, and sees the branch to its end. */
const branched = async (runId: Json, nodeId: string): Promise<string> =>
  branchToEnd(host, String(runId), { fromSeq: seqOf(await rowsOf(host, String(runId)), 'node.started', nodeId) });

test('a branch of the second message hears the first one, also in a branch of a branch or of a replay', async () => {
  const { contextId } = await said('My name is Ada.');
  const { runId } = await said('What is my name?', contextId);
  await said('A later message.', contextId);
  const branch = await branched(runId ?? null, 'agent');
  await branched(branch, 'agent');
  const replay = String((await fork(host, String(runId), { mode: 'replay' })).body.runId);
  await toEnd(host, replay);
  await branched(replay, 'agent');
  expect(model.shown[1]).toHaveLength(3);
  expect(model.shown.slice(3)).toEqual([model.shown[1], model.shown[1], model.shown[1]]);
  const { contextId: forked } = await snapshotOf(host, branch);
  await said('And now?', forked);
  expect(model.shown.at(-1)).toEqual([...(model.shown[1] ?? []), 'assistant: answer 4', 'user: And now?']);
});

/** A child run whose agent speaks, and an agent of its parent that shares what it said. */
const speaking = (agent: typeof desk, text: string) => ({
  type: 'cairn.agent',
  agent,
  config: { agentSharing: 'shared' },
  inputs: { message: fixed(text) },
});
const family = [
  defineWorkflow({ id: 'child', version: '1', nodes: { draft: speaking(scribe, 'Draft.') } }),
  defineWorkflow({
    id: 'parent',
    version: '1',
    nodes: {
      child: { type: 'core.subWorkflow', config: { workflowId: 'child' } },
      judge: speaking(desk, 'Judge.'),
    },
  }),
];

const grandparent = defineWorkflow({
  id: 'grandparent',
  version: '1',
  nodes: { parent: { type: 'core.subWorkflow', config: { workflowId: 'parent' } } },
});

test('in a branch, an agent hears the child run that had ended before the cut, as its source did', async () => {
  for (const definition of family) await host.engine.register('t', definition);
  const { runId } = await ran({ workflowId: 'parent' });
  expect(model.shown[1]).toEqual(expect.arrayContaining([expect.stringContaining('answer 1')]));
  const branch = await branched(runId ?? null, 'judge');
  expect(model.shown.slice(2)).toEqual([model.shown[1]]);
  // What it starts anew speaks in the same room.
  await branched(branch, 'child');
  expect(model.shown.at(-1)?.filter((line) => line.includes('answer'))).toEqual([expect.stringContaining('answer 4')]);
});

test('a prompt of a branch holds for the agents of runs that it starts, two levels down', async () => {
  for (const definition of family) await host.engine.register('t', definition);
  await host.engine.register('t', grandparent);
  const { runId } = await ran({ workflowId: 'grandparent' });
  const prompts = { 'host:scribe': 'Write a poem.' };
  await branchToEnd(host, String(runId), { fromSeq: 1, cairn: { overlay: { prompts } } });
  const isPoem = model.systems.map((system) => system.includes('Write a poem.'));
  expect(isPoem).toEqual([false, false, true, false]);
});

test('a run of an agent is event by event that of a workflow whose node names it, but for where it says it comes from', async () => {
  const pinned = defineWorkflow({
    id: 'pinned',
    version: '1',
    variables: { message: { type: 'string' } },
    nodes: { agent: { type: 'cairn.agent', agent: desk, inputs: { message: variable('message') } } },
  });
  await host.engine.register('t', pinned);
  const inputs = { message: 'Hello' };
  const sugar = await history(await ran({ agentId: 'host:desk', inputs }));
  const plain = await history(await ran({ workflowId: 'pinned', inputs }));
  expect(sugar).toContain('"source":"run-api"');
  expect(sugar.replace('"source":"run-api"', '"source":"workflow-node"')).toBe(plain);
});

/** The events of a run, with what is its own replaced by what it stands for. */
async function history(run: JsonObject): Promise<string> {
  const { body } = await host.ask('GET', `/v1/runs/${run.runId}/events`, { key: keys.auditor });
  return JSON.stringify(body.events, null, 1)
    .replaceAll(String(run.runId), 'RUN')
    .replaceAll(idToken(String(run.runId)), 'TOKEN')
    .replaceAll(String(run.workflowId), 'WORKFLOW')
    .replaceAll(/answer \d/g, 'answer')
    .replaceAll(/"(definitionHash|cacheKey|contextId)": "[^"]+"/g, '"$1": "HASH"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"durationMs": \d+/g, '"durationMs": 0')
    .replaceAll('": ', '":');
}
