import { parseWorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { withOpenwop } from '../../../../../e2e/openwop/with-openwop.ts';
import { RunScript } from '../../../test/kit/run-script.ts';
import { requiresMissing } from '../../conformance/conformance-nodes.ts';
import { createNodeTypeRegistry } from '../nodes/node-types.ts';

withOpenwop('the conformance fixtures', ({ fixtures }) => {
  const fixture = (name: string) => parseWorkflowDefinition(fixtures.get(`conformance-${name}`)?.definition);

  test('noop, multi-node, idempotent, version-fold and configurable-schema complete', () => {
    expect(new RunScript(fixture('noop')).status).toBe('completed');
    expect(new RunScript(fixture('multi-node')).started()).toEqual(['a', 'b', 'c']);
    expect(new RunScript(fixture('idempotent'), { inputs: { nonce: 'x' } }).status).toBe('completed');
    expect(new RunScript(fixture('version-fold')).status).toBe('completed');
    expect(new RunScript(fixture('configurable-schema'), { configurable: { recursionLimit: 1 } }).status).toBe(
      'completed',
    );
  });

  test('identity gives back its payload', () => {
    const payload = { deep: [1, { x: null }] };
    const run = new RunScript(fixture('identity'), { inputs: { payload } });
    expect(run.state.view.variables).toEqual({ payload });
    expect(run.last('run.completed').outputs).toEqual({ payload });
  });

  test('delay and cancellable wait for their time', () => {
    expect(new RunScript(fixture('delay'), { inputs: { delayMs: 10 } }).passes(10).status).toBe('completed');
    const run = new RunScript(fixture('cancellable')).fact('cairn.cancel.requested', {});
    expect(run.status).toBe('cancelled');
  });

  test('failure, cap-breach, run-duration-breach and capability-missing fail with their codes', () => {
    const code = (run: RunScript) => (run.last('run.failed').error as { code: string }).code;
    expect(code(new RunScript(fixture('failure')))).toBe('conformance_test_failure');
    const capped = new RunScript(fixture('cap-breach'), { configurable: { recursionLimit: 5 } });
    expect(capped.last('cap.breached')).toEqual({
      kind: 'node-executions',
      limit: 5,
      observed: 6,
      nodeId: expect.any(String),
    });
    expect(code(capped)).toBe('recursion_limit_exceeded');
    expect(code(new RunScript(fixture('run-duration-breach'), { configurable: { runTimeoutMs: 50 } }).passes(50))).toBe(
      'run_timeout',
    );
    const nodeTypes = createNodeTypeRegistry([], [requiresMissing]);
    expect(code(new RunScript(fixture('capability-missing'), { nodeTypes }))).toBe('capability_not_provided');
  });

  test('approval, quorum, clarification and external event wait and go on', () => {
    expect(new RunScript(fixture('approval')).answers('gate', { action: 'accept' }).status).toBe('completed');
    const quorum = new RunScript(fixture('interrupt-quorum'));
    for (const who of ['a', 'b', 'c']) quorum.answers('gate', { action: 'accept' }, who);
    expect(quorum.status).toBe('completed');
    expect(new RunScript(fixture('clarification')).answers('ask', { answers: { q1: 'blue' } }).status).toBe(
      'completed',
    );
    const event = new RunScript(fixture('interrupt-external-event'));
    const eventPayload = { orderId: 'fixture-order-1', status: 'completed' };
    expect(event.answers('wait-for-external', { eventPayload }).status).toBe('completed');
  });

  test('channel-ttl keeps only the fresh entry, message-reducer the message once', () => {
    const ttl = new RunScript(fixture('channel-ttl')).passes(300);
    expect(ttl.state.view.channels.events?.value).toEqual([{ value: 'd', _ts: expect.any(Number) }]);
    const messages = new RunScript(fixture('message-reducer'));
    expect(messages.all('channel.written')).toHaveLength(2);
    expect(messages.state.view.channels.messages?.value).toHaveLength(1);
  });
});
