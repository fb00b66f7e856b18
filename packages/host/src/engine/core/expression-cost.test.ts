import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { RunScript, scriptNodeTypes, workflowOf } from '../../../test/kit/run-script.ts';
import { startedDraft } from '../creation/start-run.ts';
import type { EdgeOptions } from '../workflow/define-workflow.ts';
import { compileWorkflow } from '../workflow/workflow.ts';
import { compose } from './compose.ts';
import type { Fact } from './facts.ts';
import { newRunState } from './new-run-state.ts';

const noop = 'core.noop';
const inputs: JsonObject = { list: Array.from({ length: 10_000 }, (_, i) => i) };
/** Costs 40,000 units with these inputs. */
const costly = 'inputs.list.all(x, x >= 0)';

const failure = (run: RunScript) => run.events.find(({ type }) => type === 'node.failed')?.payload.error;

/** A start whose node leads to many others, if the condition holds. */
const fan = (count: number, condition: EdgeOptions<string>['when']) => {
  const targets = Array.from({ length: count }, (_, i) => `t${i}`);
  const nodes = Object.fromEntries(['start', ...targets].map((id) => [id, noop]));
  return workflowOf(
    nodes,
    targets.map((to) => ({ from: 'start', to, ...(condition === undefined ? {} : { when: condition }) })),
  );
};

test('the conditions of one node share a budget', () => {
  expect(new RunScript(fan(3, costly), { inputs }).status).toBe('completed');
  const run = new RunScript(fan(30, costly), { inputs });
  expect(run.status).toBe('failed');
  expect(failure(run)).toMatchObject({
    code: 'expression_failed',
    message: expect.stringContaining('may cost 500000 units together'),
    details: { limit: 500_000 },
  });
});

test('conditions without an expression are charged, too', () => {
  const when = { type: 'contains', left: 'inputs.list', right: -1 } as const;
  const edges = fan(100, undefined).edges.map((edge) => ({ ...edge, condition: when }));
  const run = new RunScript({ ...fan(100, undefined), edges }, { inputs });
  expect(failure(run)).toMatchObject({
    code: 'expression_failed',
    message: expect.stringContaining('contains inputs.list'),
  });
});

test('the inputs of a node and its own expression share a budget', () => {
  const definition = workflowOf({
    a: {
      type: 'core.setVariable',
      config: { name: 'v', expression: costly },
      inputs: Object.fromEntries(
        Array.from({ length: 12 }, (_, i) => [`i${i}`, { type: 'expression', expression: costly }]),
      ),
    },
  });
  expect(failure(new RunScript(definition, { inputs }))).toMatchObject({ code: 'expression_failed' });
});

test('an append ends early when its expressions have cost much, and the next one goes on', () => {
  const nodes = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `n${i}`,
      { type: 'core.setVariable', config: { name: `v${i}`, expression: costly } },
    ]),
  );
  const workflow = compileWorkflow(workflowOf(nodes, []), 'hash', scriptNodeTypes);
  const state = newRunState('run_1' as ReturnType<typeof newRunState>['runId']);
  const request = { tenant: 't', inputs, options: {} };
  const limits = { maxNodeExecutions: 1_000, maxRunDurationMs: null };
  const start: Fact = {
    propose: () => [startedDraft({ workflow, pins: {}, request, limits })],
    recorded: () => undefined,
    internal: false,
    refused(error) {
      throw error;
    },
  };
  const completed: number[] = [];
  for (let facts: readonly Fact[] = [start]; completed.length < 100; facts = []) {
    const batch = compose({
      state,
      workflow,
      facts,
      now: 1_000,
      limits: {},
      maxRows: 256,
      takenOver: false,
      hasCheckedRelatives: true,
      waitsHere: () => false,
      underWay: () => false,
      broken(error) {
        throw error;
      },
    });
    completed.push(batch.rows.filter(({ type }) => type === 'node.completed').length);
    if (batch.isWhole) break;
    expect(batch.rest).toBeUndefined();
  }
  expect(completed.reduce((sum, count) => sum + count)).toBe(40);
  expect(Math.max(...completed)).toBeLessThanOrEqual(8);
  expect(present(completed[0])).toBeGreaterThan(1);
  expect(state.view.status).toBe('completed');
});
