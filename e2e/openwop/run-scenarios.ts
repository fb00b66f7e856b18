/** Fixtures that run to their end without outside input: what they leave in the log and in the snapshot. */
import type { JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import type { Scenario, Scenarios } from './scenario.ts';

const lone = ['run.started', 'node.started', 'node.completed', 'run.completed'];

/** A definition that only has to complete. `variables` is what its snapshot must show. */
const completes = (workflowId: string, variables: JsonObject = {}): Scenario => ({
  name: 'completes and shows its variables',
  async run(host) {
    const { status, snapshot } = await (await host.start(workflowId)).ended();
    expect(status).toBe('completed');
    expect(snapshot.variables).toEqual(variables);
  },
});

export const runScenarios: Scenarios = {
  'conformance-noop': [
    {
      name: 'gives run.started, the node pair and run.completed, causes before effects, the terminal event last',
      async run(host) {
        const { types, events, snapshot } = await (await host.start('conformance-noop')).ended();
        expect(types).toEqual(lone);
        expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index));
        expect(events.at(-1)?.type).toBe('run.completed');
        for (const { causationId, sequence } of events) {
          if (causationId !== undefined) expect(Number(causationId.split(':').at(-1))).toBeLessThan(sequence);
        }
        expect(snapshot).toMatchObject({ workflowId: 'conformance-noop', status: 'completed' });
        expect(snapshot.owner).toEqual({ tenant: 'acme', principal: 'ann' });
      },
    },
  ],
  'conformance-identity': [
    {
      name: 'echoes its payload so that variables.payload deep-equals the input, and says nothing of agents',
      async run(host) {
        const payload = { nested: { list: [1, 'two', null, { deep: true }], text: 'Käse ✓ 𝒳' }, zero: 0 };
        const { snapshot, types } = await (await host.start('conformance-identity', { inputs: { payload } })).ended();
        expect(fields(snapshot.variables).payload).toEqual(payload);
        expect(types.filter((type) => type.startsWith('agent.'))).toEqual([]);
      },
    },
  ],
  'conformance-multi-node': [
    {
      name: 'completes A, B, C one after the other',
      async run(host) {
        const { payloads, types } = await (await host.start('conformance-multi-node')).ended();
        expect(payloads('node.completed').map((payload) => String(payload.nodeId).toLowerCase())).toEqual([
          'a',
          'b',
          'c',
        ]);
        const pairs = types.filter((type) => type.startsWith('node.'));
        expect(pairs).toEqual(Array.from({ length: 3 }, () => ['node.started', 'node.completed']).flat());
      },
    },
  ],
  'conformance-delay': [
    {
      name: 'takes at least as long as it was told and completes',
      async run(host) {
        const { status, events } = await (await host.start('conformance-delay', { inputs: { delayMs: 120 } })).ended();
        const [first, last] = [events[0], events.at(-1)].map((event) => Date.parse(event?.timestamp ?? ''));
        expect(status).toBe('completed');
        expect(Number(last) - Number(first)).toBeGreaterThanOrEqual(120);
      },
    },
  ],
  'conformance-failure': [
    {
      name: 'fails with the code and message the protocol gives it',
      async run(host) {
        const { snapshot, payloads, types } = await (await host.start('conformance-failure')).ended();
        const error = { code: 'conformance_test_failure', message: 'Intentional conformance failure' };
        expect(snapshot).toMatchObject({ status: 'failed', error });
        expect(payloads('node.failed')[0]).toMatchObject({ error, attempts: 1 });
        expect(types.at(-1)).toBe('run.failed');
      },
    },
  ],
  'conformance-dispatch-deterministic-fail-child': [
    {
      name: 'fails with the code of its configuration',
      async run(host) {
        const { snapshot } = await (await host.start('conformance-dispatch-deterministic-fail-child')).ended();
        expect(snapshot).toMatchObject({ status: 'failed', error: { code: 'hvmap_1b_failed_fixture' } });
      },
    },
  ],
  'conformance-capability-missing': [
    {
      name: 'ends with capability_not_provided, names the capability and never starts the node',
      async run(host) {
        const { snapshot, types } = await (await host.start('conformance-capability-missing')).ended();
        expect(snapshot).toMatchObject({ status: 'failed', error: { code: 'capability_not_provided' } });
        expect(fields(snapshot.error).message).toContain('conformance.never-provided');
        expect(types).not.toContain('node.started');
      },
    },
  ],
  'conformance-channel-ttl': [
    {
      name: 'leaves only the entry that is fresher than the time to live',
      async run(host) {
        const { snapshot, payloads } = await (await host.start('conformance-channel-ttl')).ended();
        expect(payloads('channel.written').map((write) => write.value)).toEqual(['a', 'b', 'c', 'd']);
        expect(fields(snapshot.channels).events).toEqual([{ value: 'd', _ts: expect.any(Number) }]);
      },
    },
  ],
  'conformance-message-reducer': [
    {
      name: 'holds a message that was written twice once',
      async run(host) {
        const { snapshot, payloads } = await (await host.start('conformance-message-reducer')).ended();
        const writes = payloads('channel.written');
        expect(writes.length).toBeGreaterThanOrEqual(2);
        const ids = writes.map((write) => fields(write.value).messageId);
        expect(new Set(ids).size).toBe(1);
        const messages = objects(fields(snapshot.channels).messages);
        expect(messages.map((message) => message.messageId)).toEqual(ids.slice(0, 1));
      },
    },
  ],
  'conformance-version-fold': [
    {
      name: 'completes, and records the engine version it ran under',
      async run(host) {
        const { events, types } = await (await host.start('conformance-version-fold')).ended();
        expect(types).toEqual(lone);
        expect(events[0]?.payload).toMatchObject({ engineVersion: '2' });
      },
    },
  ],
  'conformance-dispatch-cross-worker-handoff-child-a': [
    completes('conformance-dispatch-cross-worker-handoff-child-a', { output: 'hello' }),
  ],
  'conformance-dispatch-cross-worker-handoff-child-b': [
    {
      name: 'shows the inputs it was given',
      async run(host) {
        const run = await host.start('conformance-dispatch-cross-worker-handoff-child-b', {
          inputs: { input: 'hello' },
        });
        const { status, snapshot } = await run.ended();
        expect(status).toBe('completed');
        expect(snapshot.inputs).toEqual({ input: 'hello' });
      },
    },
  ],
  'conformance-dispatch-input-mapping-child': [
    {
      name: 'completes with inputs laid over its defaults',
      async run(host) {
        const { status } = await (await host.start('conformance-dispatch-input-mapping-child')).ended();
        expect(status).toBe('completed');
      },
    },
  ],
  'conformance-dispatch-output-mapping-child': [
    completes('conformance-dispatch-output-mapping-child', { childOutcome: 'done' }),
  ],
  'conformance-multi-agent-handoff-child': [
    completes('conformance-multi-agent-handoff-child', { childOutcome: 'handoff-complete' }),
  ],
  'conformance-subworkflow-child': [completes('conformance-subworkflow-child', { childResult: 'child-completed' })],
  'conformance-subworkflow-input-mapping-child': [
    completes('conformance-subworkflow-input-mapping-child', { receivedPrdId: 'baked-in' }),
  ],
};
