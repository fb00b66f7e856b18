/** What every run index promises: run list and inbox are true the moment their append is. */

import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { noSummary } from '../run-summary.ts';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import { rowBytes } from './row-bytes.ts';
import { MAX_CHILD_COUNT, type RunQuery } from './run-index.ts';
import { runSummaryContract } from './run-summary.contract.ts';
import { asked, context, creation, resolved, row, runA, runB, started } from './samples.kit.ts';

type Indexed = () => Ports<'log' | 'runIndex'>;

export function runIndexContract(open: Open<'log' | 'runIndex'>): void {
  const store = eachStore(open);
  describe('the record of a run', () => record(store));
  describe('the summary of a run', () => runSummaryContract(store));
  describe('the run list', () => runList(store));
  describe('a parent in the run list', () => parents(store));
  describe('the inbox of a run', () => inbox(store));
  describe('pending interrupts', () => pending(store));
  describe('the bytes of a tenant', () => tenantBytes(store));
}

function record(store: Indexed): void {
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
      fork: null,
      summary: noSummary,
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
    expect((await store().runIndex.list({ tenant: 't', limit: 9 })).runs).toMatchObject([ended]);
  });

  it('survives a rebuild unchanged, and the rebuild finds nothing to repair', async () => {
    await store().log.append(creation(runA, { rows: [started(), asked('i1'), resolved('i1'), asked('i2')] }));
    await store().log.append(creation(runB, { rows: [started(), row('run.completed')] }));
    const before = await store().runIndex.list({ tenant: 't', limit: 9 });
    const inbox = await store().runIndex.interrupts(runA);
    expect(await store().runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
    expect(await store().runIndex.list({ tenant: 't', limit: 9 })).toEqual(before);
    expect(await store().runIndex.interrupts(runA)).toEqual(inbox);
    const answer = { runId: runA, answers: 'i2', rows: [resolved('i2')] };
    await expect(store().log.append(answer)).resolves.toMatchObject({ seq: 4 });
  });
}

function runList(store: Indexed): void {
  const fill = async (): Promise<void> => {
    for (const [i, workflowId] of ['w0', 'w1', 'w0', 'w1', 'w0'].entries()) {
      const create = { tenant: i === 1 ? 'other' : 't', contextId: context, originRunId: runA };
      const rows = [started({ workflowId, tags: i > 2 ? ['late', 'x'] : [] })];
      await store().log.append(creation(`run_${i}` as RunId, { create, rows }));
    }
    await store().log.append({ runId: 'run_3' as RunId, rows: [row('run.completed')] });
  };
  const ids = async (query: Omit<RunQuery, 'limit'>) =>
    (await store().runIndex.list({ limit: 10, ...query })).runs.map((run) => run.runId);

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
    const first = await store().runIndex.list({ tenant: 't', limit: 2 });
    await store().log.append(creation('run_new' as RunId));
    const second = await store().runIndex.list({ tenant: 't', limit: 2, cursor: present(first.nextCursor) });
    const pages = [first, second].map((page) => page.runs.map((run) => run.runId));
    expect(pages).toEqual([
      ['run_4', 'run_3'],
      ['run_2', 'run_0'],
    ]);
    expect(second.nextCursor).toBeNull();
  });

  it('refuses a cursor that no page gave', async () => {
    for (const cursor of ['', 'x', '-1', '1.5', '0x10', '99999999999999999999']) {
      const list = store().runIndex.list({ tenant: 't', limit: 2, cursor });
      await expect(list).rejects.toMatchObject({ code: 'validation_error' });
    }
  });
}

