import { type FoldEvent, isJsonObject, type JsonObject, triggerRules, type WorkflowDefinition } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import { stateFrom, stateText } from '../loading/state-text.ts';
import type { EdgeOptions, NodeOptions } from '../workflow/define-workflow.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { recover } from './control/recover.ts';
import { decide } from './decide.ts';
import { evolve } from './evolve.ts';
import { newRunState } from './new-run-state.ts';
import type { EdgeOutcome, RunState } from './state.ts';
import { verdict } from './trigger-rules.ts';

const nodeTypes: readonly NodeOptions[] = [
  { type: 'core.noop' },
  { type: 'core.fail' },
  { type: 'core.fail', config: { retryable: true }, settings: { retry: { maxRetries: 1, backoffMs: 5 } } },
  { type: 'core.delay', config: { ms: 20 } },
  { type: 'core.merge' },
  { type: 'core.noop', disabled: true },
  { type: 'local.step.read', settings: { retry: { maxRetries: 1, backoffMs: 5 }, timeoutMs: 1_000 } },
  { type: 'local.step.write' },
  { type: 'core.approvalGate', config: { timeoutMs: 500 } },
];

/** Any acyclic graph of these nodes; edges go from earlier to later ones. */
const dags: fc.Arbitrary<WorkflowDefinition> = fc
  .record({
    types: fc.array(fc.constantFrom(...nodeTypes), { minLength: 1, maxLength: 8 }),
    edges: fc.array(
      fc.record({
        a: fc.nat(7),
        b: fc.nat(7),
        rule: fc.constantFrom(...triggerRules),
        when: fc.constantFrom(undefined, 'true', 'false', 'output.nope'),
      }),
      { maxLength: 14 },
    ),
  })
  .map(({ types, edges }) => {
    const nodes = Object.fromEntries(types.map((type, i) => [`n${i}`, type]));
    const legal = edges
      .map(({ a, b, rule, when }) => ({ a: a % types.length, b: b % types.length, rule, when }))
      .filter(({ a, b }) => a < b)
      .map(
        ({ a, b, rule, when }): EdgeOptions<string> => ({
          from: `n${a}`,
          to: `n${b}`,
          rule,
          ...(when === undefined ? {} : { when }),
        }),
      );
    return workflowOf(nodes, legal);
  });

/** Loops around some of a chain's nodes, also nested and with early exits. */
const loops: fc.Arbitrary<WorkflowDefinition> = fc
  .record({
    outer: fc.nat(3),
    inner: fc.nat(3),
    body: fc.constantFrom(...nodeTypes),
    early: fc.boolean(),
    exit: fc.constantFrom(...triggerRules),
  })
  .map(({ outer, inner, body, early, exit }) =>
    workflowOf(
      {
        o: { type: 'core.loop', config: { times: outer } },
        i: { type: 'core.loop', config: { times: inner } },
        b: body,
        j: { type: 'core.noop' },
        x: { type: 'core.noop' },
        z: { type: 'core.noop' },
      },
      [
        { from: 'o', to: 'i', port: 'body' },
        { from: 'i', to: 'b', port: 'body' },
        { from: 'b', to: 'i', rule: 'all_complete' },
        { from: 'i', to: 'j', port: 'done', rule: exit },
        { from: 'j', to: 'o', ...(early ? { when: 'outputs.o.index < 1' } : {}) },
        { from: 'o', to: 'x', port: 'done' },
        { from: 'b', to: 'z', rule: 'any_success' },
        { from: 'x', to: 'z', rule: 'any_success' },
      ],
    ),
  );

const choices = fc.array(fc.nat(9), { minLength: 40, maxLength: 40 });

/** Let the world answer as the choices say, until the run ends. */
function play(run: RunScript, picks: readonly number[]): RunScript {
  for (let turn = 0; run.status !== 'completed' && run.status !== 'failed' && run.status !== 'cancelled'; turn++) {
    if (turn > 400) throw new Error(`the run does not end: ${run.types().slice(-12).join(', ')}`);
    const pick = picks[turn % picks.length] as number;
    const call = [...run.state.calls.values()].find((open) => open.asked === undefined);
    const waiting = Object.values(run.state.view.interrupts)[0];
    if (pick === 9 && turn > 5) run.fact('cairn.cancel.requested', {});
    else if (pick === 8) run.crashes();
    else if (call !== undefined && pick < 6) {
      if (pick < 4) run.returns(call.nodeId, { n: pick });
      else run.throws(call.nodeId, { retryable: pick === 4 });
    } else if (waiting !== undefined && pick < 7) {
      const value = waiting.kind === 'approval' ? ['accept', 'reject'][pick % 2] : ['retry', 'use', 'fail'][pick % 3];
      run.answers(waiting.nodeId, { action: value as string, result: 1 });
    } else run.passes(600);
  }
  return run;
}

const terminal = new Set(['run.completed', 'run.failed', 'run.cancelled']);
const ends = new Set(['node.completed', 'node.failed', 'node.cancelled', 'node.skipped']);

