import type { JsonObject, RunId } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import type { MemoryName } from '../../agents/builtin-tools/memory-tools.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow, fixed, type NodeOptions } from '../../engine/workflow/define-workflow.ts';
import { DurableHost } from '../durable-host.kit.ts';

const SECRET = 'crm-key-0123456789';
const DAY_MS = 86_400_000;

const recall = { call: { tool: 'openwop:recall', input: { in: '{{input.in}}' } } };
const kept = { content: '{{input.note}}', in: '{{input.in}}', forDays: '{{input.forDays}}' };
const remember = { call: { tool: 'openwop:remember', input: kept } };
const leak = {
  call: {
    tool: 'openwop:remember',
    input: { content: 'The key is {{input.head}}{{input.tail}}.', in: '{{input.in}}' },
  },
};

const agent = (id: string, ...turns: readonly JsonObject[][]) =>
  defineAgent({
    id,
    persona: 'Scribe',
    instructions: 'Remember.',
    tools: ['openwop:remember', 'openwop:recall'],
    memory: { scratchpad: true, conversation: true, longTerm: true },
    rehearsal: JSON.parse(JSON.stringify({ turns: [...turns, [{ say: 'Done.' }]] })),
  });

/** Says what it finds, writes a note, and says what it finds then. */
const scribe = agent('host:scribe', [recall], [remember], [recall]);
const leaky = agent('host:leaky', [leak], [recall]);

const note = (where: MemoryName, text: string, forDays = 1): NodeOptions => ({
  type: 'cairn.agent',
  agent: scribe,
  inputs: { in: fixed(where), note: fixed(text), forDays: fixed(forDays) },
});

const gate: NodeOptions = { type: 'core.approvalGate', config: { title: 'Go on?', actions: ['accept', 'reject'] } };
const run = (workflowId: string, config: JsonObject = {}): NodeOptions => ({
  type: 'core.subWorkflow',
  config: { workflowId, ...config },
});

const flow = (
  id: string,
  nodes: Readonly<Record<string, NodeOptions>>,
  edges?: readonly (readonly [string, string])[],
) =>
  defineWorkflow({
    id,
    version: '1',
    nodes,
    ...(edges === undefined ? {} : { edges: edges.map(([from, to]) => ({ from, to })) }),
  });

type Workflow = ReturnType<typeof flow>;

const opened = (...workflows: Workflow[]) =>
  DurableHost.open({ agents: [scribe, leaky], workflows, config: { secrets: { crm: { value: SECRET } } } });

/** What each recall of a node gave: the contents, newest first. */
async function recalled(host: DurableHost, runId: RunId, nodeId: string): Promise<readonly (readonly string[])[]> {
  return (await entries(host, runId, nodeId)).map((found) => found.map(({ content }) => content as string));
}

async function entries(host: DurableHost, runId: RunId, nodeId: string): Promise<readonly (readonly JsonObject[])[]> {
  const returned = (await host.rows(runId)).filter((row) => row.type === 'agent.toolReturned' && row.nodeId === nodeId);
  return returned
    .map(({ payload }) => JSON.parse(payload) as JsonObject)
    .filter(({ toolId }) => toolId === 'openwop:recall')
    .map(({ outcome }) => (outcome as JsonObject).entries as readonly JsonObject[]);
}

const child = (runId: RunId, index = 0) => `${runId}.${index}` as RunId;

/** A note, a child run that writes before and after a question, and a note after it. */
const family = (where: MemoryName, config: JsonObject = {}) => [
  flow('top', { a: note(where, 'top a'), sub: run('kid', config), b: note(where, 'top b') }),
  flow('kid', { one: note(where, 'kid 1'), gate, two: note(where, 'kid 2') }),
];

async function stoppedInTheChild(workflows: readonly Workflow[]) {
  const host = await opened(...workflows);
  const top = await host.start('top');
  await host.asks(child(top));
  await host.restart();
  await host.answer(child(top), 'gate');
  await host.ended(top);
  const finds = async (runId: RunId, nodeId: string) => (await recalled(host, runId, nodeId))[0];
  return { host, top, finds };
}

