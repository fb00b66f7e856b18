import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { noop } from '../server/sample-workflows.kit.ts';
import { keys, type Served, served } from '../server/served.kit.ts';

const seams = '/v1/host/sample/test';

async function ranHost(): Promise<{ readonly host: Served; readonly runId: string }> {
  const host = await served({ conformance: true });
  await host.engine.register('t', noop);
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
  return { host, runId: String(body.runId) };
}

const paths = (runId: string) =>
  [
    ['GET', `${seams}/runs/${runId}/events`, undefined],
    ['GET', `${seams}/otel/spans?runId=${runId}`, undefined],
    ['POST', `${seams}/debug-bundle/export`, { runId }],
    ['POST', `${seams}/runs/${runId}/variables`, { variables: {} }],
  ] as const;

const ask = (host: Served, [method, path, body]: ReturnType<typeof paths>[number], key: string | null) =>
  host.ask(method, path, body === undefined ? { key } : { key, body });

test('without conformance there are no seams', async () => {
  const host = await served();
  for (const path of paths('run_x')) {
    expect((await ask(host, path, keys.alice)).status).toBe(404);
  }
});

test('gives the events that fit every filter, and the rows that this key may see', async () => {
  const { host, runId } = await ranHost();
  const events = async (query: string, key = keys.alice) => {
    const { body } = await host.ask('GET', `${seams}/runs/${runId}/events${query}`, { key });
    return (body.events as readonly JsonObject[]).map(({ type, nodeId }) => `${type} ${nodeId ?? ''}`.trim());
  };
  const all = (await host.ask('GET', `/v1/runs/${runId}/events`)).body.events as readonly JsonObject[];
  expect(await events('')).toEqual(all.map(({ type, nodeId }) => `${type} ${nodeId ?? ''}`.trim()));
  expect(await events('?type=node.completed')).toEqual(['node.completed n0']);
  expect(await events('?type=node.completed&nodeId=other')).toEqual([]);
  expect(await events(`?causationId=${String(all[1]?.causationId)}`)).not.toEqual([]);
});

test('gives the spans and the bundle that users get', async () => {
  const { host, runId } = await ranHost();
  const [, spans, bundle] = paths(runId);
  const real = (await host.ask('GET', `/v1/runs/${runId}/debug-bundle`)).body;
  expect((await ask(host, spans, keys.alice)).body).toEqual({ spans: real.spans });
  expect((await ask(host, bundle, keys.alice)).body).toMatchObject({ run: real.run, events: real.events });
});

test('needs a key that stands for somebody, and shows nothing of another tenant', async () => {
  const { host, runId } = await ranHost();
  for (const path of paths(runId)) {
    expect((await ask(host, path, null)).status).toBe(401);
    expect((await ask(host, path, keys.stranger)).body).toMatchObject({ error: 'forbidden' });
  }
  for (const path of paths('run_nobody')) expect((await ask(host, path, keys.alice)).status).toBe(404);
});

test.each([undefined, {}, { runId: 5 }, { runId: 'a', other: 1 }])('refuses the body %j', async (body) => {
  const { host } = await ranHost();
  const reply = await host.ask('POST', `${seams}/debug-bundle/export`, { raw: JSON.stringify(body) ?? '' });
  expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
});
