import type { InboxChange, InboxEntry, JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { inboxChange, inboxPage, parseShape } from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import { describe, expect, onTestFinished, test } from 'vitest';
import { interruptIdOf } from '../../../test/kit/payload-ids.ts';
import type { Append } from '../../log/ports/event-log.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import { asked, context, creation, row, started } from '../../log/ports/samples.kit.ts';
import { approval, chain } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

const PATH = '/v1/host/cairn/inbox';

const sub = (workflowId: string) => ({ typeId: 'core.subWorkflow', config: { workflowId } });
const middle = chain('middle', { typeId: 'core.noop' }, sub('approval'));
const top = chain('top', sub('middle'));
const pair = chain('pair', {
  typeId: 'core.approvalGate',
  config: { title: 'Both?', requiredApprovals: 2, approversList: ['alice', 'auditor'], timeoutMs: 60_000 },
});

async function begin(host: Served, definition: WorkflowDefinition, tenant = 't'): Promise<string> {
  await host.engine.register(tenant, definition);
  return (await host.engine.start({ tenant, workflowId: definition.id, inputs: {}, options: {} })).runId;
}

async function page(host: Served, query = '', key = keys.alice) {
  const { status, text } = await host.ask('GET', `${PATH}${query}`, { key });
  expect(status).toBe(200);
  return parseShape(inboxPage, JSON.parse(text), 'The page');
}

/** The first append of a run below another. */
function childRun(runId: RunId, parentRunId: RunId | undefined, rows: readonly NewRow[]): Append {
  const create = { tenant: 't', contextId: context, originRunId: runId, parentRunId };
  return creation(runId, { rows, create });
}

/** The page once so many wait. */
async function waiting(host: Served, count: number): Promise<readonly InboxEntry[]> {
  for (;;) {
    const { entries } = await page(host);
    if (entries.length === count) return entries;
  }
}

const answer = (host: Served, runId: string, key = keys.alice, nodeId = 'n0') =>
  host.ask('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { key, body: { resumeValue: { action: 'accept' } } });

describe('the page', () => {
  test('shows what is asked, from any depth, with the way down to it, and no token', async () => {
    const host = await served();
    for (const definition of [approval, middle]) await host.engine.register('t', definition);
    const root = await begin(host, top);
    const [entry] = await waiting(host, 1);
    expect(entry).toEqual({
      runId: `${root}.0.0`,
      interruptId: interruptIdOf(`${root}.0.0`, 'n0'),
      nodeId: 'n0',
      workflowId: 'approval',
      kind: 'approval',
      title: 'Go on?',
      data: expect.objectContaining({ title: 'Go on?', actions: expect.any(Array) }),
      requestedAt: expect.any(String),
      path: [
        { runId: root, workflowId: 'top', nodeId: 'n0' },
        { runId: `${root}.0`, workflowId: 'middle', nodeId: 'n1' },
        { runId: `${root}.0.0`, workflowId: 'approval', nodeId: 'n0' },
      ],
    });
    await host.ask('POST', `/v1/host/cairn/runs/${root}.0.0/interrupts/n0/token`, { key: keys.auditor });
    expect(JSON.stringify(await page(host))).not.toMatch(/token/i);
  });

  test('shows who may decide, how far they are, and when it is over', async () => {
    const host = await served();
    const runId = await begin(host, pair);
    const quorum = { required: 2, approvals: 0, rejections: 0, votes: [] };
    const [before] = await waiting(host, 1);
    expect(before).toMatchObject({ assignees: ['alice', 'auditor'], quorum });
    expect(Date.parse(before?.expiresAt ?? '') - Date.parse(before?.requestedAt ?? '')).toBe(60_000);
    await answer(host, runId);
    const votes = [{ principal: 'alice', action: 'accept' }];
    expect((await page(host)).entries).toMatchObject([{ quorum: { ...quorum, approvals: 1, votes } }]);
    await answer(host, runId, keys.auditor);
    await waiting(host, 0);
  });

  test('is the tenant’s own, in pages, whose cursors are of no use to others', async () => {
    const host = await served();
    const mine = [await begin(host, approval), await begin(host, pair), await begin(host, approval)];
    const foreign = await begin(host, approval, 'other');
    await waiting(host, 3);
    const first = await page(host, '?limit=2');
    const second = await page(host, `?limit=2&cursor=${first.nextCursor}`);
    expect([...first.entries, ...second.entries].map(({ runId }) => runId)).toEqual(mine);
    expect((await page(host, '', keys.stranger)).entries.map(({ runId }) => runId)).toEqual([foreign]);
    for (const query of [`?cursor=${first.nextCursor}`, '?cursor=x', '?limit=0', '?limit=201', '?limit=x']) {
      const key = query.includes('cursor') ? keys.stranger : keys.alice;
      expect(await host.ask('GET', `${PATH}${query}`, { key })).toMatchObject({ status: 400 });
    }
  });

  test('leaves out a question that is large, and cuts a title that is long between characters', async () => {
    const host = await served();
    const title = `${'x'.repeat(498)}🪨${'y'.repeat(20_000)}`;
    await begin(host, chain('large', { typeId: 'core.approvalGate', config: { title } }));
    const [entry] = await waiting(host, 1);
    expect(entry).toMatchObject({ title: `${'x'.repeat(498)}…`, isCut: true });
    expect(entry).not.toHaveProperty('data');
  });

  test('shows the first of many approvers, and nothing large that a workflow says about a question', async () => {
    const host = await served();
    const approversList = Array.from({ length: 4_000 }, (_, i) => `person-${i}`);
    await begin(host, chain('crowd', { typeId: 'core.approvalGate', config: { approversList, requiredApprovals: 2 } }));
    const remote = { server: 's'.repeat(50_000) };
    const about = { artifactId: 'x', artifactType: 'y', title: 'Well?', actions: ['accept'] };
    const data = { ...about, agentId: 'a'.repeat(50_000), remote };
    await begin(host, chain('claims', { typeId: 'core.interrupt', config: { kind: 'approval', data } }));
    const [crowd, claims] = await waiting(host, 2);
    expect(crowd).toMatchObject({ isCut: true, quorum: { required: 2, votes: [] } });
    expect(crowd?.assignees).toEqual(approversList.slice(0, 166));
    expect(claims).toMatchObject({ title: 'Well?', isCut: true });
    expect(JSON.stringify([crowd, claims]).length).toBeLessThan(4_000);
  });

  test('reads one row for each question, and the first of its run and of each run above once, however long the runs are', async () => {
    const host = await served();
    const long = Array.from({ length: 300 }, () => row('log.appended'));
    for (const name of ['run_a', 'run_b', 'run_c']) {
      const parentRunId = name === 'run_a' ? undefined : ('run_a' as RunId);
      const rows = [started({ parentRunId, parentNodeId: 'n0' }), ...long, asked('i1'), ...long];
      await host.store.log.append(childRun(name as RunId, parentRunId, rows));
    }
    const { read } = host.store.log;
    let rowsRead = 0;
    host.store.log.read = async (range) => {
      const rows = await read(range);
      rowsRead += rows.length;
      return rows;
    };
    expect((await page(host)).entries.map(({ path }) => path.length)).toEqual([1, 2, 2]);
    // Three questions, and the first rows of the three runs.
    expect(rowsRead).toBe(6);
    await page(host);
    expect(rowsRead).toBe(6 + 3);
  });

  test('begins the path with the run of another host that requested the first one, also for the runs below it', async () => {
    const host = await served();
    const parent = { runId: 'run_r', hostId: 'beta', wellKnownUrl: 'https://beta.example.org/', cause: 'a2a-message' };
    for (const [id, parentRunId] of [['run_a'], ['run_b', 'run_a']] as const) {
      const above = parentRunId === undefined ? { remoteParent: parent } : { parentRunId, parentNodeId: 'n0' };
      const rows = [started(above), asked('i1')];
      await host.store.log.append(childRun(id as RunId, parentRunId as RunId | undefined, rows));
    }
    const remote = { runId: 'run_r', hostId: 'beta', cause: 'a2a-message' };
    const own = { runId: 'run_a', workflowId: 'wf' };
    expect((await page(host)).entries.map(({ path }) => path)).toEqual([
      [remote, { ...own, nodeId: 'gate' }],
      [remote, { ...own, nodeId: 'n0' }, { runId: 'run_b', workflowId: 'wf', nodeId: 'gate' }],
    ]);
  });

  test('does not follow a way up into another tenant, or to a run that is not there', async () => {
    const host = await served();
    const foreign = await begin(host, approval, 'other');
    for (const [id, parentRunId] of [
      ['run_x', foreign],
      ['run_y', 'run_nobody'],
    ] as const) {
      const rows = [started({ parentRunId, parentNodeId: 'n0' }), asked('i1')];
      await host.store.log.append(childRun(id as RunId, parentRunId as RunId, rows));
    }
    const { entries } = await page(host);
    expect(entries.map(({ path }) => path)).toEqual([
      [{ runId: 'run_x', workflowId: 'wf', nodeId: 'gate' }],
      [{ runId: 'run_y', workflowId: 'wf', nodeId: 'gate' }],
    ]);
  });
});

interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly change: InboxChange;
}

/** A stream of the inbox, frame by frame. */
async function open(host: Served, headers: Record<string, string> = {}, key = keys.alice) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${host.url}${PATH}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${key}`, ...headers },
    signal: stop.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const frames: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      frames.push({ id, event, change: parseShape(inboxChange, JSON.parse(data), 'The change') }),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  return {
    stop: () => stop.abort(),
    async next(): Promise<Frame> {
      for (;;) {
        const frame = frames.shift();
        if (frame !== undefined) return frame;
        const { value, done } = await reader.read();
        if (done) throw new Error('The stream ended.');
        parser.feed(decoder.decode(value, { stream: true }));
      }
    },
  };
}

const runsOf = (change: InboxChange): readonly string[] =>
  change.type === 'snapshot' ? change.entries.map(({ runId }) => runId) : [];

describe('the stream', () => {
  test('begins with all there is, then says what comes, changes and goes, and how it went', async () => {
    const host = await served();
    const first = await begin(host, approval);
    await waiting(host, 1);
    const stream = await open(host);
    const snapshot = await stream.next();
    expect([snapshot.event, runsOf(snapshot.change)]).toEqual(['inbox.snapshot', [first]]);
    expect(snapshot.change).toMatchObject({ complete: true });
    const second = await begin(host, pair);
    expect((await stream.next()).change).toMatchObject({ type: 'added', entry: { runId: second, title: 'Both?' } });
    await answer(host, second);
    expect((await stream.next()).change).toMatchObject({ type: 'changed', entry: { quorum: { approvals: 1 } } });
    await answer(host, first);
    expect((await stream.next()).change).toEqual({
      type: 'removed',
      runId: first,
      interruptId: interruptIdOf(first, 'n0'),
      end: 'resolved',
    });
    await host.ask('POST', `/v1/runs/${second}/cancel`, { body: {}, key: keys.auditor });
    expect((await stream.next()).change).toMatchObject({ type: 'removed', runId: second, end: 'cancelled' });
  });

  test('says nothing of other tenants', async () => {
    const host = await served();
    const stream = await open(host);
    expect(runsOf((await stream.next()).change)).toEqual([]);
    await begin(host, approval, 'other');
    const mine = await begin(host, approval);
    expect((await stream.next()).change).toMatchObject({ type: 'added', entry: { runId: mine } });
  });

  test('goes on after the last id: what was missed, and nothing when nothing was', async () => {
    const host = await served();
    const stream = await open(host);
    const { id: empty = '' } = await stream.next();
    const first = await begin(host, approval);
    const { id = '' } = await stream.next();
    stream.stop();
    const second = await begin(host, approval);
    await waiting(host, 2);
    const resumed = await open(host, { 'last-event-id': id });
    expect((await resumed.next()).change).toMatchObject({ type: 'added', entry: { runId: second } });
    const earlier = await open(host, { 'last-event-id': empty });
    expect((await earlier.next()).change).toMatchObject({ type: 'added', entry: { runId: first } });
    expect((await earlier.next()).change).toMatchObject({ type: 'added', entry: { runId: second } });
  });

  test('begins anew for an id that is another tenant’s, or nobody’s', async () => {
    const host = await served();
    const foreign = await (await open(host, {}, keys.stranger)).next();
    const runId = await begin(host, approval);
    await waiting(host, 1);
    for (const id of [foreign.id ?? '', 'nonsense', '17']) {
      const stream = await open(host, { 'last-event-id': id });
      expect(runsOf((await stream.next()).change)).toEqual([runId]);
    }
  });

  test('ends with the host, and with a key that may not read it is refused', async () => {
    const host = await served();
    const stream = await open(host);
    await stream.next();
    await host.stop();
    await expect(stream.next()).rejects.toThrow('The stream ended.');
    const other = await served();
    const refused = await other.ask('GET', PATH, { key: null, headers: { accept: 'text/event-stream' } });
    expect([refused.status, (refused.body as JsonObject).error]).toEqual([401, 'unauthenticated']);
  });
});
