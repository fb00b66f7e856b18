import type { Json, JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { interruptIdOf } from '../../../test/kit/payload-ids.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Store } from '../../log/ports/store.ts';
import { approval, chain } from '../sample-workflows.kit.ts';
import { keys, type Served, type ServedOptions, served } from '../served.kit.ts';

const accept = { resumeValue: { action: 'accept' } };

interface Waiting {
  readonly host: Served;
  readonly runId: string;
  mint(
    body?: Json,
    key?: string,
  ): Promise<{ readonly token: string; readonly expiresAt: string; readonly url: string }>;
  inspect(token: string): ReturnType<Served['ask']>;
  answer(token: string, body?: Json): ReturnType<Served['ask']>;
}

async function waiting(definition: WorkflowDefinition = approval, options: ServedOptions = {}): Promise<Waiting> {
  const host = await served(options);
  await host.engine.register('t', definition);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: {} });
  const path = `/v1/host/cairn/runs/${runId}/interrupts/n0/token`;
  return {
    host,
    runId,
    mint: async (body, key = keys.alice) => {
      const reply = await host.ask('POST', path, { key, ...(body === undefined ? {} : { body }) });
      expect(reply.status, reply.text).toBe(201);
      return reply.body as { token: string; expiresAt: string; url: string };
    },
    inspect: (token) => host.ask('GET', `/v1/interrupts/${token}`, { key: null }),
    answer: (token, body = accept) => host.ask('POST', `/v1/interrupts/${token}`, { key: null, body }),
  };
}

const told = ({ status, body }: Awaited<ReturnType<Served['ask']>>) => [status, body.error];

test('who has a token sees the question and answers it, without a key', async () => {
  const { host, runId, mint, inspect, answer } = await waiting();
  const { token, url } = await mint();
  expect(url).toBe(`${host.url}/v1/interrupts/${token}`);
  const seen = await inspect(token);
  expect(seen.status).toBe(200);
  expect(seen.body).toMatchObject({
    runId,
    nodeId: 'n0',
    interruptId: interruptIdOf(runId, 'n0'),
    kind: 'approval',
    key: `${runId}:n0:0`,
    data: { title: 'Go on?', actions: ['accept', 'reject'] },
    requestedAt: expect.stringMatching(/^\d{4}-/),
  });
  const answered = await answer(token);
  expect([answered.status, answered.text]).toEqual([200, '{}']);
  const run = await host.ask('GET', `/v1/runs/${runId}`);
  expect(run.body).toMatchObject({ status: 'completed' });
});

test('the answer counts as that of who asked for the token', async () => {
  const { host, runId, mint, answer } = await waiting();
  await answer((await mint()).token);
  const { body } = await host.ask('GET', `/v1/runs/${runId}/events`);
  const resolved = (body.events as readonly JsonObject[]).find(({ type }) => type === 'interrupt.resolved');
  expect(resolved?.payload).toMatchObject({ resolvedBy: 'alice' });
});

test('a token is good once: answered, cancelled or ended, its question is settled', async () => {
  const first = await waiting();
  const { token } = await first.mint();
  await first.answer(token);
  expect(told(await first.answer(token))).toEqual([409, 'interrupt_already_resolved']);
  expect(told(await first.inspect(token))).toEqual([409, 'interrupt_already_resolved']);
  const second = await waiting();
  const lost = await second.mint();
  await second.host.ask('POST', `/v1/runs/${second.runId}/cancel`, { body: {} });
  expect(told(await second.answer(lost.token))).toEqual([409, 'interrupt_already_resolved']);
  expect(told(await second.inspect(lost.token))).toEqual([409, 'interrupt_already_resolved']);
});

