/** What every store's index promises: run list, inbox and idempotency outcomes are true the moment their append is. */
import type { RunId } from '@cairn/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Append } from './event-log.ts';
import type { IdempotencyRecord } from './idempotency.ts';
import type { RunQuery } from './run-index.ts';
import { asked, context, creation, type OpenStore, resolved, row, runA, runB, started } from './samples.kit.ts';
import type { Store } from './store.ts';

/** Runs the suite against a store that `open` gives empty. */
export function runIndexContract(open: OpenStore): void {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());
  const current = (): Store => store;
  describe('the record of a run', () => record(current));
  describe('the run list', () => runList(current));
  describe('the inbox', () => inbox(current));
  describe('idempotency outcomes', () => outcomes(current));
}

function record(store: () => Store): void {
  it('comes from the rows and the identity given at creation', async () => {
    const create = { tenant: 't', contextId: context, originRunId: runB, parentRunId: runB };
    await store().log.append(creation(runA, { create, rows: [started({}, 1_234)] }));
    expect((await store().log.head(runA))?.record).toEqual({
      runId: runA,
      tenant: 't',
      contextId: context,
      originRunId: runB,
      parentRunId: runB,
      workflowId: 'wf',
      definitionHash: 'd1',
      principal: 'ada',
      status: 'running',
      currentNodeId: null,
      tags: ['red'],
      scopeId: null,
      errorCode: null,
      errorMessage: null,
      createdAt: 1_234,
      endedAt: null,
      importedAt: null,
    });
  });

  it('follows the run to its end', async () => {
    await store().log.append(creation(runA));
    await store().log.append({ runId: runA, rows: [row('node.started', { nodeId: 'n1' }), asked('i1')] });
    expect((await store().log.head(runA))?.record.currentNodeId).toBe('gate');
    const payload = JSON.stringify({ error: { code: 'run_timeout', message: 'too long' } });
    await store().log.append({ runId: runA, rows: [row('run.failed', { at: 5_000, payload })] });
    const ended = { status: 'failed', errorCode: 'run_timeout', errorMessage: 'too long', endedAt: 5_000 };
    expect((await store().log.head(runA))?.record).toMatchObject(ended);
    expect((await store().log.list({ tenant: 't', limit: 9 })).runs).toMatchObject([ended]);
  });

  it('survives a rebuild unchanged, and the rebuild finds nothing to repair', async () => {
    await store().log.append(creation(runA, { rows: [started(), asked('i1'), resolved('i1'), asked('i2')] }));
    await store().log.append(creation(runB, { rows: [started(), row('run.completed')] }));
    const before = await store().log.list({ tenant: 't', limit: 9 });
    const inbox = await store().log.interrupts(runA);
    expect(await store().log.rebuild()).toEqual({ runs: 2, repaired: 0 });
    expect(await store().log.list({ tenant: 't', limit: 9 })).toEqual(before);
    expect(await store().log.interrupts(runA)).toEqual(inbox);
    const answer = { runId: runA, answers: 'i2', rows: [resolved('i2')] };
    await expect(store().log.append(answer)).resolves.toMatchObject({ seq: 4 });
  });
}

