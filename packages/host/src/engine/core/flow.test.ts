import { describe, expect, test } from 'vitest';
import { RunScript, step, workflowOf } from '../../../test/kit/run-script.ts';
import type { EdgeOptions } from '../workflow/define-workflow.ts';

const noop = 'core.noop';
const fail = 'core.fail';
type Rule = NonNullable<EdgeOptions<string>['rule']>;

describe('trigger rules', () => {
  /** `x` waits for an ok, an untaken and a failing edge, as asked; the failing source is handled by an edge of its own. */
  const join = (rule: Rule, sources: readonly ('ok' | 'untaken' | 'failed')[]) => {
    const nodes: Record<string, string> = { x: noop, rescue: noop };
    const edges: EdgeOptions<string>[] = [];
    sources.forEach((source, i) => {
      nodes[`s${i}`] = source === 'failed' ? fail : noop;
      edges.push({ from: `s${i}`, to: 'x', rule, ...(source === 'untaken' ? { when: 'false' } : {}) });
      if (source === 'failed') edges.push({ from: `s${i}`, to: 'rescue', rule: 'any_failed' });
    });
    if (!sources.includes('failed')) delete nodes.rescue;
    return new RunScript(workflowOf(nodes, edges));
  };

  test.each<[Rule, readonly ('ok' | 'untaken' | 'failed')[], 'starts' | 'skipped']>([
    ['all_success', ['ok', 'ok'], 'starts'],
    ['all_success', ['ok', 'untaken'], 'skipped'],
    ['all_success', ['ok', 'failed'], 'skipped'],
    ['any_success', ['untaken', 'ok'], 'starts'],
    ['any_success', ['untaken', 'failed'], 'skipped'],
    ['all_complete', ['ok', 'untaken', 'failed'], 'starts'],
    ['all_complete', ['untaken'], 'starts'],
    ['none_failed', ['ok', 'untaken'], 'starts'],
    ['none_failed', ['ok', 'failed'], 'skipped'],
    ['none_failed', ['untaken', 'untaken'], 'skipped'],
    ['any_failed', ['ok', 'failed'], 'starts'],
    ['any_failed', ['ok', 'untaken'], 'skipped'],
  ])('%s over %j: the node is %s', (rule, sources, expected) => {
    const run = join(rule, sources);
    expect(run.started().includes('x')).toBe(expected === 'starts');
    expect(run.skipped().includes('x')).toBe(expected === 'skipped');
    expect(run.status).toBe('completed');
  });

  test('any_success does not wait for the others, and drops what comes late', () => {
    const edges: EdgeOptions<'a' | 'b' | 'x'>[] = [
      { from: 'a', to: 'x', rule: 'any_success' },
      { from: 'b', to: 'x', rule: 'any_success' },
    ];
    const run = new RunScript(workflowOf({ a: step('read'), b: step('read'), x: noop }, edges));
    run.returns('a');
    expect(run.started().filter((id) => id === 'x')).toHaveLength(1);
    run.returns('b');
    expect(run.started().filter((id) => id === 'x')).toHaveLength(1);
    expect(run.status).toBe('completed');
  });

  test('every group of edges must hold', () => {
    const nodes = { a: step('read'), b: step('read'), c: step('read'), x: noop };
    const run = new RunScript(
      workflowOf(nodes, [
        { from: 'a', to: 'x' },
        { from: 'b', to: 'x', rule: 'any_success' },
        { from: 'c', to: 'x', rule: 'any_success' },
      ]),
    );
    run.returns('b');
    expect(run.started()).not.toContain('x');
    run.returns('a');
    expect(run.started()).toContain('x');
  });

  test('a skipped node skips those that depend on it', () => {
    const run = new RunScript(
      workflowOf({ a: noop, b: noop, c: noop }, [
        { from: 'a', to: 'b', when: 'false' },
        { from: 'b', to: 'c' },
      ]),
    );
    expect(run.skipped()).toEqual(['b', 'c']);
    expect(run.status).toBe('completed');
  });

  test('a failure that an edge waits for does not fail the run', () => {
    const edges = [{ from: 'a', to: 'b', rule: 'any_failed' } as const];
    const run = new RunScript(workflowOf({ a: fail, b: noop }, edges));
    expect(run.started()).toEqual(['a', 'b']);
    expect(run.status).toBe('completed');
  });

  test('a disabled node is passed by without being executed', () => {
    const run = new RunScript(workflowOf({ a: noop, b: { type: fail, disabled: true }, c: noop }));
    expect(run.started()).toEqual(['a', 'c']);
    expect(run.last('node.skipped')).toMatchObject({ nodeId: 'b', reason: 'disabled' });
  });
});

