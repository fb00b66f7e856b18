/** What a tenant may use of the host, seen from outside. */
import { expect, test } from 'vitest';
import { chain, heldStep } from '../../../test/kit/engine-bench.ts';
import { keys, served } from '../served.kit.ts';

test('a start beyond the active runs is 429, and the limits show why', async () => {
  const { step, called } = heldStep('work');
  const host = await served({ steps: [step], limits: { maxActiveRunsPerTenant: 1 } });
  await host.engine.register('t', chain(step.typeId));
  const start = () => host.ask('POST', '/v1/runs', { body: { workflowId: 'flow' } });
  expect((await start()).status).toBe(201);
  const call = await called(1);
  const refused = await start();
  expect(refused).toMatchObject({
    status: 429,
    body: { error: 'rate_limited', details: { scope: 'tenant', limit: '1 active runs' } },
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  const { body } = await host.ask('GET', '/v1/host/cairn/limits');
  expect(body).toMatchObject({
    tenant: 't',
    limits: { activeRuns: { max: 1, used: 1 }, openCalls: { used: 1, waiting: 0 } },
  });
  const strangers = await host.ask('GET', '/v1/host/cairn/limits', { key: keys.stranger });
  expect(strangers.body).toMatchObject({ limits: { activeRuns: { used: 0 } } });
  call.resolve(null);
  await expect.poll(async () => (await start()).status).toBe(201);
});

test('a call beyond the open ones waits, and its run completes', async () => {
  const { step, calls, called } = heldStep('work');
  const host = await served({ steps: [step], limits: { maxOpenCallsPerTenant: 1 } });
  await host.engine.register('t', chain(step.typeId));
  const start = () => host.engine.start({ tenant: 't', workflowId: 'flow', inputs: {}, options: {} });
  const runs = [await start(), await start()];
  (await called(1)).resolve('one');
  expect(calls.length).toBe(1);
  (await called(2)).resolve('two');
  for (const { runId } of runs) {
    await expect.poll(async () => (await host.engine.snapshot('t', runId)).status).toBe('completed');
  }
});

test('the metrics have the limits, and what each tenant uses', async () => {
  const { step, called } = heldStep('work');
  const host = await served({ steps: [step], limits: { maxActiveRunsPerTenant: 7 } });
  await host.engine.register('t', chain(step.typeId));
  await host.engine.start({ tenant: 't', workflowId: 'flow', inputs: {}, options: {} });
  await called(1);
  const { text } = await host.ask('GET', '/metrics', { key: keys.auditor });
  expect(text).toContain('cairn_tenant_limit{resource="activeRuns"} 7');
  expect(text).toContain('cairn_tenant_used{openwop_tenant_id="t",resource="openCalls"} 1');
  expect(text).toMatch(/cairn_eventloop_delay_seconds_bucket\{le="0.02"\} \d+/);
});