describe('a run below another', () => {
  test.each(['scratchpad', 'conversation', 'long-term'] as const)(
    'shares its %s, whatever stops in between: what was there when it began, and the other way when it has ended',
    async (where) => {
      const { top, finds } = await stoppedInTheChild(family(where));
      expect(await finds(top, 'a')).toEqual([]);
      expect(await finds(child(top), 'one')).toEqual(['top a']);
      expect(await finds(child(top), 'two')).toEqual(['kid 1', 'top a']);
      expect(await finds(top, 'b')).toEqual(['kid 2', 'kid 1', 'top a']);
    },
  );

  test.each([
    ['scratchpad', true],
    ['conversation', true],
    ['long-term', false],
  ] as const)('that is started apart has a %s of its own: %s', async (where, isOwn) => {
    const { host, top, finds } = await stoppedInTheChild(family(where, { memoryScopeIsolation: 'isolated' }));
    expect(await finds(child(top), 'one')).toEqual(isOwn ? [] : ['top a']);
    expect(await finds(child(top), 'two')).toEqual(isOwn ? ['kid 1'] : ['kid 1', 'top a']);
    expect(await finds(top, 'b')).toEqual(isOwn ? ['top a'] : ['kid 2', 'kid 1', 'top a']);
    const [written] = await host.payloads(child(top), 'memory.written');
    expect(written?.memoryRef).not.toBe(`run:${top}`);
  });

  test('sees nothing of what the one above writes once it has begun, nor of what others write', async () => {
    const nodes = { a: note('conversation', 'top a'), sub: run('kid'), hold: gate, late: note('conversation', 'late') };
    const [, kid] = family('conversation') as [Workflow, Workflow];
    const top = flow('top', { ...nodes, b: note('conversation', 'top b') }, [
      ['a', 'sub'],
      ['a', 'hold'],
      ['hold', 'late'],
      ['late', 'b'],
      ['sub', 'b'],
    ]);
    const other = flow('other', { o: note('conversation', 'another run') });
    const host = await opened(top, kid, other);
    const runId = await host.start('top');
    await host.asks(child(runId));
    const contextId = await host.contextOf(runId);
    await host.answer(runId, 'hold');
    await host.until(async () => (await host.payloads(runId, 'memory.written')).length === 2);
    const third = await host.ran('other', { contextId });
    await host.restart();
    await host.answer(child(runId), 'gate');
    await host.ended(runId);
    expect(await recalled(host, child(runId), 'two')).toMatchObject([['kid 1', 'top a'], { length: 3 }]);
    expect((await recalled(host, runId, 'late'))[0]).toEqual(['top a']);
    expect((await recalled(host, runId, 'b'))[0]).toEqual(['kid 2', 'late', 'kid 1', 'top a']);
    expect((await recalled(host, third, 'o'))[0]).toEqual(['late', 'kid 1', 'top a']);
  });

  test('writes in its own name and log, once, and into the memory of the one above', async () => {
    const { host, top } = await stoppedInTheChild(family('scratchpad'));
    const told = async (runId: RunId) =>
      (await host.payloads(runId, 'memory.written')).map(({ nodeId, agentId, memoryRef }) => [
        nodeId,
        agentId,
        memoryRef,
      ]);
    const named = (nodeId: string) => [nodeId, 'host:scribe', `run:${top}`];
    expect(await told(top)).toEqual([named('a'), named('b')]);
    expect(await told(child(top))).toEqual([named('one'), named('two')]);
    const [first] = await host.payloads(child(top), 'run.started');
    expect(first?.memoryScope).toEqual({ runId: top, isolated: false });
  });

  test('lets its notes expire by the time at which it wrote them', async () => {
    const kid = flow('kid', { short: note('scratchpad', 'short', 1e-8), gate, two: note('scratchpad', 'kid 2') });
    const [top] = family('scratchpad') as [Workflow, Workflow];
    const { host, top: runId, finds } = await stoppedInTheChild([top, kid]);
    expect(await host.payloads(child(runId), 'memory.written')).toHaveLength(2);
    expect(await finds(child(runId), 'two')).toEqual(['top a']);
    const [found = []] = await entries(host, runId, 'b');
    expect(found.map(({ content }) => content)).toEqual(['kid 2', 'top a']);
    const [{ expiresAt }] = found as [{ readonly expiresAt: string }];
    const resumed = (await host.rows(child(runId))).find(({ type }) => type === 'interrupt.resolved')?.at as number;
    expect(Date.parse(expiresAt) - DAY_MS).toBeGreaterThanOrEqual(resumed);
  });

  test('keeps no secret, neither for itself nor for the one above', async () => {
    // In two halves: whole, it would be refused where the workflow is registered.
    const halves = { head: fixed(SECRET.slice(0, 9)), tail: fixed(SECRET.slice(9)) };
    const told: NodeOptions = { type: 'cairn.agent', agent: leaky, inputs: { in: fixed('scratchpad'), ...halves } };
    const top = flow('top', { sub: run('kid'), b: note('scratchpad', 'top b') });
    const { host, top: runId, finds } = await stoppedInTheChild([top, flow('kid', { told, gate, again: told })]);
    expect((await finds(child(runId), 'told'))?.[0]).toBe('The key is [REDACTED].');
    expect(await finds(runId, 'b')).toEqual(['The key is [REDACTED].', 'The key is [REDACTED].']);
    const all = [...(await host.rows(runId)), ...(await host.rows(child(runId)))];
    expect(all.filter(({ payload }) => payload.includes(SECRET))).toEqual([]);
  });

  test('is of one tenant, and so is all it sees', async () => {
    const workflows = family('long-term');
    const host = await opened(...workflows);
    for (const workflow of workflows) await host.engine.register('other', workflow);
    const mine = await host.start('top');
    await host.asks(child(mine));
    const theirs = await host.start('top', { tenant: 'other' });
    await host.asks(child(theirs));
    await host.restart();
    await host.answer(child(mine), 'gate');
    await host.ended(mine);
    await host.answer(child(theirs), 'gate', 'other');
    await host.ended(theirs);
    for (const runId of [mine, theirs]) {
      expect((await recalled(host, runId, 'a'))[0]).toEqual([]);
      expect((await recalled(host, child(runId), 'two'))[0]).toEqual(['kid 1', 'top a']);
      expect((await recalled(host, runId, 'b'))[0]).toEqual(['kid 2', 'kid 1', 'top a']);
    }
    const foreign = { tenant: 'other', contextId: await host.contextOf(mine) };
    await expect(host.start('top', foreign)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('what runs side by side write is in the order of their rows, whenever it is read', async () => {
  const kid = (id: string) =>
    flow(id, { 1: note('scratchpad', `${id} 1`), 2: note('scratchpad', `${id} 2`), 3: note('scratchpad', `${id} 3`) });
  const nodes = {
    left: run('left'),
    right: run('right'),
    join: { type: 'core.noop' },
    gate,
    b: note('scratchpad', 'b'),
  };
  const top = flow('top', { begin: { type: 'core.noop' }, ...nodes }, [
    ['begin', 'left'],
    ['begin', 'right'],
    ['left', 'join'],
    ['right', 'join'],
    ['join', 'gate'],
    ['gate', 'b'],
  ]);
  const host = await opened(top, kid('left'), kid('right'));
  const runId = await host.start('top');
  await host.asks(runId);
  const rows = [...(await host.rows(child(runId))), ...(await host.rows(child(runId, 1)))];
  const written = rows
    .filter(({ type }) => type === 'cairn.memory.kept')
    .sort((a, b) => b.cursor - a.cursor)
    .map(({ payload }) => (JSON.parse(payload) as JsonObject).content);
  expect(written).toHaveLength(6);
  await host.restart();
  await host.store.runIndex.rebuild();
  await host.answer(runId, 'gate');
  await host.ended(runId);
  expect((await recalled(host, runId, 'b'))[0]).toEqual(written);
});

test('a run goes on with what it saw when it began, and with what it wrote, whatever others wrote while it waited', async () => {
  const mine = flow('mine', { a: note('long-term', 'mine'), gate, b: note('long-term', 'mine too') });
  const host = await opened(mine, flow('other', { o: note('long-term', 'another run') }));
  const runId = await host.start('mine');
  await host.asks(runId);
  await host.ran('other');
  await host.restart();
  await host.answer(runId, 'gate');
  await host.ended(runId);
  expect((await recalled(host, runId, 'b'))[0]).toEqual(['mine']);
  const [seen] = await recalled(host, await host.ran('other'), 'o');
  expect(seen).toEqual(['mine too', 'another run', 'mine']);
  // As of a row of the run: what a copy of it that goes on from there has to see.
  const asked = (await host.rows(runId)).find(({ type }) => type === 'interrupt.requested')?.seq as number;
  const query = { tenant: 'local', memoryRef: 'host:scribe', now: Date.now(), limit: 10 };
  const asOf = await host.store.memories.list({ ...query, asOf: { runId, beforeSeq: asked } });
  expect(asOf.map(({ content }) => content)).toEqual(['mine']);
});

test.each([
  ['core.subWorkflow', { workflowId: 'kid', memoryScopeIsolation: 'shared' }],
  ['core.dispatch', { memoryScopeIsolation: true }],
])('%s refuses another word about memory', async (type, config) => {
  const host = await opened();
  const wrong = flow('wrong', { n: { type, config: config as JsonObject } });
  await expect(host.engine.register('local', wrong)).rejects.toMatchObject({
    message: expect.stringContaining(
      'nodes[0].config.memoryScopeIsolation (node n): Invalid input: expected "isolated"',
    ),
  });
});
