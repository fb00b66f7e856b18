import { describe, expect, test } from 'vitest';
import { RunScript, step, workflowOf } from '../../../test/kit/run-script.ts';
import { noConfig } from '../nodes/config-fields.ts';
import { createNodeTypeRegistry } from '../nodes/node-types.ts';
import { stepInput } from '../nodes/step-node.ts';
import type { NodeType } from '../workflow/node-type.ts';
import type { OpenCall } from './state.ts';

const inputOf = (run: RunScript, callId: string) =>
  stepInput(run.state, run.workflow, run.state.calls.get(callId) as OpenCall);

const noop = 'core.noop';
const fail = 'core.fail';

describe('a run', () => {
  test('starts, runs its nodes in order and completes', () => {
    const run = new RunScript(workflowOf({ a: noop, b: noop }));
    expect(run.types()).toEqual([
      'run.started',
      'cairn.task.status',
      'node.started',
      'node.completed',
      'node.started',
      'node.completed',
      'cairn.task.status',
      'run.completed',
    ]);
    expect(run.status).toBe('completed');
    expect(run.faces.map((face) => face.kind)).toEqual([
      'task-created',
      'task-status',
      'tool-start',
      'tool-complete',
      'tool-start',
      'tool-complete',
      'task-status',
      'task-complete',
    ]);
  });

  test('names as cause of each row an earlier row', () => {
    const run = new RunScript(workflowOf({ a: step('read'), b: step('read') }));
    run.returns('a').returns('b');
    for (const event of run.events.slice(1)) {
      if (event.type === 'cairn.step.returned') continue;
      expect(event.cause, event.type).toBeLessThan(event.seq);
    }
  });

  test('waits for an effect, and goes on with its recorded result', () => {
    const run = new RunScript(workflowOf({ a: step('read', { config: { q: 1 } }), b: step('read') }));
    expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0' }]);
    expect(run.last('cairn.step.requested')).toMatchObject({ nodeId: 'a', attempt: 1, safety: 'read' });
    expect(inputOf(run, 'a#0')).toEqual({ q: 1 });
    run.returns('a', { found: 7 });
    expect(run.last('cairn.step.requested')).toMatchObject({ nodeId: 'b' });
    expect(inputOf(run, 'b#0')).toEqual({ found: 7 });
    run.returns('b', 'done');
    expect(run.last('run.completed')).toMatchObject({ outputs: { output: 'done' } });
  });

  test('ignores the result of an attempt it no longer waits for', () => {
    const run = new RunScript(workflowOf({ a: step('read') }));
    const { callId } = run.call('a');
    run.crashes();
    run.fact('cairn.step.returned', { nodeId: 'a', callId, attempt: 1, outcome: 'stale' }, 'a');
    expect(run.status).toBe('running');
    run.returns('a', 'fresh');
    expect(run.state.outputs.a).toEqual({ output: 'fresh' });
  });

  test('puts out the outputs of primary nodes, else of core.end, else of all nodes that lead nowhere', () => {
    const two = new RunScript(workflowOf({ a: noop, b: noop }, []));
    expect(two.last('run.completed').outputs).toEqual({ a: {}, b: {} });
    const nodes = { a: 'core.start', b: { type: 'core.end' }, c: noop } as const;
    const edges = [{ from: 'a', to: 'b' } as const, { from: 'a', to: 'c' } as const];
    const ended = new RunScript(workflowOf(nodes, edges), { inputs: { x: 1 } });
    expect(ended.last('run.completed').outputs).toEqual({ x: 1 });
    const primary = workflowOf({ ...nodes, c: { type: 'core.identity', outputRole: 'primary' } }, edges);
    expect(new RunScript(primary, { inputs: { x: 1 } }).last('run.completed').outputs).toEqual({ x: 1 });
  });
});

