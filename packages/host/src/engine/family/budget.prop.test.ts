/** Random trees of runs that spend, start others, crash, are cancelled and end: together they never use more than the root may. */
import { contextId, type JsonObject, type RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import { drivenInput } from '../core/driven.ts';
import { type Budget, nothingSpent, type Spent } from './account.ts';
import { spentBy } from './budget.ts';
import { childEnded, parentEnded } from './ends.ts';
import type { ChildRequest } from './inheritance.ts';

const COST = 0.01;

/** Side by side, then one more: what comes back of the first is there for the last. */
const width = 3;
const definition = workflowOf(
  Object.fromEntries(
    [...Array(width).keys()]
      .map((n) => `side${n}`)
      .concat('last')
      .map((id) => [
        id,
        {
          type: 'core.subWorkflow',
          config: { workflowId: 'w', onChildFailure: 'absorb' },
          settings: { retry: { maxAttempts: 2, backoffMs: 1 } },
        },
      ]),
  ),
  [...Array(width).keys()].map((n) => ({ from: `side${n}`, to: 'last', rule: 'all_complete' as const })),
);

/** A run that starts no other. */
const leaf = workflowOf({ work: 'local.step.read' });

class Tree {
  readonly runs = new Map<RunId, RunScript>();
  /** Asked for, whether they came to be or not. */
  readonly started: RunId[] = [];
  readonly root: RunScript;

  constructor(budget: JsonObject) {
    this.root = this.#add('r' as RunId, new RunScript(definition, { runId: 'r' as RunId, configurable: { budget } }));
  }

  #add(id: RunId, run: RunScript): RunScript {
    this.runs.set(id, run);
    return run;
  }

  pick(n: number): RunScript {
    return [...this.runs.values()][n % this.runs.size] as RunScript;
  }

  /** As the agent loop does: it looks before each call. */
  spend(run: RunScript): void {
    if (run.state.ended) return;
    const { maxTokens = Infinity, maxCostUsd = Infinity, maxToolCalls = Infinity } = run.state.account.limits;
    const { tokens, costUsd, toolCalls } = spentBy(run.state);
    if (tokens < maxTokens && costUsd < maxCostUsd) {
      const usage = { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 0, costEstimateUsd: COST };
      run.fact('provider.usage', usage);
    }
    if (toolCalls + 1 <= maxToolCalls) {
      const callId = `t${run.state.nextSeq}`;
      run.fact('agent.toolCalled', { callId, agentId: 'host:a', toolName: 't', inputs: {} });
    }
  }

  /** A call that is open is performed, or fails; one whose run is there already finds it. */
  start(run: RunScript, n: number, isRefused: boolean): void {
    const calls = [...run.state.calls.values()].filter(({ step }) => step === 'cairn.child');
    const call = calls[n % Math.max(1, calls.length)];
    if (call === undefined || run.state.ended) return;
    const child = drivenInput(run.state, run.workflow, call) as ChildRequest;
    const { childRunId } = child;
    if (isRefused && !this.runs.has(childRunId)) {
      run.lands(call.callId, { error: { code: 'not_found', message: 'no', retryable: false } });
      return;
    }
    if (!this.runs.has(childRunId)) {
      this.started.push(childRunId);
      const askedBy = { tenant: 't', contextId: contextId('c'), runId: run.state.runId, nodeId: call.nodeId };
      const options = { runId: childRunId, child: { child, askedBy, requestedSeq: 0 } };
      this.#add(childRunId, new RunScript(n % 4 === 0 ? definition : leaf, options));
    }
    // The performer may be stopped right after: then the request is made again.
    if (n % 5 !== 0) run.lands(call.callId, { outcome: {} });
  }

  /** A run that starts no other is done. */
  finish(run: RunScript): void {
    if (!run.state.ended && run.state.calls.get('work#0') !== undefined) run.returns('work');
  }

  /** Relatives of runs that have ended are told; some twice. */
  tell(): void {
    for (const [id, run] of this.runs) {
      if (!run.state.ended) continue;
      const above = this.runs.get(id.slice(0, id.lastIndexOf('.')) as RunId);
      if (above !== undefined && above !== run && !above.state.ended) {
        above.write(childEnded(above.state, run.state));
        above.settle();
      }
      for (const child of Object.keys(run.state.children) as RunId[]) {
        const below = this.runs.get(child);
        if (below === undefined || below.state.ended) continue;
        below.write(parentEnded(below.state, id));
        below.settle();
      }
    }
  }

  hasNothingLent(): boolean {
    return [...this.runs.values()].every(({ state }) => Object.keys(state.account.loans).length === 0);
  }

  used(): Spent {
    let all = { ...nothingSpent, runs: this.started.length };
    for (const { state } of this.runs.values()) {
      const { usage, toolCallCount } = state.view;
      all = {
        ...all,
        tokens: all.tokens + usage.totalTokens,
        costUsd: all.costUsd + usage.costUsd,
        toolCalls: all.toolCalls + toolCallCount,
      };
    }
    return all;
  }
}

