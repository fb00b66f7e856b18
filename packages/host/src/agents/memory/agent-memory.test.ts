import type { AgentManifest, ContextId, JsonObject, RunId } from '@cairn/protocol';
import { beforeEach, expect, test } from 'vitest';
import { testDefinition } from '../agent-definition.kit.ts';
import { AgentMemory } from './agent-memory.ts';
import { withMemoryRefs } from './memory-refs.ts';
import { MemoryRuns } from './memory-runs.kit.ts';

const shapes: Readonly<Record<string, AgentManifest['memoryShape']>> = {
  'host:all': { scratchpad: true, conversation: true, longTerm: true },
  'host:elder': { longTerm: true },
  'host:talker': { conversation: true, longTerm: false },
  'host:none': {},
};

const definition = async (hash: string) => testDefinition({ manifest: { memoryShape: shapes[hash] } });

let runs: MemoryRuns;
let memory: AgentMemory;

beforeEach(() => {
  runs = new MemoryRuns();
  memory = new AgentMemory({ memory: runs.memory, log: runs.store.log, agentSource: { definition } });
});

const agents = Object.fromEntries(
  [...Object.keys(shapes), 'host:plain'].map((id) => [id, { hash: id, ref: { agentId: id } }]),
);
const start = (name: string, tenant = 't') => runs.start(name, { tenant, agents });
const call = (runId: RunId, turn: number, agentId: string) => runs.call(runId, turn, 0, agentId);

test('an agent remembers in the memory of its manifest that lasts longest, or in the one it names', async () => {
  const runId = await start('a');
  expect(await memory.remember(await call(runId, 0, 'host:all'), { content: 'x' })).toMatchObject({
    in: 'long-term',
  });
  expect(await memory.remember(await call(runId, 1, 'host:talker'), { content: 'x' })).toMatchObject({
    in: 'conversation',
  });
  const noted = await memory.remember(await call(runId, 2, 'host:all'), { content: 'x', in: 'scratchpad' });
  expect(noted.in).toBe('scratchpad');
});

test.each(['host:none', 'host:plain', 'host:nobody', 'constructor'])('the agent %s has no memory', async (agentId) => {
  const runId = await start('a');
  const refusal = { code: 'validation_error', message: expect.stringContaining('has no memory') };
  await expect(memory.remember(await call(runId, 0, agentId), { content: 'x' })).rejects.toMatchObject(refusal);
  await expect(memory.recall(await call(runId, 1, agentId), {})).rejects.toMatchObject(refusal);
});

test('a memory that the manifest does not give is refused by name', async () => {
  const runId = await start('a');
  const asked = memory.remember(await call(runId, 0, 'host:elder'), { content: 'x', in: 'scratchpad' });
  await expect(asked).rejects.toMatchObject({ message: expect.stringContaining('no scratchpad memory') });
});

test('a scratchpad ends with its run, a conversation with its context, and the rest stays with the agent', async () => {
  const first = await start('a');
  for (const [turn, backend] of (['scratchpad', 'conversation', 'long-term'] as const).entries()) {
    await memory.remember(await call(first, turn, 'host:all'), { content: backend, in: backend });
  }
  const contents = async (runId: RunId, agentId: string) =>
    (await memory.recall(await call(runId, 9, agentId), {})).map(({ content }) => content).sort();
  expect(await contents(first, 'host:all')).toEqual(['conversation', 'long-term', 'scratchpad']);
  const second = await start('b');
  expect(await contents(second, 'host:all')).toEqual(['conversation', 'long-term']);
  expect(await contents(second, 'host:elder')).toEqual([]);
  expect(await contents(second, 'host:talker')).toEqual(['conversation']);
  expect(await contents(await start('c', 'other'), 'host:all')).toEqual([]);
});

