/** The checklist of the task-event contract, item by item, on a whole host over HTTP. README.md has the table. */
import { createHash } from 'node:crypto';
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encryptedTo } from '../../packages/host/test/kit/encrypted-to.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { auditContext } from './audit.ts';
import { DeskHost } from './desk-host.kit.ts';

let host: DeskHost;
beforeAll(async () => {
  host = await DeskHost.open();
});
afterAll(() => host[Symbol.asyncDispose]());

const ofKind = <Kind extends TaskEvent['kind']>(events: readonly TaskEvent[], kind: Kind) =>
  events.filter((event): event is TaskEventOf<Kind> => event.kind === kind);

const one = <Kind extends TaskEvent['kind']>(events: readonly TaskEvent[], kind: Kind): TaskEventOf<Kind> =>
  present(ofKind(events, kind).at(-1));

/** A context whose task waits for the user's colour. */
async function asked() {
  const sent = await host.send('host:asker');
  const events = await host.until(sent.contextId, ({ kind }) => kind === 'input-required');
  const { inputId } = one(events, 'input-required');
  const answer = (body: object, as: 'ann' | 'bob' | 'eve' = 'ann') =>
    host.ask('POST', `/api/contexts/${sent.contextId}/inputs/${inputId}`, { as, body });
  return { ...sent, inputId, answer };
}

test('lifecycle: task-created comes first, one end comes last, in success, failure and cancel', async () => {
  const done = await host.ended(await host.send('host:worker'));
  expect(auditContext(done)).toEqual([]);
  expect(done.at(-1)?.kind).toBe('task-complete');
  const failed = await host.ended(await host.send('host:faller'));
  expect(auditContext(failed)).toEqual([]);
  expect(failed.at(-1)).toMatchObject({ kind: 'task-status', status: 'failed' });
  const { contextId, taskId } = await asked();
  await host.ask('POST', `/api/contexts/${contextId}/tasks/${taskId}/cancel`, { body: {} });
  const canceled = await host.ended({ contextId, taskId });
  expect(auditContext(canceled)).toEqual([]);
  expect(canceled.at(-1)).toMatchObject({ kind: 'task-status', status: 'canceled' });
});

test('content: deltas join to the content, and each block says it once', async () => {
  const events = await host.ended(await host.send('host:worker'));
  expect(ofKind(events, 'content-complete').map(({ content }) => content)).toEqual(['I look into it.', 'That is all.']);
  expect(
    ofKind(events, 'content-delta')
      .map(({ delta }) => delta)
      .join(''),
  ).toBe('I look into it.That is all.');
});

test('tools: starts and completions are 1:1 on success, failure, an unknown tool and a cancel', async () => {
  const results: unknown[] = [];
  for (const agent of ['host:worker', 'host:breaker', 'host:dreamer']) {
    const events = await host.ended(await host.send(agent));
    expect(auditContext(events)).toEqual([]);
    expect(ofKind(events, 'tool-start')).toHaveLength(1);
    results.push(...ofKind(events, 'tool-complete').map(({ success }) => success));
  }
  expect(results).toEqual([true, false, false]);
  const sent = await host.send('host:sleeper');
  await host.until(sent.contextId, ({ kind }) => kind === 'tool-start');
  await host.ask('POST', `/api/contexts/${sent.contextId}/tasks/${sent.taskId}/cancel`, { body: {} });
  const canceled = await host.ended(sent);
  expect(auditContext(canceled)).toEqual([]);
  expect(ofKind(canceled, 'tool-complete')).toMatchObject([{ success: false }]);
});

test('files: indexes are contiguous, only piece 0 is described, one piece is complete, with the hash of all', async () => {
  const events = await host.ended(await host.send('host:worker'));
  const pieces = ofKind(events, 'file-write');
  expect(pieces.map(({ index }) => index)).toEqual(pieces.map((_, i) => i));
  expect(pieces.filter(({ complete }) => complete)).toEqual([pieces.at(-1)]);
  expect(pieces.map(({ name }) => name)).toEqual(['report.md', ...pieces.slice(1).map(() => undefined)]);
  const text = pieces.map(({ data }) => data).join('');
  expect(pieces.at(-1)?.metadata?.sha256).toBe(createHash('sha256').update(text).digest('hex'));
});

test('data: every write is one version more, whichever task writes', async () => {
  const first = await host.send('host:worker');
  await host.ended(first);
  const events = await host.ended(await host.send('host:worker', first.contextId));
  expect(ofKind(events, 'data-write').map(({ metadata }) => metadata?.version)).toEqual([1, 2]);
  expect(auditContext(events)).toEqual([]);
});

test('input: a second answer gets 409, one that does not fit 422, and one by somebody else 403', async () => {
  const { answer, ...sent } = await asked();
  expect(await answer({ value: 'blue' })).toMatchObject({ status: 422, body: { error: 'input_invalid' } });
  expect(await answer({ value: 'red' }, 'bob')).toMatchObject({ status: 403, body: { error: 'forbidden' } });
  expect(await answer({ value: 'red' }, 'eve')).toMatchObject({ status: 404 });
  expect(await answer({ value: 'red' })).toMatchObject({ status: 202 });
  expect(await answer({ value: 'red' })).toMatchObject({ status: 409, body: { error: 'input_already_answered' } });
  const events = await host.ended(sent);
  expect(auditContext(events)).toEqual([]);
  expect(one(events, 'tool-complete')).toMatchObject({ success: true, result: 'red' });
  expect(ofKind(events, 'input-received')).toMatchObject([{ providedBy: 'user', userId: 'ann' }]);
});

