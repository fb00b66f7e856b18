import type { JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chain, faulty } from '../../test/kit/engine-bench.ts';
import { present } from '../../test/kit/present.ts';
import { VirtualClock } from '../../test/kit/virtual-clock.ts';
import { Memory } from '../agents/memory/memory.ts';
import { sha256 } from '../agents/memory/memory-runs.kit.ts';
import { createEngine } from '../engine/stepping/runtime.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Append } from '../log/ports/event-log.ts';
import type { Store } from '../log/ports/store.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { createProbePerformer, memoryProbe } from './memory-probe.ts';

const SECRET = 'a-secret-that-nobody-guesses';

const probing = (config: JsonObject, id = 'conformance-probe'): WorkflowDefinition => {
  const { nodes, ...rest } = chain({ typeId: 'core.identity', config });
  const agent = { agentId: 'core.conformance.memory-agent', memoryRef: 'conformance/notes' };
  return { ...rest, id, nodes: nodes.map((node) => ({ ...node, agent })) } as WorkflowDefinition;
};

function world(store: Store = inMemoryStore()) {
  const clock = new VirtualClock(1_000_000_000);
  let ids = 0;
  const node = (over: Store = store) => {
    const memory = new Memory({ memories: over.memories, now: () => clock.now(), sha256 });
    const secret = (_: string, name: string) => (name === 'test-secret' ? SECRET : undefined);
    return createEngine({
      store: over,
      clock,
      uniqueId: () => String(++ids),
      sha256,
      owner: `node ${ids}`,
      steps: [],
      nodeTypes: [memoryProbe],
      performers: [createProbePerformer({ memory, secret })],
      limits: { maxNodeExecutions: 100, maxRunDurationMs: null },
      report: () => undefined,
      redactor: createRedactor([{ name: 'test-secret', value: SECRET }]),
    });
  };
  const rows = async (runId: RunId) => store.log.read({ runId, after: -1, limit: 1_000 });
  const ended = async (runId: RunId) => {
    const over = async () => (await store.log.head(runId))?.record.endedAt !== null;
    const found = Promise.withResolvers<void>();
    const stop = store.log.follow(() => void over().then((yes) => yes && found.resolve()));
    if (!(await over())) await found.promise;
    stop();
  };
  return { store, clock, node, rows, ended };
}

async function run(config: JsonObject, at = world(), id?: string) {
  const engine = at.node();
  const definition = probing(config, id);
  await engine.register('t', definition);
  const { runId } = await engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: {} });
  await at.ended(runId);
  const rows = await at.rows(runId);
  await engine.close();
  const variables = rows
    .filter(({ type }) => type === 'variable.changed')
    .map(({ payload }) => JSON.parse(payload) as { readonly name: string; readonly next: unknown });
  return {
    runId,
    rows,
    types: rows.map(({ type }) => type),
    variables: Object.fromEntries(variables.map((one) => [one.name, one.next])),
  };
}

test('writes an entry and reads it back, in the variable of the fixture', async () => {
  const at = world();
  for (let time = 0; time < 2; time += 1) {
    const { variables, types, rows } = await run({ memoryAction: 'write-then-read' }, at);
    const entry = { id: expect.stringMatching(/^mem_/), content: 'Conformance round trip.' };
    expect(variables).toEqual({
      memoryReadback: { ...entry, tags: [expect.any(String)], createdAt: expect.any(String) },
    });
    expect(types.filter((type) => type === 'memory.written')).toHaveLength(1);
    const told = JSON.parse(present(rows.find(({ type }) => type === 'memory.written')).payload) as JsonObject;
    expect(told).toMatchObject({
      memoryRef: 'conformance/notes',
      agentId: 'core.conformance.memory-agent',
      nodeId: 'n1',
    });
    expect(types.at(-1)).toBe('run.completed');
  }
});

test('lists only what has not expired', async () => {
  const { variables, types } = await run({ memoryAction: 'ttl-probe' });
  expect(variables.memoryList).toMatchObject([{ content: 'To come.', expiresAt: expect.any(String) }]);
  expect(types.filter((type) => type === 'memory.written')).toHaveLength(1);
});

test('keeps no secret, only the mark of one', async () => {
  const { variables, rows } = await run({ memoryAction: 'redaction-probe', byokSecretId: 'test-secret' });
  expect(variables.memoryReadback).toMatchObject({ content: 'The key is [REDACTED:test-secret]' });
  expect(JSON.stringify(rows)).not.toContain(SECRET);
});

test('a secret that the host does not have fails the node', async () => {
  const { types } = await run({ memoryAction: 'redaction-probe', byokSecretId: 'other' });
  expect(types.at(-1)).toBe('run.failed');
});

test('finds nothing under a reference that says another tenant', async () => {
  const probeMemoryRef = 'conformance/another-tenant/agent-memory';
  const { variables } = await run({ memoryAction: 'cross-tenant-probe', probeMemoryRef });
  expect(variables).toEqual({ crossTenantProbe: [] });
});

test.each([
  ['of another workflow', { memoryAction: 'write-then-read' }, 'flow'],
  ['that says nothing of memory', {}, 'conformance-probe'],
  ['that says something unknown', { memoryAction: 'constructor' }, 'conformance-probe'],
])('a node %s is an identity node and nothing else', async (_, config, id) => {
  const { types, variables } = await run(config, world(), id);
  const told = types.filter((type) => !type.startsWith('cairn.task.'));
  expect(told).toEqual(['run.started', 'node.started', 'node.completed', 'run.completed']);
  expect(variables).toEqual({});
});

/** Every append of the run that can go wrong. */
const places = Array.from({ length: 8 }, (_, place) => place);

/** The run as its first holder leaves it, with the appends that `fault` lets through, and as the next one finishes it. */
async function troubled(fault: (place: number) => 'pass' | 'fail' | 'lose-answer') {
  const at = world();
  let place = 0;
  const over = faulty(at.store, ({ create }: Append) => (create === undefined ? fault(place++) : 'pass'));
  const definition = probing({ memoryAction: 'write-then-read' });
  const first = at.node(over);
  await first.register('t', definition);
  const { runId } = await first.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: {} });
  const second = at.node();
  await second.open();
  let isOver = false;
  void at.ended(runId).then(() => {
    isOver = true;
  });
  while (!isOver) {
    at.clock.advance(30_001);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await second.close();
  const rows = await at.rows(runId);
  expect(rows.at(-1)?.type).toBe('run.completed');
  expect(rows.filter(({ type }) => type === 'cairn.memory.kept')).toHaveLength(1);
  expect(rows.filter(({ type }) => type === 'memory.written')).toHaveLength(1);
  const query = { tenant: 't', memoryRef: 'conformance/notes', now: 0, limit: 10 };
  expect(await at.store.memories.list(query)).toHaveLength(1);
}

test.each(places.flatMap((place) => [[place, 'fail'] as const, [place, 'lose-answer'] as const]))(
  'when append %i goes wrong (%s), the entry is still written once and told once',
  (place, fault) => troubled((at) => (at === place ? fault : 'pass')),
);

test.each(places.flatMap((place) => [[place, 'pass'] as const, [place, 'lose-answer'] as const]))(
  'when the holder is lost after append %i (%s), the next one writes the entry once and tells of it once',
  (place, last) => troubled((at) => (at === place ? last : at < place ? 'pass' : 'fail')),
);
