/**
 * Generates random workflows: every node type, edge condition, trigger rule and limit of the engine, in valid graphs.
 */
import type { Json, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@cairn/protocol';
import { triggerRules } from '@cairn/protocol';
import type { Random } from '../../packages/host/test/kit/random.ts';
import { relayNode } from '../../packages/host/test/kit/relay-node.ts';
import { drawnBoss } from './coordinators.ts';
import { drawCrew } from './crews.ts';
import { type Behaviour, safeties, stepTypeId } from './sim-steps.ts';

type Config = { readonly [key: string]: Json };

interface Drawn {
  readonly typeId: string;
  readonly config?: Config;
  readonly inputs?: WorkflowNode['inputs'];
  readonly settings?: Config;
  readonly agent?: WorkflowNode['agent'];
}

/** `below`: workflows that nodes of this workflow may run. */
export function drawWorkflow(random: Random, id: string, below: readonly string[] = []): WorkflowDefinition {
  const graph = new Graph(random);
  const size = random.between(2, 8);
  if (random.chance(0.3)) graph.add({ typeId: 'core.start' });
  // The children of a run with an agent put their questions to it first.
  if (below.length > 0 && random.chance(0.5)) {
    graph.add(drawnBoss);
    graph.add(drawSubWorkflow(random, below));
  }
  if (random.chance(0.4)) graph.add(drawClarification(random));
  // A run has one supervisor.
  const crewAt = below.length > 0 && random.chance(0.3) ? random.below(size) : -1;
  for (let i = 0; i < size; i += 1) {
    if (i === crewAt) graph.addCrew(below);
    else if (random.chance(0.12)) graph.addLoop();
    else graph.add(below.length > 0 && random.chance(0.12) ? drawSubWorkflow(random, below) : drawNode(random));
  }
  if (random.chance(0.3)) graph.add({ typeId: 'core.end', inputs: { result: { type: 'static', value: 'done' } } });
  return {
    id,
    name: id,
    version: '1.0.0',
    nodes: graph.nodes,
    edges: graph.edges,
    triggers: [],
    variables: [
      { name: 'flag', type: 'boolean', defaultValue: random.chance(0.5) },
      { name: 'count', type: 'number', defaultValue: 0 },
      { name: 'text', type: 'string', defaultValue: 'abc' },
    ],
    channels: {
      notes: { reducer: 'append', maxSize: 3 },
      tally: { reducer: 'counter' },
      fresh: { reducer: 'append', ttlMs: 2000 },
      latest: { reducer: 'replace' },
    },
    metadata: {},
    settings: {
      ...(random.chance(0.1) ? { timeout: random.between(500, 60_000) } : {}),
      ...(random.chance(0.2) ? { maxRetries: random.between(1, 2) } : {}),
      ...(random.chance(0.3) ? { maxLoopbackIterations: random.between(1, 4) } : {}),
    },
  };
}

/** Nodes in order. A forward edge always leads to a later node, so that only loops close cycles. */
class Graph {
  readonly nodes: WorkflowNode[] = [];
  readonly edges: WorkflowEdge[] = [];
  /** Nodes that may have successors, with the outputs an edge may use. */
  readonly #sources: { readonly id: string; readonly outputs: readonly string[] }[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  add(drawn: Drawn): void {
    const id = this.#node(drawn);
    this.#enter(id);
    this.#sources.push({ id, outputs: outputsOf(drawn) });
  }

  /** A loop, a body of one or two nodes, and the edge back. */
  addLoop(): void {
    const random = this.#random;
    // A loop without an incoming edge is never entered: its own back edge does not count.
    if (this.#sources.length === 0) this.add({ typeId: 'core.start' });
    const loop = this.#node({ typeId: 'core.loop', config: drawLoop(random) });
    this.#follow(loop);
    let last = { id: loop, output: 'body' };
    for (let i = random.between(1, 2); i > 0; i -= 1) {
      const drawn = random.chance(0.6) ? drawStep(random) : drawQuiet(random);
      const body = this.#node(drawn);
      this.#edge(last.id, body, leaving(last.output));
      last = { id: body, output: random.pick(outputsOf(drawn)) };
    }
    this.#edge(last.id, loop, leaving(last.output));
    this.#sources.push({ id: loop, outputs: ['done'] });
  }

  /** A supervisor, a dispatch node that carries out its decisions, and the edge back. */
  addCrew(below: readonly string[]): void {
    const random = this.#random;
    if (this.#sources.length === 0) this.add({ typeId: 'core.start' });
    const { supervisor, dispatch } = drawCrew(random, below);
    const boss = this.#node({ typeId: 'core.orchestrator.supervisor', config: supervisor });
    this.#follow(boss);
    const settings = {
      ...(random.chance(0.15) ? { timeoutMs: random.between(500, 20_000) } : {}),
      ...(random.chance(0.2) ? { retry: { maxAttempts: 2, backoffMs: random.between(10, 500) } } : {}),
    };
    const hands = this.#node({ typeId: 'core.dispatch', config: dispatch, settings });
    this.#edge(boss, hands, {});
    this.#edge(hands, boss, {});
    this.#sources.push({ id: boss, outputs: ['output'] });
  }

  #node({ typeId, config, inputs, settings, agent }: Drawn): string {
    const id = `n${this.nodes.length}`;
    this.nodes.push({
      id,
      typeId,
      name: `${id} ${typeId}`,
      position: { x: this.nodes.length * 100, y: 0 },
      config: config ?? {},
      inputs: inputs ?? {},
      ...(settings === undefined ? {} : { settings }),
      ...(agent === undefined ? {} : { agent }),
    });
    return id;
  }

  /** Sometimes a node starts without a predecessor. */
  #enter(target: string): void {
    if (this.#sources.length > 0 && !this.#random.chance(0.08)) this.#follow(target);
  }

  #follow(target: string): void {
    const random = this.#random;
    const sources = this.#sources;
    const rule = random.chance(0.5) ? undefined : random.pick(triggerRules);
    const count = Math.min(sources.length, random.between(1, 3));
    const chosen = new Set<(typeof sources)[number]>();
    while (chosen.size < count) chosen.add(random.pick(sources));
    for (const source of chosen) {
      const sourceOutput = random.pick(source.outputs);
      const own = random.chance(0.15) ? random.pick(triggerRules) : rule;
      this.#edge(source.id, target, {
        ...leaving(sourceOutput),
        ...(own === undefined ? {} : { triggerRule: own }),
        ...(random.chance(0.3) ? { condition: drawCondition(random) } : {}),
      });
    }
  }

  #edge(sourceNodeId: string, targetNodeId: string, more: Partial<WorkflowEdge>): void {
    this.edges.push({ id: `e${this.edges.length}`, sourceNodeId, targetNodeId, ...more });
  }
}

