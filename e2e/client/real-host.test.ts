/** Every call of the client against a real host: the answers have the shapes the protocol gives them. */
import { type Client, createClient, verifyCallback, verifyWebhook } from '@cairn/client';
import {
  debugBundle,
  discovery,
  interruptAnswered,
  interruptToken,
  openInterrupt,
  pendingInterrupts,
  runCancelled,
  runCreated,
  runDiff,
  runList,
  runPaused,
  runResumed,
  runSnapshotSchema,
  runsCancelled,
  webhookRegistered,
  workflowDefinition,
  workflowRegistered,
} from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';
import { type ClientHost, clientHost, gated, key, plain } from './client-host.ts';

let host: ClientHost;
let client: Client;

beforeAll(async () => {
  host = await clientHost();
  client = createClient({ url: host.url, key });
});

afterAll(() => host[Symbol.asyncDispose]());

/** A run of `gated` that waits at its gate. */
async function waitingRun(): Promise<string> {
  const { runId } = await client.runs.create({ workflowId: 'gated' });
  expect((await client.runs.wait(runId)).interrupt).toMatchObject({ nodeId: 'approve', kind: 'approval' });
  return runId;
}

const accept = { action: 'accept' };

test('reads what the host is', async () => {
  expect(discovery.parse(await client.discovery())).toMatchObject({ implementation: { name: 'cairn' } });
});

test('registers, reads and lists workflows', async () => {
  expect(workflowRegistered.parse(await client.workflows.register({ ...plain, version: '1.1.0' }))).toEqual({
    workflowId: 'plain',
    version: '1.1.0',
  });
  expect(workflowDefinition.parse(await client.workflows.get('plain'))).toMatchObject({ version: '1.1.0' });
  expect(await client.workflows.get('plain', { version: '1.0.0' })).toEqual(plain);
  const { workflows } = await client.workflows.list();
  const versions = workflows.filter(({ workflowId }) => workflowId === 'plain').map(({ version }) => version);
  expect(versions).toEqual(['1.1.0']);
  await expect(client.workflows.register({ ...gated, name: 'Other' })).rejects.toMatchObject({ status: 409 });
});

