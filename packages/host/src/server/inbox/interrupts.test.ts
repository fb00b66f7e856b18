import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { interruptIdOf } from '../../../test/kit/payload-ids.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keys, keyWith, type Served, served } from '../served.kit.ts';

const clarification = chain('asks', {
  typeId: 'core.clarificationGate',
  config: { questions: [{ id: 'q1', question: 'Which?' }], timeoutMs: 60_000 },
});

async function started(host: Served, definition: WorkflowDefinition, tenant = 't'): Promise<string> {
  await host.engine.register(tenant, definition);
  return (await host.engine.start({ tenant, workflowId: definition.id, inputs: {}, options: {} })).runId;
}

const list = async (host: Served, path: string, key = keys.alice) => {
  const { status, body } = await host.ask('GET', path, { key });
  expect(status).toBe(200);
  return body as { readonly interrupts: readonly JsonObject[]; readonly nextCursor?: string | null };
};

test('a run shows what it waits for, with all an answer is checked against', async () => {
  const host = await served();
  const runId = await started(host, clarification);
  const { interrupts } = await list(host, `/v1/runs/${runId}/interrupts`);
  expect(interrupts).toEqual([
    {
      runId,
      nodeId: 'n0',
      interruptId: interruptIdOf(runId, 'n0'),
      kind: 'clarification',
      key: `${runId}:n0:0`,
      data: { questions: [{ id: 'q1', question: 'Which?' }] },
      timeoutMs: 60_000,
      requestedAt: expect.any(String),
      expiresAt: expect.any(String),
    },
  ]);
  const [one] = interrupts;
  expect(Date.parse(String(one?.expiresAt)) - Date.parse(String(one?.requestedAt))).toBe(60_000);
});

test('a run that waits for nothing shows nothing; one that is not there or another’s is not found', async () => {
  const host = await served();
  const runId = await started(host, noop);
  expect((await list(host, `/v1/runs/${runId}/interrupts`)).interrupts).toEqual([]);
  for (const [id, key] of [
    ['run_nobody', keys.alice],
    [await started(host, approval), keys.stranger],
  ] as const) {
    const reply = await host.ask('GET', `/v1/runs/${id}/interrupts`, { key });
    expect([reply.status, reply.body.error]).toEqual([404, 'not_found']);
  }
});

test('a gate of several shows its approvers, the votes so far, and whether the caller may still decide', async () => {
  const host = await served();
  const gate = chain('quorum', {
    typeId: 'core.approvalGate',
    config: { title: 'Pay?', requiredApprovals: 2, approversList: ['alice', 'bob'] },
  });
  const runId = await started(host, gate);
  const seenBy = async (key: string) => (await list(host, `/v1/runs/${runId}/interrupts`, key)).interrupts[0];
  const open = { assignees: ['alice', 'bob'], quorum: { required: 2, approvals: 0, rejections: 0, votes: [] } };
  expect(await seenBy(keys.alice)).toMatchObject(open);
  expect(await seenBy(keys.alice)).not.toHaveProperty('refusal');
  const stranger = { code: 'forbidden', message: 'auditor is not among the approvers of node n0.' };
  expect(await seenBy(keys.auditor)).toMatchObject({ ...open, refusal: stranger });
  const reader = { code: 'forbidden', message: 'This credential lacks the scope approvals:respond.' };
  expect(await seenBy(keyWith('runs:read'))).toMatchObject({ refusal: reader });
  await host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { body: { resumeValue: { action: 'accept' } } });
  expect(await seenBy(keys.alice)).toMatchObject({
    quorum: { required: 2, approvals: 1, votes: [{ principal: 'alice', action: 'accept' }] },
    refusal: { code: 'conflict' },
  });
});

test('a vote that is sent again counts once; another vote of the same principal is refused', async () => {
  const host = await served();
  const gate = chain('again', { typeId: 'core.approvalGate', config: { requiredApprovals: 2 } });
  const runId = await started(host, gate);
  const vote = (resumeValue: JsonObject, headers = {}) =>
    host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { body: { resumeValue }, headers });
  const key = { 'idempotency-key': 'again-1' };
  const replies = [
    await vote({ action: 'accept' }),
    await vote({ action: 'accept' }),
    await vote({ action: 'accept' }, key),
  ];
  for (const { status, body } of replies) {
    expect([status, body]).toEqual([200, { runId, nodeId: 'n0', status: 'waiting-approval' }]);
  }
  expect((await vote({ action: 'accept', voter: 'bob' })).body).toMatchObject({ status: 'waiting-approval' });
  const { status, body } = await vote({ action: 'reject' });
  expect([status, body.error]).toEqual([409, 'conflict']);
  const [open] = (await list(host, `/v1/runs/${runId}/interrupts`)).interrupts;
  expect(open).toMatchObject({ quorum: { approvals: 1, votes: [{ principal: 'alice', action: 'accept' }] } });
});

test('the voter in an answer counts only on a host under test', async () => {
  const host = await served({ conformance: true });
  const gate = chain('voters', { typeId: 'core.approvalGate', config: { requiredApprovals: 2 } });
  const runId = await started(host, gate);
  const vote = (voter: string) =>
    host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { body: { resumeValue: { action: 'accept', voter } } });
  expect((await vote('ada')).body).toMatchObject({ status: 'waiting-approval' });
  expect((await vote('ada')).body).toMatchObject({ status: 'waiting-approval' });
  await vote('ben');
  expect((await host.ask('GET', `/v1/runs/${runId}`)).body.status).toBe('completed');
});

test('the pending list is the tenant’s own, oldest first, and shrinks with the answers', async () => {
  const host = await served();
  const first = await started(host, approval);
  const second = await started(host, clarification);
  const foreign = await started(host, approval, 'other');
  const mine = await list(host, '/v1/host/cairn/interrupts');
  expect(mine.interrupts).toEqual([
    {
      runId: first,
      workflowId: 'approval',
      nodeId: 'n0',
      interruptId: interruptIdOf(first, 'n0'),
      kind: 'approval',
      requestedAt: expect.any(String),
    },
    {
      runId: second,
      workflowId: 'asks',
      nodeId: 'n0',
      interruptId: interruptIdOf(second, 'n0'),
      kind: 'clarification',
      requestedAt: expect.any(String),
    },
  ]);
  expect(mine.nextCursor).toBeNull();
  const theirs = await list(host, '/v1/host/cairn/interrupts', keys.stranger);
  expect(theirs.interrupts.map(({ runId }) => runId)).toEqual([foreign]);
  const answer = { resumeValue: { action: 'accept' } };
  await host.ask('POST', `/v1/runs/${first}/interrupts/n0`, { body: answer });
  await host.ask('POST', `/v1/runs/${second}/cancel`, { body: {} });
  expect((await list(host, '/v1/host/cairn/interrupts')).interrupts).toEqual([]);
});

test('the pending list comes in pages', async () => {
  const host = await served();
  const runs = [await started(host, approval), await started(host, approval), await started(host, approval)];
  const seen: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await list(host, `/v1/host/cairn/interrupts?limit=1${after}`);
    seen.push(...page.interrupts.map(({ runId }) => runId));
    cursor = page.nextCursor ?? null;
  }
  expect(seen).toEqual(runs);
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x']) {
    const reply = await host.ask('GET', `/v1/host/cairn/interrupts?${query}`);
    expect([query, reply.status, reply.body.error]).toEqual([query, 400, 'validation_error']);
  }
});