describe('failure and cancellation', () => {
  test('a failed node stops what is still active, then fails the run', () => {
    const run = new RunScript(workflowOf({ a: step('read'), b: step('read') }, []));
    run.throws('b', { retryable: false, code: 'node_execution_failed' });
    expect(run.types().slice(-3)).toEqual(['node.failed', 'node.cancelled', 'run.failed']);
    expect(run.last('run.failed')).toMatchObject({ failedNodeId: 'b', error: { code: 'node_execution_failed' } });
    expect(run.last('node.cancelled')).toMatchObject({ nodeId: 'a' });
    expect(run.state.activeCount).toBe(0);
  });

  test('core.fail fails with the code and message of the wire', () => {
    const run = new RunScript(workflowOf({ a: fail }));
    expect(run.last('run.failed').error).toEqual({
      code: 'conformance_test_failure',
      message: 'Intentional conformance failure',
      retryable: false,
    });
  });

  test('a node that needs what the host lacks fails without being started', () => {
    const lacking: NodeType = {
      typeId: 'local.lacking',
      config: noConfig,
      missingCapability: 'local.never-provided',
      begin: () => ({ kind: 'complete', outputs: {} }),
    };
    const nodeTypes = createNodeTypeRegistry([], [lacking]);
    const run = new RunScript(workflowOf({ a: 'local.lacking' }), { nodeTypes });
    expect(run.types()).not.toContain('node.started');
    expect(run.state.executions).toBe(0);
    expect(run.last('run.failed').error).toMatchObject({ code: 'capability_not_provided' });
    expect((run.last('run.failed').error as { message: string }).message).toContain('local.never-provided');
  });

  test('cancelling reaches every active node before the run ends', () => {
    const run = new RunScript(workflowOf({ a: step('read'), b: { type: 'core.delay', config: { ms: 50 } } }, []));
    run.fact('cairn.cancel.requested', { reason: 'enough', requestedBy: 'ada' });
    expect(run.all('node.cancelled').map((payload) => payload.nodeId)).toEqual(['a', 'b']);
    expect(run.last('run.cancelled')).toMatchObject({ reason: 'enough', cancelledBy: 'ada' });
    expect(run.types().at(-1)).toBe('run.cancelled');
    expect(run.state.timers).toEqual({});
  });

  test('a very wide run is stopped in several decisions', () => {
    const nodes = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`n${i}`, step('read')]));
    const run = new RunScript(workflowOf(nodes, []));
    run.fact('cairn.cancel.requested', {});
    expect(run.all('node.cancelled')).toHaveLength(100);
    expect(run.status).toBe('cancelled');
  });
});

describe('retries', () => {
  const retrying = (retry: { maxAttempts?: number; maxRetries?: number; backoffMs?: number }) =>
    new RunScript(workflowOf({ a: step('read', { settings: { retry } }) }));

  test('wait longer each time, and use the same call', () => {
    const run = retrying({ maxAttempts: 3, backoffMs: 100 });
    run.throws('a');
    expect(run.last('node.retried')).toMatchObject({
      attempt: 1,
      delayMs: 100,
      lastError: { code: 'node_execution_failed' },
    });
    run.passes(99);
    expect(run.started()).toHaveLength(1);
    run.passes(1);
    expect(run.last('node.started')).toMatchObject({ attempt: 1, visit: 0 });
    expect(run.last('cairn.step.requested')).toMatchObject({ callId: 'a#0', attempt: 2 });
    run.throws('a');
    expect(run.last('node.retried')).toMatchObject({ attempt: 2, delayMs: 200 });
    run.passes(200).throws('a');
    expect(run.last('node.failed')).toMatchObject({ attempts: 3 });
    expect(run.status).toBe('failed');
    expect(run.state.executions).toBe(3);
  });

  test('are not made for an error that will not pass', () => {
    const run = retrying({ maxRetries: 5 });
    run.throws('a', { retryable: false });
    expect(run.all('node.retried')).toHaveLength(0);
    expect(run.status).toBe('failed');
  });

  test('follow the workflow where the node says nothing', () => {
    const run = new RunScript(workflowOf({ a: step('read') }, undefined, { settings: { maxRetries: 1 } }));
    run.throws('a').passes(1_000).returns('a', {});
    expect(run.status).toBe('completed');
  });

  test('pair each tool start with one end in the task view', () => {
    const run = retrying({ maxRetries: 1, backoffMs: 1 });
    run.throws('a').passes(1).returns('a');
    const kinds = run.faces.map((face) => face.kind);
    expect(kinds.filter((kind) => kind === 'tool-start')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'tool-complete')).toHaveLength(1);
    expect(kinds).toContain('error');
  });
});

