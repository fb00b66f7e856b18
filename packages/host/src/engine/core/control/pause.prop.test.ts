import { triggerRules, type WorkflowDefinition } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunScript, step, workflowOf } from '../../../../test/kit/run-script.ts';
import { stateFrom, stateText } from '../../loading/state-text.ts';
import type { EdgeOptions, NodeOptions } from '../../workflow/define-workflow.ts';

/** Nodes whose end does not depend on when things happen. */
const steady: readonly NodeOptions[] = [
  { type: 'core.noop' },
  { type: 'core.merge' },
  { type: 'core.delay', config: { ms: 20 } },
  step('read'),
  step('idempotent'),
  step('pure', { settings: { retry: { maxRetries: 1, backoffMs: 5 } } }),
  { type: 'core.fail' },
];

const graphsOf = (types: readonly NodeOptions[]): fc.Arbitrary<WorkflowDefinition> =>
  fc
    .record({
      types: fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 7 }),
      edges: fc.array(fc.record({ a: fc.nat(6), b: fc.nat(6), rule: fc.constantFrom(...triggerRules) }), {
        maxLength: 12,
      }),
    })
    .map(({ types: drawn, edges }) => {
      const nodes = Object.fromEntries(drawn.map((type, i) => [`n${i}`, type]));
      const forward = edges
        .map(({ a, b, rule }) => ({ a: a % drawn.length, b: b % drawn.length, rule }))
        .filter(({ a, b }) => a < b)
        .map(({ a, b, rule }): EdgeOptions<string> => ({ from: `n${a}`, to: `n${b}`, rule }));
      return workflowOf(nodes, forward);
    });

/** A kind of disturbance for each turn. */
const disturbances = fc.array(
  fc.constantFrom('none', 'none', 'drain', 'immediate', 'crash', 'resume', 'resume', 'time', 'answer'),
  { minLength: 30, maxLength: 30 },
);

const isOver = ({ status }: RunScript): boolean => ['completed', 'failed', 'cancelled'].includes(status);

/** Lets the run go on by one fact: the oldest call returns, or time passes. */
function goOn(run: RunScript): void {
  const call = [...run.state.calls.values()].find((open) => open.asked === undefined);
  if (call !== undefined) run.returns(call.nodeId, { from: call.nodeId });
  else run.passes(30);
}

function disturb(run: RunScript, what: string): void {
  const { pause } = run.state;
  // A run that waits for an answer is not paused, nor is a pause that it drains for hurried: that is refused.
  const mayPause = run.status === 'running';
  if (mayPause && (what === 'drain' || what === 'immediate') && pause === null)
    run.pauses(what === 'drain' ? 'drain-current-node' : 'immediate');
  else if (mayPause && what === 'immediate' && pause?.pausedAt === null && pause.drainPolicy !== 'immediate')
    run.pauses('immediate');
  else if (what === 'crash') run.crashes();
  else if (what === 'resume' && pause !== null && pause.pausedAt !== null) run.resumes();
  else if (what === 'time') run.passes(100);
  else if (what === 'answer') answerOne(run);
}

function answerOne(run: RunScript): void {
  const open = Object.values(run.state.view.interrupts)[0];
  if (open !== undefined) run.answers(open.nodeId, { action: 'use', result: { from: open.nodeId } });
}

/** With disturbances as long as they last, and then straight to its end. */
function play(definition: WorkflowDefinition, turns: readonly string[]): RunScript {
  const run = new RunScript(definition);
  for (const what of turns) {
    if (isOver(run)) return run;
    disturb(run, what);
    if (!isOver(run) && run.status !== 'paused') goOn(run);
  }
  for (let turn = 0; !isOver(run); turn += 1) {
    if (turn > 300) throw new Error(`the run does not end: ${run.types().slice(-12).join(', ')}`);
    if (run.status === 'paused') run.resumes();
    else if (run.status === 'waiting-input') answerOne(run);
    else goOn(run);
  }
  return run;
}

const ends = /^node\.(completed|skipped|failed|cancelled)$/;

/** How each node ended, by name. */
const outcomeOf = (run: RunScript): readonly string[] =>
  run.events.flatMap(({ type, nodeId }) => (ends.test(type) ? [`${nodeId} ${type}`] : [])).toSorted();

const runs = { numRuns: 300 };

test('pauses, crashes and resumes change how long a run takes, not what becomes of it', () => {
  const graphs = graphsOf(steady.filter(({ type }) => type !== 'core.fail'));
  fc.assert(
    fc.property(graphs, disturbances, (definition, turns) => {
      const plain = play(definition, []);
      const disturbed = play(definition, turns);
      expect(disturbed.status).toBe(plain.status);
      expect(outcomeOf(disturbed)).toEqual(outcomeOf(plain));
    }),
    runs,
  );
});

test('from the request of a pause to the resume no node starts, and while it is paused nothing is decided', () => {
  fc.assert(
    fc.property(graphsOf([...steady, step('write')]), disturbances, (definition, turns) => {
      const run = play(definition, turns);
      let state: 'going on' | 'asked' | 'paused' = 'going on';
      for (const { type } of run.events) {
        if (state !== 'going on') expect(type).not.toBe('node.started');
        if (state === 'paused') expect(['interrupt.resolved', 'node.resumed', 'run.resumed']).toContain(type);
        if (type === 'cairn.pause.requested') state = 'asked';
        if (type === 'run.paused') state = 'paused';
        if (type === 'run.resumed') state = 'going on';
      }
      expect(run.state.pause === null || run.status === 'failed').toBe(true);
    }),
    runs,
  );
});

test('what a draining pause finds under way has ended before it takes effect', () => {
  fc.assert(
    fc.property(graphsOf(steady), disturbances, (definition, turns) => {
      const run = play(
        definition,
        turns.filter((what) => what !== 'immediate'),
      );
      const open = new Set<string>();
      for (const { type, nodeId } of run.events) {
        if (type === 'node.started') open.add(nodeId as string);
        if (ends.test(type) || type === 'node.retried') open.delete(nodeId as string);
        if (type === 'run.paused') expect([...open]).toEqual([]);
      }
    }),
    runs,
  );
});

test('a state with a pause in it survives a trip through JSON', () => {
  fc.assert(
    fc.property(graphsOf([...steady, step('write')]), disturbances, (definition, turns) => {
      const run = new RunScript(definition);
      for (const what of turns) {
        if (isOver(run)) break;
        disturb(run, what);
        expect(stateFrom(stateText(run.state))).toEqual(run.state);
        if (!isOver(run) && run.status !== 'paused') goOn(run);
      }
    }),
    runs,
  );
});
