import { createClient } from '@cairn/client';
import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { untilCommit } from '../../../test/kit/until-commit.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { row } from '../../log/ports/samples.kit.ts';
import { chain } from '../sample-workflows.kit.ts';
import { receiver } from '../webhooks/receiver.kit.ts';
import { accept, asked, cluster, ended, key, type TestNode } from './two-nodes.kit.ts';

const started = async (node: TestNode, workflowId: string): Promise<RunId> => {
  const { body } = await node.ask('POST', '/v1/runs', { body: { workflowId } });
  return body.runId as RunId;
};

const sequences = async (node: TestNode, runId: RunId): Promise<readonly number[]> => {
  const seen: number[] = [];
  for await (const { sequence } of createClient({ url: node.url ?? '', key }).follow(runId)) seen.push(sequence);
  return seen;
};

test('a node answers the question of a run that another node started, and both stream all of it', async () => {
  const nodes = await cluster();
  const [a, b] = [await nodes.node(), await nodes.node()];
  const runId = await started(a, 'approval');
  const streams = [sequences(a, runId), sequences(b, runId)];
  await asked(nodes, runId);
  expect((await b.ask('GET', '/v1/host/cairn/inbox')).text).toContain(runId);
  expect((await accept(b, runId)).status).toBe(200);
  const [first, second] = await Promise.all(streams);
  expect(first).toEqual([...(first ?? []).keys()]);
  expect(second).toEqual(first);
  expect((await accept(a, runId)).body).toMatchObject({ error: 'interrupt_already_resolved' });
});

test('a run that a node steps is canceled through another node, and its step is aborted', async () => {
  const nodes = await cluster();
  const begun = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const long = defineStep({
    name: 'long',
    run: async (_input, { signal }) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted.resolve();
      return {};
    },
  });
  const workflows = [chain('long', { typeId: 'local.step.long' })];
  const [a, b] = [await nodes.node({ steps: [long], workflows }), await nodes.node({ steps: [long], workflows })];
  const runId = await started(a, 'long');
  await begun.promise;
  expect((await b.ask('POST', `/v1/runs/${runId}/cancel`, { body: {} })).status).toBe(200);
  await aborted.promise;
  await ended(nodes, runId);
  expect((await a.ask('GET', `/v1/runs/${runId}`)).body).toMatchObject({ status: 'cancelled' });
});

test('the runs of a node that dies go on at another within two lease times, and the dead one writes no more', async () => {
  const nodes = await cluster();
  let entered = 0;
  const second = Promise.withResolvers<void>();
  const hangsOnce = defineStep({
    name: 'hangs-once',
    safety: 'read',
    run: async () => {
      entered += 1;
      if (entered === 1) await new Promise(() => undefined);
      second.resolve();
      return {};
    },
  });
  const options = { steps: [hangsOnce], workflows: [chain('hangs', { typeId: 'local.step.hangs-once' })] };
  const a = await nodes.node(options);
  const runId = await started(a, 'hangs');
  await untilCommit(nodes.store, async () => entered === 1);
  const before = await nodes.store.log.head(runId);
  const died = Date.now();
  a.die();
  const b = await nodes.node(options);
  await second.promise;
  await ended(nodes, runId);
  expect(Date.now() - died).toBeLessThan(2_000 + 1_500);
  const { record, fence } = (await nodes.store.log.head(runId)) ?? {};
  expect(record?.status).toBe('completed');
  expect(fence).toBeGreaterThan(before?.fence ?? 0);
  const late = nodes.store.log.append({ runId, rows: [row('late')], fence: before?.fence });
  await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/lease_lost|run_terminal/) });
  expect(b.url).not.toBeNull();
});

test('a node that stops in order leaves its runs to another at once, and refuses requests by name', async () => {
  const nodes = await cluster({ leaseMs: 600_000 });
  const [a, b] = [await nodes.node(), await nodes.node()];
  const runId = await started(a, 'approval');
  await asked(nodes, runId);
  const stream = sequences(b, runId);
  await a.close();
  expect((await accept(b, runId)).status).toBe(200);
  await ended(nodes, runId);
  expect((await stream).length).toBeGreaterThan(3);
});