describe('conditions', () => {
  const branch = (when: EdgeOptions<string>['when'], inputs = {}) =>
    new RunScript(
      workflowOf({ a: { type: 'core.start' }, b: noop }, [
        { from: 'a', to: 'b', ...(when === undefined ? {} : { when }) },
      ]),
      { inputs },
    );

  test('an edge is taken when its condition holds for what its source put out', () => {
    expect(branch({ type: 'equals', left: 'n', right: 1 }, { n: 1 }).started()).toContain('b');
    expect(branch({ type: 'equals', left: 'n', right: 2 }, { n: 1 }).started()).not.toContain('b');
    expect(branch('output.n > 0 && inputs.n == 1', { n: 1 }).started()).toContain('b');
  });

  test('an expression that cannot be evaluated fails the node it leaves', () => {
    const run = branch('output.nope > 1');
    expect(run.last('run.failed')).toMatchObject({ failedNodeId: 'a', error: { code: 'expression_failed' } });
    expect(run.all('node.completed')).toHaveLength(0);
  });

  test('a condition sees the variable its own source has just set', () => {
    const run = new RunScript(
      workflowOf({ a: { type: 'core.setVariable', config: { name: 'v', value: 3 } }, b: noop }, [
        { from: 'a', to: 'b', when: 'variables.v == 3' },
      ]),
    );
    expect(run.started()).toContain('b');
    expect(run.state.view.variables).toEqual({ v: 3 });
  });
});

