import type { RunId } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { workflowOf } from '../../../test/kit/run-script.ts';
import { newRunState } from '../core/new-run-state.ts';
import { createNodeTypeRegistry } from '../nodes/node-types.ts';
import { compileWorkflow } from '../workflow/workflow.ts';
import { type Account, type Budget, giveBack, lend, newAccount, nothingSpent } from './account.ts';
import { budgetProblems, budgetShare, narrowed, rootBudget, shareElsewhere, spentBy } from './budget.ts';

const limits = { maxNodeExecutions: 1, maxRunDurationMs: null };
const id = (name: string) => name as RunId;

function runWith(account: Account, tokens = 0) {
  const state = newRunState(id('r'));
  state.account = account;
  state.view.usage.totalTokens = tokens;
  return state;
}

describe('what a root may use', () => {
  test('is what it asks for, and never more runs than the host allows', () => {
    expect(rootBudget({}, limits)).toEqual({ maxRuns: 1000 });
    expect(rootBudget({ budget: { maxTokens: 5, maxRuns: 7 } }, limits)).toEqual({ maxTokens: 5, maxRuns: 7 });
    expect(rootBudget({ budget: { maxRuns: 7 } }, { ...limits, maxRunsPerTree: 3 })).toEqual({ maxRuns: 3 });
  });

  test.each([
    [[], 'must be an object'],
    [null, 'must be an object'],
    [{ maxRetries: 1 }, 'maxRetries is not known'],
    [{ maxTokens: 0 }, 'maxTokens must be a whole number from 1'],
    [{ maxToolCalls: 1.5 }, 'maxToolCalls must be a whole number from 0'],
    [{ maxRuns: '3' }, 'maxRuns must be a whole number from 0'],
    [{ maxCostUsd: -1 }, 'maxCostUsd must be a number from 0'],
    [{ __proto__: null, constructor: 1 }, 'constructor is not known'],
  ])('is refused as %j', (budget, why) => {
    expect(budgetProblems({ budget: budget as never })).toEqual([expect.stringContaining(why)]);
  });
});

describe('what a caller on another host lets a run use', () => {
  test('is the smaller limit of both, whoever sets it', () => {
    const own: Budget = { maxTokens: 10, maxToolCalls: 5, maxRuns: 7 };
    expect(narrowed(own, undefined)).toBe(own);
    expect(narrowed(own, { maxTokens: 20, maxToolCalls: 3, maxCostUsd: 0, maxRuns: 9 })).toEqual({
      maxTokens: 10,
      maxToolCalls: 3,
      maxCostUsd: 0,
      maxRuns: 7,
    });
  });

  test('is a share of what is left here, and nothing is lent for it', () => {
    const state = runWith(newAccount({ maxTokens: 100, maxRuns: 9 }), 40);
    expect(shareElsewhere(state, 2)).toEqual({ maxTokens: 30, maxRuns: 4 });
    expect(spentBy(state)).toMatchObject({ tokens: 40, runs: 0 });
    expect(shareElsewhere(runWith(newAccount({ maxTokens: 30, maxRuns: 0 }), 40), 1)).toEqual({
      maxTokens: 0,
      maxRuns: 0,
    });
  });
});

describe('a share', () => {
  const all: Budget = { maxTokens: 100, maxCostUsd: 1, maxToolCalls: 10, maxRuns: 11 };

  test('is all that is left for a run alone', () => {
    const state = runWith(newAccount(all), 40);
    expect(budgetShare(state, 1, 0)).toEqual({ maxTokens: 60, maxCostUsd: 1, maxToolCalls: 10, maxRuns: 10 });
  });

  test('is an equal one for runs side by side and whoever else is at work, rounded down', () => {
    expect(budgetShare(runWith(newAccount(all)), 2, 1)).toEqual({
      maxTokens: 33,
      maxCostUsd: 0.333333,
      maxToolCalls: 3,
      maxRuns: 2,
    });
  });

  test('of nothing is nothing, and what is not limited stays so', () => {
    expect(budgetShare(runWith(newAccount({ maxTokens: 10, maxRuns: 1 }), 30), 1, 0)).toEqual({
      maxTokens: 0,
      maxRuns: 0,
    });
  });

  test('is refused where there are more runs than may be started', () => {
    expect(budgetShare(runWith(newAccount({ maxRuns: 1 })), 2, 0)).toMatchObject({
      code: 'budget_exhausted',
      details: { kind: 'budget-runs', limit: 1, observed: 2 },
    });
  });
});

test('what is lent counts as used until it comes back, and then what was used of it does, once', () => {
  const account = newAccount({ maxTokens: 100, maxRuns: 10 });
  const state = runWith(account, 5);
  lend(account, id('r.0'), { maxTokens: 60, maxRuns: 4 });
  expect(spentBy(state)).toEqual({ tokens: 65, costUsd: 0, toolCalls: 0, runs: 5 });
  const spent = { tokens: 20, costUsd: 0.1, toolCalls: 2, runs: 3 };
  giveBack(account, id('r.0'), spent);
  expect(spentBy(state)).toEqual({ tokens: 25, costUsd: 0.1, toolCalls: 2, runs: 3 });
  giveBack(account, id('r.0'), spent);
  giveBack(account, id('never'), spent);
  expect(spentBy(state).tokens).toBe(25);
});

test('fractions that are lent and come back leave nothing behind', () => {
  const account = newAccount({ maxCostUsd: 1, maxRuns: 10 });
  for (const name of ['a', 'b', 'c']) lend(account, id(name), { maxCostUsd: 0.1, maxRuns: 0 });
  for (const name of ['a', 'b', 'c']) giveBack(account, id(name), nothingSpent);
  expect(account.lent).toEqual(nothingSpent);
});

describe('others who may be at work', () => {
  const sub = { type: 'core.subWorkflow', config: { workflowId: 'w' } };
  const concurrentNodes = (
    nodes: Record<string, typeof sub | string>,
    edges: readonly (readonly [string, string])[],
  ) => {
    const definition = workflowOf(
      nodes,
      edges.map(([from, to]) => ({ from, to })),
    );
    const workflow = compileWorkflow(definition, 'h', createNodeTypeRegistry([]));
    return (name: string) =>
      workflow.nodes
        .get(name)
        ?.concurrentNodes()
        .map((node) => node.id);
  };

  test('are those on other branches, not those before or after', () => {
    const of = concurrentNodes({ start: 'core.noop', a: sub, b: sub, after: sub, plain: 'core.noop' }, [
      ['start', 'a'],
      ['start', 'b'],
      ['start', 'plain'],
      ['a', 'after'],
    ]);
    expect(of('a')).toEqual(['b']);
    expect(of('after')).toEqual(['b']);
    expect(of('b')).toEqual(['a', 'after']);
  });

  test('in a loop are those of the same round', () => {
    const of = concurrentNodes({ head: sub, left: sub, right: sub, join: 'core.noop' }, [
      ['head', 'left'],
      ['head', 'right'],
      ['left', 'join'],
      ['right', 'join'],
      ['join', 'head'],
    ]);
    expect(of('head')).toEqual([]);
    expect(of('left')).toEqual(['right']);
  });
});