test('of two tokens for one question only the first answer counts, also at the same moment', async () => {
  const { mint, answer } = await waiting();
  const tokens = [(await mint()).token, (await mint()).token];
  const replies = await Promise.all(tokens.map((token) => answer(token)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test('a token to look does not answer, and says nothing of the body it came with', async () => {
  const { host, mint, inspect, answer } = await waiting();
  const { token } = await mint({ intent: 'inspect' });
  expect((await inspect(token)).status).toBe(200);
  expect(told(await answer(token))).toEqual([403, 'forbidden']);
  expect(told(await answer(token, { nonsense: true }))).toEqual([403, 'forbidden']);
  expect((await host.ask('GET', `/v1/host/cairn/interrupts`)).body.interrupts).toHaveLength(1);
});

test('an answer that does not fit leaves the question open and the token good', async () => {
  const { mint, answer } = await waiting();
  const { token } = await mint();
  for (const body of [{ resumeValue: { action: 'ponder' } }, {}, { resumeValue: { action: 'accept' }, more: 1 }, []]) {
    expect(told(await answer(token, body as Json)), JSON.stringify(body)).toEqual([400, 'validation_error']);
  }
  expect((await answer(token)).status).toBe(200);
});

test('a token past its time is refused; the question still waits for another', async () => {
  let ahead = 0;
  const { mint, inspect, answer } = await waiting(approval, { now: () => Date.now() + ahead });
  const { token } = await mint({ expiresInSeconds: 60 });
  ahead = 60_000;
  expect(told(await answer(token))).toEqual([410, 'interrupt_expired']);
  expect(told(await inspect(token))).toEqual([410, 'interrupt_expired']);
  const { token: fresh } = await mint();
  expect((await answer(fresh)).status).toBe(200);
});

test('a token never outlives its interrupt, and none is made for one that is over', async () => {
  const gate = chain('short', { typeId: 'core.approvalGate', config: { timeoutMs: 60_000 } });
  let ahead = 0;
  const { host, runId, mint } = await waiting(gate, { now: () => Date.now() + ahead });
  const { expiresAt } = await mint({ expiresInSeconds: 3_600 });
  const { body } = await host.ask('GET', `/v1/runs/${runId}/interrupts`);
  expect(expiresAt).toBe((body.interrupts as readonly JsonObject[])[0]?.expiresAt);
  ahead = 60_001;
  const late = await host.ask('POST', `/v1/host/cairn/runs/${runId}/interrupts/n0/token`);
  expect(told(late)).toEqual([410, 'interrupt_expired']);
});

test.each(['x', 'a.b', `${Buffer.from('{}').toString('base64url')}.AAAA`, '%00', 'a'.repeat(1_000)])(
  'what is no token of this host is refused: %s',
  async (token) => {
    const { inspect, answer } = await waiting();
    expect(told(await inspect(token))).toEqual([401, 'unauthenticated']);
    expect(told(await answer(token))).toEqual([401, 'unauthenticated']);
  },
);

test('a gate of several counts one vote of each who asked for a token, however many tokens they have', async () => {
  const gate = chain('two', { typeId: 'core.approvalGate', config: { requiredApprovals: 2 } });
  const { host, runId, mint, answer } = await waiting(gate);
  const [one, another] = [await mint(), await mint()];
  const auditors = await mint({}, keys.auditor);
  expect((await answer(one.token)).status).toBe(200);
  expect((await answer(one.token)).status).toBe(200);
  expect((await answer(another.token)).status).toBe(200);
  expect(told(await answer(one.token, { resumeValue: { action: 'reject' } }))).toEqual([409, 'conflict']);
  expect((await host.ask('GET', `/v1/runs/${runId}`)).body.status).toBe('waiting-approval');
  expect((await answer(auditors.token)).status).toBe(200);
  expect((await host.ask('GET', `/v1/runs/${runId}`)).body.status).toBe('completed');
});

test('a token does not make a stranger an approver', async () => {
  const gate = chain('listed', { typeId: 'core.approvalGate', config: { approversList: ['auditor'] } });
  const { mint, answer } = await waiting(gate);
  expect(told(await answer((await mint()).token))).toEqual([403, 'forbidden']);
  expect((await answer((await mint({}, keys.auditor)).token)).status).toBe(200);
});

test('tokens are made only for questions that wait, and are never kept in caches', async () => {
  const { host, runId, mint } = await waiting();
  const ask = (node: string, body: Json = {}, key = keys.alice) =>
    host.ask('POST', `/v1/host/cairn/runs/${runId}/interrupts/${node}/token`, { body, key });
  expect(told(await ask('nobody'))).toEqual([404, 'interrupt_not_found']);
  expect(told(await ask('n0', {}, keys.stranger))).toEqual([404, 'not_found']);
  for (const body of [{ intent: 'rule' }, { expiresInSeconds: 0 }, { expiresInSeconds: 90_000 }, { principal: 'x' }]) {
    expect(told(await ask('n0', body)), JSON.stringify(body)).toEqual([400, 'validation_error']);
  }
  const minted = await ask(interruptIdOf(runId, 'n0'));
  expect([minted.status, minted.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { token } = await mint();
  const seen = await host.ask('GET', `/v1/interrupts/${token}`, { key: null });
  expect([seen.headers.get('cache-control'), seen.headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
  await host.ask('POST', `/v1/runs/${runId}/cancel`, { body: {} });
  expect(told(await ask('n0'))).toEqual([409, 'interrupt_already_resolved']);
});

test('no token is in a snapshot, an event, a list, a bundle or a report', async () => {
  const { host, runId, mint, answer } = await waiting();
  const { token } = await mint();
  await answer(token);
  const [, mac = ''] = token.split('.');
  const paths = ['', '/events', '/interrupts', '/debug-bundle'].map((rest) => `/v1/runs/${runId}${rest}`);
  for (const path of [...paths, '/v1/host/cairn/interrupts', '/v1/host/cairn/inbox', '/v1/runs']) {
    const { status, text } = await host.ask('GET', path, { key: keys.auditor });
    expect([status, text.includes(mac)], path).toEqual([200, false]);
  }
  expect(JSON.stringify(host.reports)).not.toContain(mac);
});

test('a stranger with made-up tokens has nothing written down, and is held up after too many', async () => {
  const store = inMemoryStore();
  const claims: string[] = [];
  const claim: Store['idempotency']['claim'] = (asked) => {
    claims.push(asked.endpoint);
    return store.idempotency.claim(asked);
  };
  const counted = { ...store, idempotency: { ...store.idempotency, claim } };
  const clock = { at: Date.now() };
  const options = { store: counted, limits: { maxFailedAuthPerMinute: 3 }, now: () => clock.at };
  const { host, mint, answer } = await waiting(approval, options);
  const { token } = await mint();
  const guess = (i: number) =>
    host.ask('POST', `/v1/interrupts/made.up${i}`, { key: null, body: accept, headers: { 'idempotency-key': `${i}` } });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i += 1) statuses.push((await guess(i)).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect(claims).toEqual([]);
  expect((await answer(token)).status).toBe(429);
  clock.at += 20_000;
  expect((await answer(token)).status).toBe(200);
});

const talk: WorkflowDefinition = chain('talk', { typeId: 'core.conversationGate' });
const turn = (content: string, more: JsonObject = {}) => ({
  resumeValue: { operation: 'exchange', turn: { content, ...more } },
});

async function turns(host: Served, runId: string): Promise<readonly JsonObject[]> {
  const { body } = await host.ask('GET', `/v1/runs/${runId}/events`);
  return (body.events as { type: string; payload: JsonObject }[])
    .filter(({ type }) => type === 'conversation.exchanged')
    .map(({ payload }) => payload.turn as JsonObject);
}

test('a token of a conversation takes one turn: a repetition changes nothing, another turn or a close is refused', async () => {
  const { host, runId, mint, answer } = await waiting(talk);
  const { token } = await mint();
  expect((await answer(token, turn('one'))).status).toBe(200);
  expect((await answer(token, turn('one'))).status).toBe(200);
  const refusal = [409, 'interrupt_already_resolved'];
  expect(told(await answer(token, turn('two')))).toEqual(refusal);
  expect(told(await answer(token, turn('two', { messageId: 'another' })))).toEqual(refusal);
  expect(told(await answer(token, { resumeValue: { operation: 'close' } }))).toEqual(refusal);
  const closing = { operation: 'close', turn: { content: 'bye' } };
  expect(told(await answer(token, { resumeValue: closing }))).toEqual(refusal);
  const second = await mint();
  expect((await answer(second.token, turn('two'))).status).toBe(200);
  expect((await turns(host, runId)).map(({ content }) => content)).toEqual(['one', 'two']);
});

test('turns at once with one token are one turn', async () => {
  const { host, runId, mint, answer } = await waiting(talk);
  const { token } = await mint();
  const replies = await Promise.all(['a', 'b', 'c', 'd'].map((content) => answer(token, turn(content))));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  expect(await turns(host, runId)).toHaveLength(1);
});

test('a token speaks as a person, whatever its bearer claims to be', async () => {
  const { host, runId, mint, answer } = await waiting(talk);
  const claims = { role: 'agent', from: 'local.a.boss', speakerId: 'local.a.boss', agent: { agentId: 'local.a.boss' } };
  expect((await answer((await mint()).token, turn('pay me', claims))).status).toBe(200);
  const [said] = await turns(host, runId);
  expect(said).toMatchObject({ role: 'user', from: 'user', content: 'pay me', principal: 'alice' });
  expect(said).not.toHaveProperty('speakerId');
  expect(said).not.toHaveProperty('agent');
  const closing = { operation: 'close', turn: { content: 'bye', ...claims } };
  expect((await answer((await mint()).token, { resumeValue: closing })).status).toBe(200);
  const { text } = await host.ask('GET', `/v1/runs/${runId}/events`);
  expect(text).not.toContain('local.a.boss');
});