function parents(store: Indexed): void {
  const [root, middle, leaf] = ['run_root', 'run_middle', 'run_leaf'] as RunId[] as [RunId, RunId, RunId];
  const begin = (runId: RunId, parentRunId?: RunId, ...rows: ReturnType<typeof row>[]) =>
    store().log.append(
      creation(runId, {
        create: { tenant: 't', contextId: context, originRunId: runId, parentRunId },
        rows: [started({ workflowId: `w-${runId}` }), ...rows],
      }),
    );
  const family = async () => {
    await begin(root);
    await begin(middle, root);
    await begin(leaf, middle);
  };
  const tell = (runId: RunId, ...rows: ReturnType<typeof row>[]) => store().log.append({ runId, rows });
  /** What the list and each of its filters say, which must agree. */
  const shown = async (): Promise<Readonly<Record<string, string>>> => {
    const { runs } = await store().runIndex.list({ tenant: 't', limit: 99 });
    for (const { runId, shownStatus: status, workflowId } of runs) {
      for (const filters of [{}, { workflowId }, { tag: 'red' }, { tag: 'red', workflowId }]) {
        const found = await store().runIndex.list({ tenant: 't', status, ...filters, limit: 99 });
        expect(found.runs.map((run) => run.runId)).toContain(runId);
        expect(found.runs.every(({ shownStatus }) => shownStatus === status)).toBe(true);
      }
    }
    const all = await store().runIndex.shown(runs.map(({ runId }) => runId));
    expect([...all]).toEqual(runs.map(({ runId, shownStatus }) => [runId, shownStatus]));
    expect(await store().runIndex.rebuild()).toEqual({ runs: runs.length, repaired: 0 });
    return Object.fromEntries(all);
  };

  it('is listed with the runs that have no parent, and lists and counts its children', async () => {
    await family();
    await begin('run_late' as RunId, root);
    await store().log.append(creation('run_apart' as RunId));
    const listed = async (parentRunId: RunId | null, tenant = 't') =>
      (await store().runIndex.list({ tenant, parentRunId, limit: 9 })).runs.map(({ runId }) => runId);
    expect(await listed(null)).toEqual(['run_apart', root]);
    expect(await listed(root)).toEqual(['run_late', middle]);
    expect([await listed(leaf), await listed(root, 'other'), await listed(null, 'other')]).toEqual([[], [], []]);
    const first = await store().runIndex.list({ tenant: 't', parentRunId: root, limit: 1 });
    const rest = { tenant: 't', parentRunId: root, limit: 1, cursor: present(first.nextCursor) };
    expect(await store().runIndex.list(rest)).toMatchObject({ runs: [{ runId: middle }], nextCursor: null });
    const counts = await store().runIndex.childCounts([leaf, root, middle, 'run_nobody' as RunId]);
    expect(Object.fromEntries(counts)).toEqual({ [root]: 2, [middle]: 1 });
  });

  it('counts no further than a page needs', async () => {
    await begin(root);
    for (let i = 0; i <= MAX_CHILD_COUNT; i += 1) await begin(`run_child_${i}` as RunId, root);
    expect((await store().runIndex.childCounts([root])).get(root)).toBe(MAX_CHILD_COUNT);
  });

  it('shows what a run below it waits for, at every level, until it is answered', async () => {
    await family();
    await tell(leaf, asked('i1', 'clarification'));
    expect(await shown()).toEqual({ [root]: 'waiting-input', [middle]: 'waiting-input', [leaf]: 'waiting-input' });
    expect((await store().log.head(root))?.record.status).toBe('running');
    await tell(leaf, resolved('i1'));
    expect(await shown()).toEqual({ [root]: 'running', [middle]: 'running', [leaf]: 'running' });
  });

  it('shows it when the child asks in its first append, and no longer when the child ends', async () => {
    await begin(root);
    await begin(leaf, root, asked('i1'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-approval' });
    await tell(leaf, row('run.cancelled'));
    expect(await shown()).toEqual({ [root]: 'running', [leaf]: 'cancelled' });
  });

  it('shows the wait of its oldest waiting child', async () => {
    await begin(root);
    await begin(middle, root);
    await begin(leaf, root, asked('i1'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-approval' });
    await tell(middle, asked('i2', 'external-event'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-external' });
    await tell(middle, resolved('i2'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-approval' });
  });

  it('shows its own status while it waits, is paused or has ended', async () => {
    await family();
    await tell(leaf, asked('i1', 'clarification'));
    await tell(middle, asked('i2', 'approval'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-approval', [middle]: 'waiting-approval' });
    await tell(middle, resolved('i2'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-input', [middle]: 'waiting-input' });
    await tell(middle, row('run.paused'));
    expect(await shown()).toMatchObject({ [root]: 'running', [middle]: 'paused' });
    await tell(middle, row('run.resumed'));
    expect(await shown()).toMatchObject({ [root]: 'waiting-input', [middle]: 'waiting-input' });
    await tell(root, row('run.completed'));
    expect(await shown()).toMatchObject({ [root]: 'completed', [middle]: 'waiting-input' });
  });

  it('does not wait for an imported child', async () => {
    await begin(root);
    await begin(leaf, undefined, asked('i1'));
    const { seq, hash } = present(await store().log.head(leaf));
    const copy = 'run_copy' as RunId;
    const rows = [started({ workflowId: `w-${leaf}` }), asked('i1')];
    const run = { runId: copy, tenant: 't', contextId: context, originRunId: leaf, parentRunId: root };
    await store().log.importRun({ ...run, importedAt: 9, seq, hash }, rows);
    expect(await shown()).toMatchObject({ [root]: 'running', [copy]: 'waiting-approval' });
  });

  it('is left out of the statuses when it does not exist', async () => {
    expect(await store().runIndex.shown([root])).toEqual(new Map());
  });
}

function inbox(store: Indexed): void {
  const status = async () => (await store().log.head(runA))?.record.status;

  it('shows what a run asked and whether it still waits', async () => {
    await store().log.append(creation(runA, { rows: [started(), asked('i1', 'approval', 1_000)] }));
    await store().log.append({ runId: runA, rows: [asked('i2', 'clarification', 2_000)] });
    await store().log.append({ runId: runA, answers: 'i1', rows: [resolved('i1', 3_000)] });
    const common = { runId: runA, nodeId: 'gate', votes: [] };
    const words = (kind: string) => `Answer needed: ${kind}.`;
    expect(await store().runIndex.interrupts(runA)).toEqual([
      {
        ...common,
        interruptId: 'i1',
        kind: 'approval',
        title: words('approval'),
        open: false,
        requestedAt: 1_000,
        seq: 1,
      },
      {
        ...common,
        interruptId: 'i2',
        kind: 'clarification',
        title: words('clarification'),
        open: true,
        requestedAt: 2_000,
        seq: 2,
      },
    ]);
    expect(await store().runIndex.interrupts(runB)).toEqual([]);
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
    expect(await store().runIndex.interrupts(runA)).toMatchObject([{ interruptId: 'i1', seq: 1, votes }]);
    expect((await store().runIndex.pending({ tenant: 't', limit: 9 })).interrupts).toMatchObject([{ seq: 1, votes }]);
    expect(await store().runIndex.rebuild()).toEqual({ runs: 1, repaired: 0 });
    expect(await store().runIndex.interrupts(runA)).toMatchObject([{ votes }]);
    await store().log.append({ runId: runA, answers: 'i1', rows: [resolved('i1'), vote('i1', 'eve')] });
    expect(await store().runIndex.interrupts(runA)).toMatchObject([{ open: false, votes: [] }]);
    expect(await store().runIndex.rebuild()).toEqual({ runs: 1, repaired: 0 });
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
    expect((await store().runIndex.interrupts(runA)).map((one) => one.open)).toEqual([false, false]);
    const answer = { runId: runA, answers: 'i1', rows: [resolved('i1')] };
    await expect(store().log.append(answer)).rejects.toMatchObject({ code: 'interrupt_already_resolved' });
  });
}

function pending(store: Indexed): void {
  const foreign = { tenant: 'other', contextId: 'ctx_other' as ContextId, originRunId: runB };
  const waiting = async (tenant = 't', limit = 10) => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().runIndex.pending({ tenant, limit, cursor });
      found.push(...page.interrupts.map((one) => `${one.runId} ${one.interruptId} ${one.workflowId}`));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };

  it('are the open ones of the tenant, the oldest first, in pages of any size', async () => {
    await store().log.append(creation(runA));
    await store().log.append(creation(runB, { create: foreign }));
    await store().log.append({ runId: runA, rows: [asked('i1'), asked('i2')] });
    await store().log.append({ runId: runB, rows: [asked('i3')] });
    await store().log.append({ runId: runA, rows: [asked('i4')] });
    for (const limit of [1, 2, 10]) {
      expect(await waiting('t', limit)).toEqual(['run_a i1 wf', 'run_a i2 wf', 'run_a i4 wf']);
    }
    expect(await waiting('other')).toEqual(['run_b i3 wf']);
    expect(await waiting('nobody')).toEqual([]);
  });

  it('leave the list when they are answered or their run ends, also between two pages', async () => {
    await store().log.append(creation(runA));
    await store().log.append({ runId: runA, rows: [asked('i1'), asked('i2'), asked('i3')] });
    const first = await store().runIndex.pending({ tenant: 't', limit: 1 });
    await store().log.append({ runId: runA, rows: [resolved('i1')] });
    const next = await store().runIndex.pending({ tenant: 't', limit: 1, cursor: first.nextCursor ?? undefined });
    expect(next.interrupts.map(({ interruptId }) => interruptId)).toEqual(['i2']);
    await store().log.append({ runId: runA, rows: [row('run.cancelled')] });
    expect(await waiting()).toEqual([]);
  });

  it('refuse a cursor that no page gave', async () => {
    const query = { tenant: 't', limit: 1, cursor: 'next' };
    await expect(store().runIndex.pending(query)).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('are found behind many of other tenants', async () => {
    await store().log.append(creation(runB, { create: foreign }));
    const many = Array.from({ length: 2_100 }, (_, i) => asked(`f${i}`));
    for (let i = 0; i < many.length; i += 100) {
      await store().log.append({ runId: runB, rows: many.slice(i, i + 100) });
    }
    await store().log.append(creation(runA));
    await store().log.append({ runId: runA, rows: [asked('i1')] });
    expect(await waiting()).toEqual(['run_a i1 wf']);
  });
}

function tenantBytes(store: Indexed): void {
  const rows = [started(), row('a', { payload: '{"text":"é"}', task: '{"kind":"x"}' })];
  const bytes = rows.reduce((sum, one) => sum + rowBytes(one), 0);

  it('count the events of its own runs, in UTF-8', async () => {
    await store().log.append(creation(runA, { rows }));
    const other = { tenant: 'u', contextId: 'ctx_two' as ContextId, originRunId: runB };
    await store().log.append(creation(runB, { create: other }));
    expect(await store().runIndex.tenantLogBytes('t')).toBe(bytes);
    expect(await store().runIndex.tenantLogBytes('u')).toBe(rowBytes(started()));
    expect(await store().runIndex.tenantLogBytes('nobody')).toBe(0);
  });

  it('refuse an append that would pass the quota, and change nothing', async () => {
    await store().log.append(creation(runA, { rows, maxTenantBytes: bytes }));
    const more = { runId: runA, rows: [row('b')] };
    const refused = store().log.append({ ...more, maxTenantBytes: bytes + rowBytes(row('b')) - 1 });
    await expect(refused).rejects.toMatchObject({ code: 'quota_exceeded', retryable: false });
    await expect(store().log.append(creation(runB, { maxTenantBytes: bytes }))).rejects.toMatchObject({
      code: 'quota_exceeded',
      details: { used: bytes, limit: bytes },
    });
    expect(await store().log.head(runB)).toBeNull();
    expect(await store().runIndex.tenantLogBytes('t')).toBe(bytes);
    await store().log.append({ ...more, maxTenantBytes: bytes + rowBytes(row('b')) });
    expect((await store().log.head(runA))?.seq).toBe(2);
  });

  it('do not stop another tenant, nor an append without a quota', async () => {
    await store().log.append(creation(runA, { rows }));
    const other = { tenant: 'u', contextId: 'ctx_two' as ContextId, originRunId: runB };
    await store().log.append(creation(runB, { create: other, maxTenantBytes: bytes }));
    await store().log.append({ runId: runA, rows: [row('run.failed')] });
    expect((await store().log.head(runA))?.record.status).toBe('failed');
  });
}