function runList(store: () => Store): void {
  const fill = async (): Promise<void> => {
    for (const [i, workflowId] of ['w0', 'w1', 'w0', 'w1', 'w0'].entries()) {
      const create = { tenant: i === 1 ? 'other' : 't', contextId: context, originRunId: runA };
      const rows = [started({ workflowId, tags: i > 2 ? ['late', 'x'] : [] })];
      await store().log.append(creation(`run_${i}` as RunId, { create, rows }));
    }
    await store().log.append({ runId: 'run_3' as RunId, rows: [row('run.completed')] });
  };
  const ids = async (query: Omit<RunQuery, 'limit'>) =>
    (await store().log.list({ limit: 10, ...query })).runs.map((run) => run.runId);

  it('shows a tenant its own runs, newest first', async () => {
    await fill();
    expect(await ids({ tenant: 't' })).toEqual(['run_4', 'run_3', 'run_2', 'run_0']);
    expect(await ids({ tenant: 'other' })).toEqual(['run_1']);
    expect(await ids({ tenant: 'nobody' })).toEqual([]);
  });

  it('filters by status, workflow and tag', async () => {
    await fill();
    expect(await ids({ tenant: 't', status: 'completed' })).toEqual(['run_3']);
    expect(await ids({ tenant: 't', workflowId: 'w0' })).toEqual(['run_4', 'run_2', 'run_0']);
    expect(await ids({ tenant: 't', tag: 'late' })).toEqual(['run_4', 'run_3']);
    expect(await ids({ tenant: 't', tag: 'lat' })).toEqual([]);
    expect(await ids({ tenant: 't', tag: 'late', status: 'running', workflowId: 'w0' })).toEqual(['run_4']);
  });

  it('pages without a gap or a repeat while runs are added', async () => {
    await fill();
    const first = await store().log.list({ tenant: 't', limit: 2 });
    await store().log.append(creation('run_new' as RunId));
    const second = await store().log.list({ tenant: 't', limit: 2, cursor: first.nextCursor! });
    const pages = [first, second].map((page) => page.runs.map((run) => run.runId));
    expect(pages).toEqual([
      ['run_4', 'run_3'],
      ['run_2', 'run_0'],
    ]);
    expect(second.nextCursor).toBeNull();
  });

  it('refuses a cursor that no page gave', async () => {
    for (const cursor of ['', 'x', '-1', '1.5', '0x10', '99999999999999999999']) {
      const list = store().log.list({ tenant: 't', limit: 2, cursor });
      await expect(list).rejects.toMatchObject({ code: 'validation_error' });
    }
  });
}

function inbox(store: () => Store): void {
  const status = async () => (await store().log.head(runA))?.record.status;

  it('shows what a run asked and whether it still waits', async () => {
    await store().log.append(creation(runA, { rows: [started(), asked('i1', 'approval', 1_000)] }));
    await store().log.append({ runId: runA, rows: [asked('i2', 'clarification', 2_000)] });
    await store().log.append({ runId: runA, answers: 'i1', rows: [resolved('i1', 3_000)] });
    const common = { runId: runA, nodeId: 'gate' };
    expect(await store().log.interrupts(runA)).toEqual([
      { ...common, interruptId: 'i1', kind: 'approval', open: false, requestedAt: 1_000, seq: 1, votes: [] },
      { ...common, interruptId: 'i2', kind: 'clarification', open: true, requestedAt: 2_000, seq: 2, votes: [] },
    ]);
    expect(await store().log.interrupts(runB)).toEqual([]);
  });

  it('keeps the votes on a question while it waits, and none for a stranger, a timeout or a closed one', async () => {
    const vote = (interruptId: string, decidedBy?: string) =>
      row('approval.received', {
        nodeId: 'gate',
        payload: JSON.stringify({ interruptId, decidedBy, action: 'accept' }),
      });
    await store().log.append(creation(runA, { rows: [started(), asked('i1'), vote('i1', 'ada')] }));
    await store().log.append({ runId: runA, rows: [vote('i1', 'bob'), vote('i1'), vote('other', 'eve')] });
    const votes = ['ada', 'bob'].map((principal) => ({ principal, action: 'accept' }));
    expect(await store().log.interrupts(runA)).toMatchObject([{ interruptId: 'i1', seq: 1, votes }]);
    expect((await store().log.pending({ tenant: 't', limit: 9 })).interrupts).toMatchObject([{ seq: 1, votes }]);
    expect(await store().log.rebuild()).toEqual({ runs: 1, repaired: 0 });
    expect(await store().log.interrupts(runA)).toMatchObject([{ votes }]);
    await store().log.append({ runId: runA, answers: 'i1', rows: [resolved('i1'), vote('i1', 'eve')] });
    expect(await store().log.interrupts(runA)).toMatchObject([{ open: false, votes: [] }]);
    expect(await store().log.rebuild()).toEqual({ runs: 1, repaired: 0 });
  });

  it.each([
    ['approval', 'waiting-approval'],
    ['low-confidence', 'waiting-approval'],
    ['clarification', 'waiting-input'],
    ['custom', 'waiting-input'],
    ['external-event', 'waiting-external'],
  ])('shows a run that asked for %s as %s until it is answered', async (kind, waiting) => {
    await store().log.append(creation(runA, { rows: [started(), asked('i1', kind)] }));
    expect(await status()).toBe(waiting);
    await store().log.append({ runId: runA, rows: [resolved('i1')] });
    expect(await status()).toBe('running');
  });

  it('closes every question when the run ends', async () => {
    await store().log.append(creation(runA, { rows: [started(), asked('i1'), asked('i2')] }));
    await store().log.append({ runId: runA, rows: [row('run.cancelled')] });
    expect((await store().log.interrupts(runA)).map((one) => one.open)).toEqual([false, false]);
    const answer = { runId: runA, answers: 'i1', rows: [resolved('i1')] };
    await expect(store().log.append(answer)).rejects.toMatchObject({ code: 'interrupt_already_resolved' });
  });
}