function checkHistory(run: RunScript): void {
  const types = run.types();
  expect(types.filter((type) => terminal.has(type))).toHaveLength(1);
  expect(terminal.has(types.at(-1) as string)).toBe(true);
  const open = new Map<string, number>();
  for (const { type, nodeId, payload } of run.events) {
    if (type === 'node.started' && payload.attempt === 0)
      open.set(nodeId as string, (open.get(nodeId as string) ?? 0) + 1);
    if (ends.has(type) && (open.get(nodeId as string) ?? 0) > 0)
      open.set(nodeId as string, (open.get(nodeId as string) as number) - 1);
  }
  expect(
    [...open.values()].filter((count) => count !== 0),
    'every started node ends',
  ).toEqual([]);
  for (const { seq, cause } of run.events) if (typeof cause === 'number') expect(cause).toBeLessThan(seq);
  // A take-over says that the task is at work again.
  const isRestart = ({ metadata }: JsonObject) => isJsonObject(metadata) && metadata.reason === 'host_restarted';
  const statuses = run.faces
    .filter((face) => face.kind === 'task-status' && !isRestart(face))
    .map((face) => face.status);
  const repeated = statuses.filter((status, i) => status === statuses[i - 1]);
  expect(repeated, 'no status twice in a row').toEqual([]);
}

/** In an acyclic graph each node starts or is skipped at most once, and only when its rules say so. */
function checkRules(run: RunScript): void {
  const outcomes = new Map<string, EdgeOutcome>();
  const seen = new Set<string>();
  for (const { type, nodeId, payload } of run.events) {
    const node = nodeId === undefined ? undefined : run.workflow.nodes.get(nodeId);
    if (node === undefined) continue;
    if (type === 'node.started' && payload.attempt === 0) {
      expect(seen.has(node.id), `${node.id} starts once`).toBe(false);
      seen.add(node.id);
      node.groups.forEach((group, index) => {
        const of = node.in.filter((edge) => edge.group === index).map((edge) => outcomes.get(edge.id));
        const tally = {
          total: group.size,
          taken: of.filter((outcome) => outcome === 'taken').length,
          notTaken: of.filter((outcome) => outcome === 'not-taken').length,
          failed: of.filter((outcome) => outcome === 'failed').length,
        };
        expect(verdict(group.rule, tally), `${node.id} by ${group.rule}`).toBe('holds');
      });
    }
    if (!ends.has(type) || type === 'node.cancelled') continue;
    const edges = payload.edges as Record<string, EdgeOutcome> | undefined;
    for (const edge of node.out) outcomes.set(edge.id, edges?.[edge.id] ?? 'not-taken');
  }
}

const runs = { numRuns: 300 };

test('any acyclic run ends, once, with every started node ended and no node started against its rules', () => {
  fc.assert(
    fc.property(dags, choices, (definition, picks) => {
      const run = play(new RunScript(definition), picks);
      checkHistory(run);
      checkRules(run);
      if (run.status !== 'completed') return;
      const met = new Set([
        ...run.started(),
        ...run.skipped(),
        ...run.all('node.failed').map((payload) => payload.nodeId),
      ]);
      expect(met.size, 'a completed run has met every node').toBe(definition.nodes.length);
    }),
    runs,
  );
});

test('any run with loops ends, once, and leaves nothing behind', () => {
  fc.assert(
    fc.property(loops, choices, (definition, picks) => {
      const run = play(new RunScript(definition), picks);
      checkHistory(run);
      if (run.status !== 'completed') return;
      expect(run.state).toMatchObject({ live: {}, exits: {}, queued: {}, calls: {}, timers: {}, pending: [] });
    }),
    runs,
  );
});

/** The state after these events. */
function fold(workflow: Workflow, events: readonly FoldEvent[], from: RunState): RunState {
  for (const event of events) evolve(from, workflow, event);
  return from;
}

test('the state survives a trip through its text anywhere, and decides the same', () => {
  fc.assert(
    fc.property(fc.oneof(dags, loops), choices, fc.nat(), (definition, picks, at) => {
      const run = play(new RunScript(definition), picks);
      const cut = at % run.events.length;
      const fresh = () => newRunState(run.state.runId);
      const whole = fold(run.workflow, run.events.slice(0, cut), fresh());
      const half = stateFrom(stateText(whole));
      expect(half).toEqual(whole);
      expect(decide(half, run.workflow)).toEqual(decide(whole, run.workflow));
      expect(recover(half, run.workflow)).toEqual(recover(whole, run.workflow));
      expect(fold(run.workflow, run.events.slice(cut), half)).toEqual(fold(run.workflow, run.events, fresh()));
    }),
    runs,
  );
});

test('a decision changes nothing by itself, and is the same each time', () => {
  fc.assert(
    fc.property(fc.oneof(dags, loops), choices, fc.nat(), (definition, picks, at) => {
      const run = play(new RunScript(definition), picks);
      const state = fold(run.workflow, run.events.slice(0, at % run.events.length), newRunState(run.state.runId));
      const before = stateText(state);
      const first: JsonObject = JSON.parse(JSON.stringify(decide(state, run.workflow)));
      expect(JSON.parse(JSON.stringify(decide(state, run.workflow)))).toEqual(first);
      expect(stateText(state)).toBe(before);
    }),
    runs,
  );
});