/** The default output need not be named. */
const leaving = (sourceOutput: string): Partial<WorkflowEdge> => (sourceOutput === 'output' ? {} : { sourceOutput });

function outputsOf({ typeId }: Drawn): readonly string[] {
  if (typeId === 'core.conditional') return ['true', 'false'];
  if (typeId === 'core.approvalGate') return ['output', 'output', 'approved', 'rejected'];
  return ['output'];
}

function drawNode(random: Random): Drawn {
  if (random.chance(0.1)) return drawRelay(random);
  if (random.chance(0.45)) return drawStep(random);
  if (random.chance(0.4)) return drawWaiting(random);
  return drawQuiet(random);
}

const often: readonly Behaviour[] = ['quick', 'quick', 'slow', 'slow', 'slow', 'flaky', 'flaky'];
const seldom: readonly Behaviour[] = ['fails', 'throws', 'hangs', 'deaf'];

function drawStep(random: Random): Drawn {
  const behaviour = random.pick(random.chance(0.75) ? often : seldom);
  const retries = behaviour === 'flaky' || random.chance(0.2);
  const timed = behaviour === 'hangs' || random.chance(0.2);
  return {
    typeId: stepTypeId(random.pick(safeties)),
    inputs: { behaviour: { type: 'static', value: behaviour } },
    settings: {
      ...(retries ? { retry: { maxAttempts: random.between(1, 3), backoffMs: random.between(10, 500) } } : {}),
      ...(timed && random.chance(0.8) ? { timeoutMs: random.between(200, 20_000) } : {}),
    },
  };
}