test('takes a run from its start to its end, and reads it in every form', async () => {
  const created = runCreated.parse(await client.runs.create({ workflowId: 'gated', tags: ['form'] }));
  const { runId } = created;
  await client.runs.wait(runId);
  expect(interruptAnswered.parse(await client.runs.answer(runId, 'approve', accept))).toMatchObject({ runId });
  const over = await client.runs.wait(runId);
  expect(over).toMatchObject({ status: 'completed' });

  expect(runSnapshotSchema.parse(await client.runs.get(runId))).toMatchObject({ status: 'completed' });
  const marked = await client.runs.getIfChanged(runId, null);
  expect(marked).toMatchObject({ run: { runId }, etag: expect.stringMatching(/^"/) });
  expect(await client.runs.getIfChanged(runId, marked?.etag ?? null)).toBeNull();
  expect(runSnapshotSchema.parse(await client.runs.get(runId, { atSeq: 0 }))).toMatchObject({ atSeq: 0, runId });
  expect((await client.events.all(runId, { atSeq: 1 })).map(({ sequence }) => sequence)).toEqual([0, 1]);
  expect(await client.interrupts.ofRun(runId, { atSeq: 0 })).toEqual([]);
  expect(runDiff.parse(await client.runs.diff(runId, runId, { limit: 1 }))).toMatchObject({ divergedAtSeq: null });
  expect(debugBundle.parse(await client.runs.debugBundle(runId))).toMatchObject({ run: { runId } });

  const all = await client.events.all(runId);
  const followed = [];
  for await (const event of client.follow(runId)) followed.push(event);
  expect(followed).toEqual(all);
  const polled = [];
  for (let after = -1, isComplete = false; !isComplete; after = polled.at(-1)?.sequence ?? after) {
    const page = await client.events.poll(runId, { after, waitSeconds: 1 });
    polled.push(...page.events);
    isComplete = page.isComplete;
  }
  expect(polled).toEqual(all);
  const states = [];
  for await (const state of client.watch(runId, { fromStart: true })) states.push(state.status);
  expect(states.at(0)).toBe('running');
  expect(states).toContain('waiting-approval');
  expect(states.at(-1)).toBe('completed');
});

test('follows in batches and by mode', async () => {
  const runId = await waitingRun();
  await client.runs.answer(runId, 'approve', accept);
  const types = async (options: Parameters<Client['follow']>[1]) => {
    const seen: string[] = [];
    for await (const event of client.follow(runId, options)) seen.push(event.type);
    return seen;
  };
  const debug = await types({});
  expect(await types({ bufferMs: 50 })).toEqual(debug);
  const updates = await types({ modes: ['updates'] });
  expect(updates).not.toContain('node.started');
  expect(updates).toEqual(debug.filter((type) => updates.includes(type)));
  expect(await types({ modes: ['messages'] })).toEqual([]);
});

test('lists runs page by page', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    ids.unshift((await client.runs.create({ workflowId: 'plain', tags: ['pages'] })).runId);
  }
  const page = runList.parse(await client.runs.list({ tag: 'pages', limit: 2 }));
  expect(page.runs.map(({ runId }) => runId)).toEqual(ids.slice(0, 2));
  const all: string[] = [];
  for await (const { runId } of client.runs.all({ tag: 'pages', limit: 2 })) all.push(runId);
  expect(all).toEqual(ids);
});

test('cancels one run or many', async () => {
  const { runId } = await client.runs.create({ workflowId: 'gated' });
  const other = await waitingRun();
  expect(runCancelled.parse(await client.runs.cancel(other, 'enough'))).toMatchObject({ status: 'cancelled' });
  const cancelled = runsCancelled.parse(await client.runs.bulkCancel([runId, 'run_unknown', other]));
  expect(cancelled.results.map(({ ok }) => ok)).toEqual([true, false, true]);
  await expect(client.runs.pause(runId)).rejects.toMatchObject({ status: 409, details: { runStatus: 'cancelled' } });
});

test('holds a run and lets it go on', async () => {
  const slow = {
    ...plain,
    id: 'slow',
    nodes: [{ ...present(plain.nodes[0]), typeId: 'core.delay', config: { delayMs: 600_000 } }],
  };
  await client.workflows.register(slow);
  const { runId } = await client.runs.create({ workflowId: 'slow' });
  expect(runPaused.parse(await client.runs.pause(runId, { drainPolicy: 'immediate' }))).toMatchObject({ runId });
  expect(runResumed.parse(await client.runs.resume(runId, 'go'))).toMatchObject({ runId });
  await client.runs.cancel(runId);
});

test('lists questions, and answers one with a token instead of a key', async () => {
  const runId = await waitingRun();
  const [question] = await client.interrupts.ofRun(runId);
  expect(openInterrupt.parse(question)).toMatchObject({ runId, nodeId: 'approve' });
  const pending = pendingInterrupts.parse(await client.interrupts.pending());
  expect(pending.interrupts.map((interrupt) => interrupt.runId)).toContain(runId);
  const look = interruptToken.parse(await client.interrupts.token(runId, 'approve', { intent: 'inspect' }));
  const { token } = await client.interrupts.token(runId, 'approve');

  const guest = createClient({ url: host.url });
  expect(await guest.interrupts.get(look.token)).toEqual(question);
  await expect(guest.interrupts.resolve(look.token, accept)).rejects.toMatchObject({ status: 403 });
  await guest.interrupts.resolve(token, accept);
  await expect(guest.interrupts.resolve(token, accept)).rejects.toMatchObject({ code: 'interrupt_already_resolved' });
  expect(await client.runs.wait(runId)).toMatchObject({ status: 'completed' });
});

test('verifies what the host posts to a webhook', async () => {
  const webhook = webhookRegistered.parse(
    await client.webhooks.register({ url: host.receiver, events: ['run.completed'], tags: ['told'] }),
  );
  expect((await client.webhooks.list()).map(({ webhookId }) => webhookId)).toEqual([webhook.webhookId]);
  const { runId } = await client.runs.create({ workflowId: 'plain', tags: ['told'] });
  const posted = await host.posted();
  expect(await verifyWebhook({ ...posted, secret: webhook.secret })).toMatchObject({
    webhookId: webhook.webhookId,
    eventType: 'run.completed',
    runId,
    event: { type: 'run.completed', runId },
  });
  await expect(verifyWebhook({ ...posted, secret: 'not-the-secret-of-it' })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await client.webhooks.delete(webhook.webhookId);
  expect(await client.webhooks.list()).toEqual([]);
});

test('verifies what the host posts to the callback of a run, and answers by its token', async () => {
  const { runId } = await client.runs.create({ workflowId: 'gated', callbackUrl: host.receiver });
  const { secret } = await client.webhooks.callbackSecret();
  const callback = await verifyCallback({ ...(await host.posted()), secret });
  expect(callback).toMatchObject({ runId, interrupt: { nodeId: 'approve' } });
  await createClient({ url: host.url }).interrupts.resolve(callback.token, accept);
  expect(await client.runs.wait(runId)).toMatchObject({ status: 'completed' });
});

test('opens and ends a session', async () => {
  const { expiresAt } = await client.session.open();
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
  await client.session.close();
});