function outcomes(store: () => Store): void {
  const outcome: IdempotencyRecord = {
    tenant: 't',
    endpoint: 'POST /v1/runs',
    key: 'k"1',
    requestDigest: 'sha',
    state: 'completed',
    owner: null,
    until: null,
    status: 201,
    headers: '{}',
    body: '{"runId":"run_a"}',
    at: 1_000,
  };
  const recorded = (runId: RunId): Append => creation(runId, { outcomes: [{ record: outcome, owner: null }] });
  const read = (key: string, tenant = 't') => store().records.idempotency(tenant, outcome.endpoint, key);

  it('are there with the append that caused them, for their tenant only', async () => {
    expect(await read('k"1')).toBeNull();
    await store().log.append(recorded(runA));
    expect(await read('k"1')).toEqual(outcome);
    expect(await read('k"1', 'other')).toBeNull();
    expect(await read('k2')).toBeNull();
  });

  it('let only one of two appends with the same key through', async () => {
    const results = await Promise.allSettled([store().log.append(recorded(runA)), store().log.append(recorded(runB))]);
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected']);
    expect(results[1]).toMatchObject({ reason: { code: 'conflict' } });
    expect(await store().log.head(runB)).toBeNull();
  });

  it('are not kept when their append is refused', async () => {
    await store().log.append(creation(runA));
    await expect(store().log.append(recorded(runA))).rejects.toMatchObject({ code: 'conflict' });
    expect(await read('k"1')).toBeNull();
  });

  it('of requests that were taken in hand are settled by the append, several at once', async () => {
    const taken = ['k1', 'k2'].map((key) => ({ record: { ...outcome, key }, owner: `owner of ${key}` }));
    for (const { record, owner } of taken) {
      expect(await store().records.claimIdempotency({ ...record, owner, now: 0, until: 100 })).toBeNull();
    }
    await store().log.append(creation(runA, { outcomes: taken }));
    for (const { record, owner } of taken) {
      expect(await read(record.key)).toEqual(record);
      await store().records.settleIdempotency({ ...record, body: 'late' }, owner);
      expect(await read(record.key)).toEqual(record);
    }
  });

  it("of a request that is no longer its owner's are refused, and the whole append with them", async () => {
    const { records, log } = store();
    await log.append(creation(runA));
    const claim = (owner: string, now: number) =>
      records.claimIdempotency({ ...outcome, owner, now, until: now + 100 });
    await claim('slow', 0);
    await claim('next', 100);
    const append = (owner: string) =>
      log.append({ runId: runA, rows: [row('node.started')], outcomes: [{ record: outcome, owner }] });
    const inFlight = { code: 'idempotency_in_flight', retryable: true, details: { retryAfter: 1 } };
    await expect(append('slow')).rejects.toMatchObject(inFlight);
    expect([(await log.head(runA))?.seq, await read('k"1')]).toMatchObject([0, { state: 'pending', owner: 'next' }]);
    await append('next');
    expect([(await log.head(runA))?.seq, await read('k"1')]).toEqual([1, outcome]);
    await expect(append('next')).rejects.toMatchObject(inFlight);
    expect((await log.head(runA))?.seq).toBe(1);
  });

  it('are forgotten when they are old, and can be written again', async () => {
    await store().log.append(recorded(runA));
    expect(await store().records.expireIdempotency(1_000)).toBe(0);
    expect(await store().records.expireIdempotency(1_001)).toBe(1);
    expect(await read('k"1')).toBeNull();
    await store().log.append(recorded(runB));
    expect(await read('k"1')).toEqual(outcome);
  });
}
