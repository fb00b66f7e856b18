/** Fixtures about limits, options and requests: cancel, caps, per-workflow options, idempotency. */
import type { JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import type { Scenario, Scenarios } from './scenario.ts';

/** The protocol requires a cancelled run to end within this time. */
const CANCEL_WITHIN_MS = 5_000;

const cancels = (workflowId: string): Scenario => ({
  name: 'is cancelled within five seconds of being asked',
  async run(host) {
    const run = await host.start(workflowId);
    const asked = performance.now();
    const reply = await run.cancel();
    expect(reply.status).toBe(200);
    expect(['cancelling', 'cancelled']).toContain(reply.body.status);
    const { status, payloads, types } = await run.ended();
    expect(performance.now() - asked).toBeLessThan(CANCEL_WITHIN_MS);
    expect(status).toBe('cancelled');
    expect(types.at(-1)).toBe('run.cancelled');
    expect(payloads('run.cancelled')[0]).not.toHaveProperty('parentRunId');
    expect(await run.cancel()).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  },
});

export const limitScenarios: Scenarios = {
  'conformance-cancellable': [cancels('conformance-cancellable')],
  'conformance-dispatch-cancellable-child': [cancels('conformance-dispatch-cancellable-child')],
  'conformance-cap-breach': [
    {
      name: 'with recursionLimit 5 breaches at the sixth node and fails with recursion_limit_exceeded',
      async run(host) {
        const run = await host.start('conformance-cap-breach', { configurable: { recursionLimit: 5 } });
        const { snapshot, payloads, types } = await run.ended();
        expect(payloads('cap.breached')).toEqual([
          expect.objectContaining({ kind: 'node-executions', limit: 5, observed: 6 }),
        ]);
        expect(snapshot).toMatchObject({ status: 'failed', error: { code: 'recursion_limit_exceeded' } });
        expect(payloads('node.completed')).toHaveLength(5);
        expect(types.indexOf('cap.breached')).toBeLessThan(types.indexOf('run.failed'));
      },
    },
    {
      name: 'without a limit of its own completes all six nodes',
      async run(host) {
        const { status, payloads } = await (await host.start('conformance-cap-breach')).ended();
        expect(status).toBe('completed');
        expect(payloads('node.completed')).toHaveLength(6);
      },
    },
  ],
  'conformance-run-duration-breach': [
    {
      name: 'with a small runTimeoutMs breaches the wall clock and fails with run_timeout',
      async run(host) {
        const run = await host.start('conformance-run-duration-breach', { configurable: { runTimeoutMs: 150 } });
        const { snapshot, payloads } = await run.ended();
        const [breach] = payloads('cap.breached');
        expect(breach).toMatchObject({ kind: 'run-duration', limit: 150 });
        expect(breach?.observed).toBeGreaterThan(150);
        expect(snapshot).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } });
      },
    },
  ],
  'conformance-configurable-schema': [
    {
      name: 'shows its configurableSchema and runs with options that fit it',
      async run(host) {
        const { body } = await host.call('GET', '/v1/workflows/conformance-configurable-schema');
        expect(body.configurableSchema).toMatchObject({ type: 'object', additionalProperties: false });
        const run = await host.start('conformance-configurable-schema', { configurable: { recursionLimit: 3 } });
        expect(await run.ended()).toMatchObject({
          status: 'completed',
          snapshot: { configurable: { recursionLimit: 3 } },
        });
      },
    },
    ...[{ recursionLimit: 0 }, { recursionLimit: 'three' }, { unheardOf: true }].map((configurable) => ({
      name: `refuses ${JSON.stringify(configurable)} at creation with validation_error`,
      async run(host: Parameters<Scenario['run']>[0]) {
        const reply = await host.create({ workflowId: 'conformance-configurable-schema', configurable });
        expect(reply).toMatchObject({ status: 400, body: { error: 'validation_error' } });
      },
    })),
  ],
  'conformance-idempotent': [
    {
      name: 'gives the same answer to the same key and body, and starts one run',
      async run(host) {
        const body: JsonObject = { workflowId: 'conformance-idempotent', inputs: { nonce: 'one' } };
        const headers = { 'idempotency-key': 'fixture-idempotent-1' };
        const first = await host.create(body, headers);
        const again = await host.create(body, headers);
        expect(again).toMatchObject({ status: 201, body: first.body });
        expect(first.headers.get('openwop-idempotent-replay')).toBeNull();
        expect(again.headers.get('openwop-idempotent-replay')).toBe('true');
        const listed = await host.call('GET', '/v1/runs?workflowId=conformance-idempotent');
        expect(listed.body.runs).toHaveLength(1);
      },
    },
    {
      name: 'refuses the same key with another body',
      async run(host) {
        const headers = { 'idempotency-key': 'fixture-idempotent-2' };
        await host.create({ workflowId: 'conformance-idempotent', inputs: { nonce: 'one' } }, headers);
        const other = await host.create({ workflowId: 'conformance-idempotent', inputs: { nonce: 'two' } }, headers);
        expect(other).toMatchObject({ status: 409, body: { error: 'idempotency_key_mismatch' } });
      },
    },
    {
      name: 'starts one run when the same request comes eight times at once',
      async run(host) {
        const body: JsonObject = { workflowId: 'conformance-idempotent', inputs: { nonce: 'race' }, tags: ['race'] };
        const headers = { 'idempotency-key': 'fixture-idempotent-3' };
        const replies = await Promise.all(Array.from({ length: 8 }, () => host.create(body, headers)));
        for (const reply of replies) {
          if (reply.status !== 201) expect(reply.body.error).toBe('idempotency_in_flight');
        }
        const ids = replies.filter((reply) => reply.status === 201).map((reply) => reply.body.runId);
        expect(new Set(ids).size).toBe(1);
        expect((await host.call('GET', '/v1/runs?tag=race')).body.runs).toHaveLength(1);
      },
    },
  ],
};