function drawSubWorkflow(random: Random, below: readonly string[]): Drawn {
  return {
    typeId: 'core.subWorkflow',
    config: {
      workflowId: random.pick(below),
      onChildFailure: random.pick(['fail-parent', 'absorb', 'absorb']),
      inputMapping: { count: 'count' },
      outputMapping: { count: 'count' },
    },
    settings: random.chance(0.1) ? { timeoutMs: random.between(500, 20_000) } : {},
  };
}

/** A node that makes its own calls, both concurrent and sequential. */
function drawRelay(random: Random): Drawn {
  const behaviour = random.pick(random.chance(0.8) ? often : seldom);
  const safety = random.pick(safeties);
  const between = random.pick([{}, {}, { restMs: random.between(1, 4000) }, { asks: true }]);
  return {
    typeId: relayNode.typeId,
    config: {
      rounds: random.between(1, 3),
      width: random.between(1, 3),
      safety,
      input: { safety, behaviour },
      ...between,
    },
    settings: behaviour === 'hangs' || random.chance(0.2) ? { timeoutMs: random.between(200, 20_000) } : {},
  };
}

function drawWaiting(random: Random): Drawn {
  const timeoutMs = random.chance(0.4) ? { timeoutMs: random.between(100, 30_000) } : {};
  switch (random.below(4)) {
    case 0:
      return { typeId: 'core.delay', config: { delayMs: random.between(1, 8000) } };
    case 1:
      return {
        typeId: 'core.approvalGate',
        config: { title: 'Go on?', actions: ['accept', 'reject', 'refine'], ...timeoutMs },
      };
    case 2:
      return drawClarification(random);
    default:
      return {
        typeId: 'core.interrupt',
        config: {
          ...(random.chance(0.5)
            ? { kind: 'custom', data: { customKind: 'sim.note', payload: {} } }
            : { kind: 'external-event', data: { eventType: 'sim.arrived', correlation: { order: 'o1' } } }),
          ...timeoutMs,
        },
      };
  }
}

function drawClarification(random: Random): Drawn {
  const timeoutMs = random.chance(0.4) ? { timeoutMs: random.between(100, 30_000) } : {};
  return {
    typeId: 'core.clarificationGate',
    config: { questions: [{ id: 'q1', question: 'Which?', schema: { type: 'string' } }], ...timeoutMs },
  };
}

function drawQuiet(random: Random): Drawn {
  const value = random.below(4);
  switch (random.below(10)) {
    case 0:
      return { typeId: 'core.setVariable', config: { name: 'flag', value: random.chance(0.5) } };
    case 1:
      return { typeId: 'core.setVariable', config: { name: 'count', value } };
    case 2:
      return { typeId: 'core.getVariable', config: { name: 'count' } };
    case 3:
      return drawChannelWrite(random, value);
    case 4:
      return { typeId: 'core.conditional', config: { expression: 'variables.flag == true' } };
    case 5:
      return { typeId: 'core.parallel' };
    case 6:
      return { typeId: 'core.merge' };
    case 7:
      return { typeId: 'core.identity', inputs: { payload: { type: 'static', value: { note: value } } } };
    case 8:
      return random.chance(0.5) ? { typeId: 'core.fail' } : { typeId: 'core.noop' };
    default:
      return { typeId: 'core.noop' };
  }
}

function drawChannelWrite(random: Random, value: number): Drawn {
  const [channelName, reducer] = random.pick([
    ['notes', 'append'],
    ['tally', 'counter'],
    ['fresh', 'append'],
    ['latest', 'replace'],
  ] as const);
  return { typeId: 'core.channelWrite', config: { channelName, reducer, value } };
}

const drawLoop = (random: Random): Config =>
  random.chance(0.5) ? { times: random.between(0, 3) } : { items: ['a', 'b', 'c'].slice(random.below(3)) };

function drawCondition(random: Random): NonNullable<WorkflowEdge['condition']> {
  return random.pick([
    { type: 'equals', left: 'variables.flag', right: true },
    { type: 'notEquals', left: 'variables.count', right: 2 },
    { type: 'contains', left: 'variables.text', right: 'b' },
    { type: 'regex', left: 'variables.text', right: '^a.c$' },
    { type: 'expression', expression: 'variables.flag || variables.text == "abc"' },
    { type: 'equals', left: 'value', right: 1 },
  ] as const);
}