test('auth: a sign-in below two levels of subtasks reaches the user, and nobody answers it as an input', async () => {
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'outer' } });
  const run = await host.ask('GET', `/v1/runs/${body.runId}`);
  const [taskId, contextId] = [String(body.runId), String(run.body.contextId)];
  const before = await host.until(
    contextId,
    (event) => event.kind === 'task-status' && event.status === 'waiting-auth',
  );
  const { authId, taskId: deepest, encryptionKey } = one(before, 'auth-required');
  expect(deepest).toBe(`${taskId}.0.0`);
  const hidden = await host.context(contextId).events({ subtasks: false, limit: 100 });
  expect(ofKind(hidden.events, 'auth-required')).toHaveLength(1);
  const credential = await encryptedTo(encryptionKey, 'a-ledger-key-of-ann');
  const complete = (as: 'ann' | 'bob') =>
    host.ask('POST', `/api/contexts/${contextId}/auths/${authId}`, { as, body: { credential } });
  const asInput = await host.ask('POST', `/api/contexts/${contextId}/inputs/${authId}`, { body: { value: 'x' } });
  const asInterrupt = await host.ask('POST', `/v1/runs/${deepest}/interrupts/${authId}`, {
    body: { resumeValue: { eventPayload: {} } },
  });
  expect([asInput.status, asInterrupt.status, (await complete('bob')).status]).toEqual([403, 403, 403]);
  expect((await complete('ann')).status).toBe(202);
  const events = await host.ended({ taskId, contextId });
  expect(auditContext(events)).toEqual([]);
  expect(ofKind(events, 'auth-completed')).toMatchObject([{ authId, userId: 'ann', taskId: deepest }]);
  expect(ofKind(events, 'subtask-created')).toHaveLength(2);
});

const filters: readonly string[] = [
  '',
  'kinds=task-created,tool-start,tool-complete',
  'excludeKinds=content-delta,file-write',
  'verbosity=brief',
  'verbosity=detailed',
  'thoughtTypes=planning',
  'minConfidence=0.95',
  'subtasks=0',
  'debug=1&verbosity=detailed',
  'debug=1&kinds=internal:thought-process,internal:llm-call,internal:checkpoint',
];

const internalKinds = ['internal:checkpoint', 'internal:llm-call', 'internal:thought-process'];

const internal = (events: readonly TaskEvent[]) => events.filter(({ kind }) => String(kind).startsWith('internal:'));

test('filters: live, replayed and in pages the same events; restart: cursors go on', async () => {
  const { contextId } = await host.send('host:worker');
  const before = await host.until(contextId, ({ kind }) => kind === 'task-complete');
  const head = await host.head(contextId);
  const cases = filters.flatMap((query) => (['ann', 'operator'] as const).map((as) => ({ query, as })));
  const live = await Promise.all(
    cases.map(({ query, as }) => host.live(`${contextId}/stream?after=latest&${query}`, as)),
  );
  await host.ended(await host.send('host:worker', contextId));
  // A stream that is told that the host stops has sent everything before.
  await host.stop();
  await host.start();
  for (const [i, { query, as }] of cases.entries()) {
    const paged = await host.page(`${contextId}/events?after=${head}&limit=500&${query}`, as);
    expect([query, as, await live[i]?.ended]).toEqual([query, as, paged]);
    expect([query, as, await host.replayed(`${contextId}/stream?after=${head}&${query}`, as)]).toEqual([
      query,
      as,
      paged,
    ]);
    const kinds = [...new Set(internal(paged).map(({ kind }) => kind))].sort();
    const isAll = as === 'operator' && query.includes('debug=1');
    expect([query, as, kinds]).toEqual([query, as, isAll ? internalKinds : []]);
  }
  const after = await host.ended(await host.send('host:worker', contextId));
  expect(auditContext(after)).toEqual([]);
  expect(after.slice(0, before.length)).toEqual(before);
});

test('late joiner: a stream without a cursor begins with the turn in progress', async () => {
  const first = await host.send('host:worker');
  await host.ended(first);
  const { contextId } = first;
  expect(await host.replayed(`${contextId}/stream`, 'ann')).toEqual([]);
  const { taskId } = await host.send('host:asker', contextId);
  const turn = await host.until(contextId, (event) => event.kind === 'task-status' && event.status === 'waiting-input');
  const joined = await host.replayed(`${contextId}/stream`, 'ann');
  expect(joined).toEqual(turn.filter((event) => event.taskId === taskId));
  expect(joined[0]?.kind).toBe('task-created');
});

test('two hosts on one log: a stream opened at one shows a task that runs at the other', async () => {
  await host.start();
  const sent = await host.send('host:asker');
  const events = await host.until(sent.contextId, ({ kind }) => kind === 'input-required', 1);
  const { inputId } = one(events, 'input-required');
  const following = host.until(sent.contextId, ({ kind }) => kind === 'task-complete', 1);
  await host.context(sent.contextId, { place: 1 }).answer(inputId, 'green');
  expect(await following).toEqual(await host.ended(sent));
  expect(auditContext(await following)).toEqual([]);
});