describe('limits', () => {
  test('the sixth node of a run that may execute five breaches the cap', () => {
    const ids = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
    const run = new RunScript(workflowOf(Object.fromEntries(ids.map((id) => [id, noop]))), {
      configurable: { recursionLimit: 5 },
    });
    expect(run.last('cap.breached')).toEqual({ kind: 'node-executions', limit: 5, observed: 6, nodeId: 'n6' });
    expect(run.last('run.failed').error).toMatchObject({ code: 'recursion_limit_exceeded' });
    expect(run.started()).toEqual(ids.slice(0, 5));
  });

  test('a node that takes too long fails its attempt, and is tried again where that is safe', () => {
    const settings = { timeoutMs: 500, retry: { maxRetries: 1, backoffMs: 10 } };
    const run = new RunScript(workflowOf({ a: step('read', { settings }) }));
    run.passes(500);
    expect(run.last('node.retried').lastError).toMatchObject({ code: 'node_timeout' });
    expect(run.state.calls).toEqual(new Map());
    run.passes(10).passes(499);
    expect(run.status).toBe('running');
    run.passes(1);
    expect(run.last('run.failed').error).toMatchObject({ code: 'node_timeout' });
  });

  test('a step that writes is not tried again after its time is up', () => {
    const settings = { timeoutMs: 500, retry: { maxRetries: 3 } };
    const run = new RunScript(workflowOf({ a: step('write', { settings }) }));
    run.passes(500);
    expect(run.all('node.retried')).toHaveLength(0);
    expect(run.status).toBe('failed');
  });

  test('a run that takes too long breaches its duration', () => {
    const run = new RunScript(workflowOf({ a: step('read') }), { configurable: { runTimeoutMs: 1_000 } });
    run.passes(1_000);
    expect(run.last('cap.breached')).toEqual({ kind: 'run-duration', limit: 1_000, observed: 1_001 });
    expect(run.last('run.failed').error).toMatchObject({ code: 'run_timeout' });
  });

  test('the shortest of the three time limits holds, and 0 in a definition means none', () => {
    const timeout = (definition: number, host: number | null) =>
      new RunScript(workflowOf({ a: step('read') }, undefined, { settings: { timeout: definition } }), {
        limits: { maxRunDurationMs: host },
      }).state.limits.timeoutMs;
    expect(timeout(500, 900)).toBe(500);
    expect(timeout(0, 900)).toBe(900);
    expect(timeout(0, null)).toBeNull();
  });
});

describe('inputs', () => {
  test('come from values, variables, outputs and expressions', () => {
    const run = new RunScript(
      workflowOf(
        {
          a: { type: 'core.identity', inputs: { payload: { type: 'variable', variableName: 'x' } } },
          b: {
            type: 'core.identity',
            inputs: {
              s: { type: 'static', value: [1] },
              c: { type: 'connection', nodeId: 'a', outputKey: 'payload' },
              e: { type: 'expression', expression: 'inputs.x + 1' },
              o: { type: 'variable', variableName: 'nope', optional: true },
            },
          },
        },
        undefined,
        { variables: [{ name: 'x', type: 'number' }] },
      ),
      { inputs: { x: 4 } },
    );
    expect(run.last('node.completed').outputs).toEqual({ s: [1], c: 4, e: 5, payload: 4 });
  });

  test('that have no value fail the node with a message that names them', () => {
    const inputs = { p: { type: 'connection' as const, nodeId: 'b', outputKey: 'late' } };
    const run = new RunScript(workflowOf({ a: { type: noop, inputs }, b: 'core.identity' }));
    expect(run.last('run.failed').error).toMatchObject({ code: 'config_validation_failed' });
    expect((run.last('run.failed').error as { message: string }).message).toMatch(
      /input p .* node b has put out no late/,
    );
  });

  test('that several edges bring to one port are told apart by their sources', () => {
    const a = { type: 'core.identity', inputs: { v: { type: 'static' as const, value: 1 } } };
    const run = new RunScript(
      workflowOf({ a, b: a, c: 'core.end' }, [
        { from: 'a', to: 'c' },
        { from: 'b', to: 'c' },
      ]),
    );
    expect(run.all('node.started').at(-1)?.inputs).toEqual({ input: { a: { v: 1 }, b: { v: 1 } } });
  });
});