test('a session that is ended at one node is over at the other, with its streams; a sign-in link works at either, once', async () => {
  const nodes = await cluster();
  const [a, b] = [await nodes.node(), await nodes.node()];
  const runId = await started(a, 'approval');
  await asked(nodes, runId);
  const link = await a.ask('POST', '/v1/host/cairn/sign-in-links');
  const code = String(link.body.url).split('#')[1];
  const redeem = (node: TestNode) =>
    node.ask('POST', `/v1/host/cairn/sign-in-links/${code}`, { key: null, headers: { origin: node.url ?? '' } });
  const opened = await redeem(b);
  expect([opened.status, (await redeem(a)).status]).toEqual([200, 401]);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const read = (node: TestNode) => node.ask('GET', `/v1/runs/${runId}`, { key: null, headers: { cookie } });
  expect([(await read(a)).status, (await read(b)).status]).toEqual([200, 200]);
  const stream = await fetch(`${b.url}/v1/runs/${runId}/events`, { headers: { cookie, accept: 'text/event-stream' } });
  const cut = (async () => {
    for await (const _ of stream.body ?? []);
  })();
  expect((await a.ask('DELETE', '/v1/host/cairn/session', { key: null, headers: { cookie } })).status).toBe(204);
  await expect(cut).rejects.toThrow();
  expect([(await read(a)).status, (await read(b)).status]).toEqual([401, 401]);
});

test('the sessions of a principal are capped on all nodes together', async () => {
  const nodes = await cluster();
  const [a, b] = [await nodes.node(), await nodes.node()];
  const open = async (node: TestNode) => {
    const { headers } = await node.ask('POST', '/v1/host/cairn/session', { headers: { origin: node.url ?? '' } });
    return headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const status = async (node: TestNode, cookie: string) =>
    (await node.ask('GET', '/v1/runs', { key: null, headers: { cookie } })).status;
  const [first, second] = [await open(a), await open(a)];
  expect([await status(a, first), await status(b, first)]).toEqual([200, 200]);
  for (let i = 0; i < 63; i += 1) await open(b);
  // A node hears of the sessions of another by notices.
  await expect.poll(async () => [await status(a, first), await status(b, first)]).toEqual([401, 401]);
  expect([await status(a, second), await status(b, second)]).toEqual([200, 200]);
});

test('a webhook is registered, listed and removed at any node, and each event is delivered once', async () => {
  const outside = await receiver();
  const nodes = await cluster({ egress: { allow: [outside.origin] } });
  const [a, b] = [await nodes.node(), await nodes.node()];
  const hook = { url: `${outside.origin}/hook`, events: ['run.completed'] };
  const { body } = await b.ask('POST', '/v1/webhooks', { body: hook });
  for (const node of [a, b, a, b]) await ended(nodes, await started(node, 'noop'));
  await outside.arrived(4);
  expect((await a.ask('GET', '/v1/webhooks')).body).toMatchObject({ webhooks: [{ webhookId: body.webhookId }] });
  // The node that delivers goes; the other one takes over where it was.
  await a.close();
  await ended(nodes, await started(b, 'noop'));
  await outside.arrived(5);
  expect(new Set(outside.received.map(({ body: { runId } }) => runId)).size).toBe(5);
  expect(outside.received).toHaveLength(5);
  expect((await b.ask('DELETE', `/v1/webhooks/${String(body.webhookId)}`)).status).toBe(204);
  expect((await b.ask('GET', '/v1/webhooks')).body).toEqual({ webhooks: [] });
});

test('a request that is repeated at another node is executed once', async () => {
  const nodes = await cluster();
  const [a, b] = [await nodes.node(), await nodes.node()];
  const request = { body: { workflowId: 'noop' }, headers: { 'idempotency-key': 'one' } };
  const replies = await Promise.all([a, b, a, b].map((node) => node.ask('POST', '/v1/runs', request)));
  const ids = new Set(replies.filter(({ status }) => status < 300).map(({ body }) => body.runId));
  expect(ids.size).toBe(1);
  expect((await b.ask('GET', '/v1/runs')).body.runs).toHaveLength(1);
});

test('a workflow that is registered at one node runs at the other', async () => {
  const nodes = await cluster();
  const [a, b] = [await nodes.node(), await nodes.node()];
  const { id, ...rest } = chain('fresh', { typeId: 'core.noop' });
  expect((await a.ask('POST', '/v1/workflows', { body: { id, ...rest } as never })).status).toBe(201);
  await ended(nodes, await started(b, 'fresh'));
});