describe('loops', () => {
  const loop = (config: Record<string, never> | object, body: Parameters<typeof workflowOf>[0][string] = noop) =>
    workflowOf({ l: { type: 'core.loop', config: config as never }, b: body, x: noop }, [
      { from: 'l', to: 'b', port: 'body' },
      { from: 'b', to: 'l' },
      { from: 'l', to: 'x', port: 'done' },
    ]);

  test('go round as often as they are told, then leave by done', () => {
    const run = new RunScript(loop({ times: 3 }));
    expect(run.started()).toEqual(['l', 'b', 'l', 'b', 'l', 'b', 'l', 'x']);
    expect(run.all('node.completed').at(-2)?.outputs).toEqual({ iterations: 3 });
    expect(run.skipped()).toEqual(['b']);
    expect(run.status).toBe('completed');
  });

  test('go over a list, and give each turn its item', () => {
    const run = new RunScript(loop({ items: 'inputs.names' }, 'core.identity'), { inputs: { names: ['p', 'q'] } });
    const turns = run.all('node.completed').filter((payload) => payload.nodeId === 'b');
    expect(turns.map((payload) => payload.outputs)).toEqual([
      { index: 0, item: 'p' },
      { index: 1, item: 'q' },
    ]);
  });

  test('go on while an expression holds', () => {
    const body = { type: 'core.setVariable', config: { name: 'n', expression: 'variables.n + 1' } };
    const run = new RunScript(loop({ whileExpression: 'variables.n < 4' }, body), { inputs: { n: 0 } });
    expect(run.state.view.variables.n).toBe(4);
    expect(run.status).toBe('completed');
  });

  test('do not skip what follows them while they still go round', () => {
    const run = new RunScript(loop({ times: 2 }, step('read')));
    run.returns('b');
    expect(run.skipped()).toEqual([]);
    run.returns('b');
    expect(run.started().at(-1)).toBe('x');
  });

  test('skip what follows them when they end without leaving that way', () => {
    const run = new RunScript(
      workflowOf({ l: { type: 'core.loop', config: { times: 5 } }, b: noop, x: noop, out: noop }, [
        { from: 'l', to: 'b', port: 'body' },
        { from: 'b', to: 'l', when: 'outputs.l.index < 1' },
        { from: 'b', to: 'out', when: 'outputs.l.index >= 1' },
        { from: 'l', to: 'x', port: 'done' },
      ]),
    );
    expect(run.started()).toEqual(['l', 'b', 'l', 'b', 'out']);
    expect(run.skipped()).toEqual(['x']);
    expect(run.status).toBe('completed');
  });

  test('nest: the inner one begins anew in each turn of the outer one', () => {
    const run = new RunScript(
      workflowOf(
        {
          outer: { type: 'core.loop', config: { times: 2 } },
          inner: { type: 'core.loop', config: { times: 2 } },
          b: noop,
          j: noop,
          x: noop,
        },
        [
          { from: 'outer', to: 'inner', port: 'body' },
          { from: 'inner', to: 'b', port: 'body' },
          { from: 'b', to: 'inner' },
          { from: 'inner', to: 'j', port: 'done' },
          { from: 'j', to: 'outer' },
          { from: 'outer', to: 'x', port: 'done' },
        ],
      ),
    );
    const turn = ['inner', 'b', 'inner', 'b', 'inner', 'j'];
    expect(run.started()).toEqual(['outer', ...turn, 'outer', ...turn, 'outer', 'x']);
    expect(run.status).toBe('completed');
  });

  test('skip a node that is still active only once it has ended', () => {
    const run = new RunScript(
      workflowOf(
        {
          again: { type: 'core.loop', config: { times: 2 } },
          body: step('read'),
          check: step('read'),
          slow: step('read'),
        },
        [
          { from: 'again', to: 'body', port: 'body' },
          { from: 'body', to: 'again' },
          { from: 'body', to: 'check' },
          { from: 'check', to: 'slow', when: 'output.go' },
        ],
      ),
    );
    run.returns('body').returns('check', { go: true });
    run.returns('body').returns('check', { go: false });
    const skipped = () => run.events.filter(({ type }) => type === 'node.skipped').map(({ nodeId }) => nodeId);
    expect(skipped()).toEqual(['body']);
    run.returns('slow');
    expect(skipped()).toEqual(['body', 'slow']);
    expect(run.types().slice(-4)).toEqual(['node.completed', 'node.skipped', 'cairn.task.status', 'run.completed']);
  });

  test('stop at the limit their workflow sets', () => {
    const run = new RunScript({ ...loop({ times: 9 }), settings: { maxLoopbackIterations: 2 } });
    expect(run.last('workflow.loopback-limit')).toEqual({ nodeId: 'l', iterations: 3, limit: 2 });
    expect(run.last('run.failed').error).toMatchObject({ code: 'loop_limit_exceeded' });
  });

  test('without an end run into the limit on node executions', () => {
    const run = new RunScript(loop({ whileExpression: 'true' }), { limits: { maxNodeExecutions: 50 } });
    expect(run.last('run.failed').error).toMatchObject({ code: 'recursion_limit_exceeded' });
    expect(run.state.executions).toBe(50);
  });

  test('may be closed by a failure', () => {
    const run = new RunScript(
      workflowOf({ a: step('read'), x: noop }, [
        { from: 'a', to: 'a', rule: 'any_failed' },
        { from: 'a', to: 'x' },
      ]),
    );
    run.throws('a', { retryable: false });
    expect(run.status).toBe('running');
    expect(run.last('node.started')).toMatchObject({ nodeId: 'a', visit: 1 });
    expect(run.last('cairn.step.requested')).toMatchObject({ callId: 'a#1', attempt: 1 });
    run.returns('a');
    expect(run.status).toBe('completed');
  });
});