type Act = readonly [what: 'spend' | 'start' | 'refuse' | 'finish' | 'crash' | 'cancel' | 'tell' | 'wait', who: number];

const acts = fc.array(
  fc.tuple(
    fc.constantFrom<Act[0][]>(
      'spend',
      'spend',
      'spend',
      'start',
      'start',
      'start',
      'refuse',
      'finish',
      'finish',
      'finish',
      'crash',
      'cancel',
      'tell',
      'tell',
      'wait',
    ),
    fc.nat(10_000),
  ),
  { maxLength: 200, size: 'max' },
);

const budgets = fc.record(
  {
    maxTokens: fc.integer({ min: 1, max: 40 }),
    maxCostUsd: fc.double({ min: 0, max: 0.4, noNaN: true }),
    maxToolCalls: fc.nat(30),
    maxRuns: fc.nat(12),
  },
  { requiredKeys: [] },
);

function play(tree: Tree, [what, who]: Act): void {
  const run = tree.pick(who);
  if (what === 'spend') for (let n = 0; n <= who % 5; n++) tree.spend(run);
  else if (what === 'start' || what === 'refuse') tree.start(run, who, what === 'refuse');
  else if (what === 'finish') tree.finish(run);
  else if (what === 'crash' && !run.state.ended) run.crashes();
  else if (what === 'cancel' && run !== tree.root && !run.state.ended && who % 3 === 0) run.cancels();
  else if (what === 'tell') tree.tell();
  else if (what === 'wait' && !run.state.ended) run.passes(10);
}

test('a tree of runs never uses more than its root may, whatever happens to it', () => {
  fc.assert(
    fc.property(budgets, acts, (budget, story) => {
      const tree = new Tree(budget as JsonObject);
      const { maxTokens = Infinity, maxCostUsd = Infinity, maxToolCalls = Infinity } = budget;
      const { maxRuns } = tree.root.state.account.limits as Budget;
      for (const act of story) {
        play(tree, act);
        const used = tree.used();
        expect(used.tokens).toBeLessThanOrEqual(maxTokens);
        expect(used.toolCalls).toBeLessThanOrEqual(maxToolCalls);
        expect(used.runs).toBeLessThanOrEqual(maxRuns);
        // A loan is out exactly as long as its run is.
        for (const { state } of tree.runs.values()) {
          if (!state.ended) expect(Object.keys(state.account.loans)).toEqual(Object.keys(state.children));
        }
        // Whatever is out counts; where nothing is, the account of the root is exactly what was used.
        const counted = spentBy(tree.root.state);
        if (budget.maxTokens !== undefined) expect(counted.tokens).toBeGreaterThanOrEqual(used.tokens);
        expect(counted.runs).toBeGreaterThanOrEqual(used.runs);
        if (tree.hasNothingLent()) expect({ ...counted, costUsd: 0 }).toEqual({ ...used, costUsd: 0 });
        // Money is known only once it is spent: each run may pass its share by one call.
        expect(used.costUsd).toBeLessThanOrEqual(maxCostUsd + tree.runs.size * COST + 1e-9);
      }
    }),
    { numRuns: 300 },
  );
});