test('a fork sees every memory of its source as it was at the cut, and writes to its own', async () => {
  const source = await start('a');
  const note = async (runId: RunId, turn: number, content: string) => {
    for (const [n, backend] of (['scratchpad', 'conversation', 'long-term'] as const).entries())
      await memory.remember(await call(runId, turn * 3 + n, 'host:all'), {
        content: `${content} ${backend}`,
        in: backend,
      });
  };
  const contents = async (runId: RunId) =>
    (await memory.recall(await call(runId, 99, 'host:all'), {})).map(({ content }) => content).sort();
  const of = (content: string) => ['conversation', 'long-term', 'scratchpad'].map((backend) => `${content} ${backend}`);
  const forked = async (name: string, sourceRunId: RunId, fromSeq: number) => {
    const runId = `run_${name}` as RunId;
    const fork = { sourceRunId, fromSeq, mode: 'branch' as const };
    await runs.store.log.fork({
      runId,
      tenant: 't',
      contextId: `ctx_${name}` as ContextId,
      originRunId: source,
      fork,
      at: 9_000_000,
    });
    return runId;
  };
  const seqOf = async (runId: RunId) => ((await runs.store.log.head(runId))?.seq ?? 0) + 1;
  await note(source, 0, 'early');
  const cut = await seqOf(source);
  await note(source, 1, 'late');
  const fork = await forked('f', source, cut);
  expect(await contents(fork)).toEqual(of('early'));
  await note(fork, 2, 'own');
  expect(await contents(fork)).toEqual([...of('early'), ...of('own')]);
  expect(await contents(source)).toEqual([...of('early'), ...of('late')]);
  const second = await forked('g', fork, await seqOf(fork));
  await note(fork, 3, 'later');
  expect(await contents(second)).toEqual([...of('early'), ...of('own')]);
});

test('a fork forgets a note of its source without taking it from the source', async () => {
  const source = await start('a');
  const { id } = await memory.remember(await call(source, 0, 'host:all'), { content: 'x', in: 'scratchpad' });
  const fromSeq = ((await runs.store.log.head(source))?.seq ?? 0) + 1;
  const runId = 'run_f' as RunId;
  const fork = { sourceRunId: source, fromSeq, mode: 'branch' as const };
  await runs.store.log.fork({
    runId,
    tenant: 't',
    contextId: 'ctx_f' as ContextId,
    originRunId: source,
    fork,
    at: 9_000_000,
  });
  expect(await memory.forget(await call(runId, 1, 'host:all'), { id })).toBe(true);
  expect(await memory.recall(await call(runId, 2, 'host:all'), {})).toEqual([]);
  expect(await memory.recall(await call(source, 3, 'host:all'), {})).toHaveLength(1);
});

test('a note with a term is over when its term is', async () => {
  const runId = await start('a');
  await memory.remember(await call(runId, 0, 'host:elder'), { content: 'x', ttlMs: 10 });
  runs.now += 9;
  expect(await memory.recall(await call(runId, 1, 'host:elder'), {})).toHaveLength(1);
  runs.now += 1;
  expect(await memory.recall(await call(runId, 2, 'host:elder'), {})).toEqual([]);
});

test('agents are pinned with the name of the memory that lasts, and only those that have one', async () => {
  const pins = { 'host:elder': { hash: 'host:elder', ref: { agentId: 'host:elder' } } };
  const others = { 'host:talker': { hash: 'host:talker', ref: { agentId: 'host:talker' } } };
  const agentSource = withMemoryRefs({ definition, pin: async () => ({ ...pins, ...others }) });
  expect(await agentSource.pin('t', ['host:elder'])).toEqual({
    'host:elder': { hash: 'host:elder', ref: { agentId: 'host:elder', memoryRef: 'host:elder' } },
    ...others,
  });
});

test('recalling takes turns among the memories, and keeps to its limit', async () => {
  const runId = await start('a');
  for (let turn = 0; turn < 6; turn += 1) {
    const backend = turn < 4 ? 'long-term' : 'scratchpad';
    await memory.remember(await call(runId, turn, 'host:all'), { content: `tea ${turn}`, in: backend });
  }
  const found = await memory.recall(await call(runId, 9, 'host:all'), { limit: 3 });
  expect(found.map((entry) => entry.in)).toEqual(['long-term', 'scratchpad', 'long-term']);
  expect(await memory.recall(await call(runId, 9, 'host:all'), { text: 'tea', limit: 2 })).toHaveLength(2);
  expect(await memory.recall(await call(runId, 9, 'host:all'), { text: 'coffee' })).toEqual([]);
  expect(await memory.recall(await call(runId, 9, 'host:all'), { limit: -5 })).toHaveLength(1);
});

test('what is recalled at once has a size that fits into a prompt', async () => {
  const runId = await start('a');
  for (let turn = 0; turn < 3; turn += 1) {
    await memory.remember(await call(runId, turn, 'host:elder'), { content: `${turn}`.repeat(30_000) });
  }
  expect(await memory.recall(await call(runId, 9, 'host:elder'), {})).toHaveLength(2);
});

test('an agent forgets by id, in whichever of its memories it is or in the one it names', async () => {
  const runId = await start('a');
  const { id } = await memory.remember(await call(runId, 0, 'host:all'), { content: 'x', in: 'conversation' });
  expect(await memory.forget(await call(runId, 1, 'host:elder'), { id })).toBe(false);
  expect(await memory.forget(await call(runId, 1, 'host:all'), { id, in: 'scratchpad' })).toBe(false);
  expect(await memory.forget(await call(runId, 1, 'host:all'), { id })).toBe(true);
  expect(await memory.recall(await call(runId, 2, 'host:all'), {})).toEqual([]);
});

const contentsOf = async (runId: RunId, turn: number, agentId = 'host:all') =>
  (await memory.recall(await call(runId, turn, agentId), {})).map(({ content }) => content).sort();

const below = (parentRunId: RunId, name: string, memoryScope: JsonObject) =>
  runs.start(name, { agents, parentRunId, memoryScope });

test('a run below another shares its scratchpad, as it is when it begins; what it adds is seen once it has ended', async () => {
  const top = await start('a');
  await memory.remember(await call(top, 0, 'host:all'), { content: 'of the top', in: 'scratchpad' });
  const child = await below(top, 'a.0', { runId: top, isolated: false });
  await memory.remember(await call(top, 1, 'host:all'), { content: 'too late for it', in: 'scratchpad' });
  await memory.remember(await call(child, 0, 'host:all'), { content: 'of the child', in: 'scratchpad' });
  expect(await contentsOf(child, 1)).toEqual(['of the child', 'of the top']);
  expect(await contentsOf(top, 2)).toEqual(['of the top', 'too late for it']);
  await runs.end(child);
  expect(await contentsOf(top, 3)).toEqual(['of the child', 'of the top', 'too late for it']);
});

test('runs that were started apart share with each other, and with nobody above, but what lasts with their agents', async () => {
  const top = await start('a');
  for (const [turn, name] of (['scratchpad', 'conversation', 'long-term'] as const).entries()) {
    await memory.remember(await call(top, turn, 'host:all'), { content: `top ${name}`, in: name });
  }
  const apart = await below(top, 'a.0', { runId: 'run_a.0', isolated: true });
  expect(await contentsOf(apart, 0)).toEqual(['top long-term']);
  for (const [turn, name] of (['scratchpad', 'conversation'] as const).entries()) {
    await memory.remember(await call(apart, turn + 1, 'host:all'), { content: `apart ${name}`, in: name });
  }
  const under = await below(apart, 'a.0.0', { runId: 'run_a.0', isolated: true });
  expect(await contentsOf(under, 0)).toEqual(['apart conversation', 'apart scratchpad', 'top long-term']);
  await runs.end(under);
  await runs.end(apart);
  expect(await contentsOf(top, 9)).toEqual(['top conversation', 'top long-term', 'top scratchpad']);
  expect(await contentsOf(await start('b'), 0)).toEqual(['top conversation', 'top long-term']);
});
