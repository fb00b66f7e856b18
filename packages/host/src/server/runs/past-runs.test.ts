/** A run as it was: every view after one of its events, over HTTP. */
import {
  foldEventOf,
  foldRun,
  type JsonObject,
  newRunView,
  type RunId,
  type RunSnapshot,
  runSnapshot,
  runSnapshotSchema,
} from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { approval } from '../sample-workflows.kit.ts';
import { served } from '../served.kit.ts';
import { type Office, officeKeys, openOffice } from './office.kit.ts';

type Taken = readonly { readonly seq: number; readonly snapshot: RunSnapshot }[];

/** Takes the snapshot of every run after every commit, as live readers see it. */
function takeSnapshots({ host, store }: Office): () => Promise<ReadonlyMap<RunId, Taken>> {
  const taking: Promise<{ readonly runId: RunId; readonly at: Taken[number] }>[] = [];
  store.log.follow(({ runId }) => {
    taking.push(host.engine.snapshotAt('t', runId).then((at) => ({ runId, at })));
  });
  return async () => {
    const taken = new Map<RunId, Taken[number][]>();
    for (const { runId, at } of await Promise.all(taking)) taken.set(runId, [...(taken.get(runId) ?? []), at]);
    return taken;
  };
}

/** The engine's snapshot does not look at relatives. */
const withoutFamily = ({ atSeq: _, asOf: __, status, childRuns, ...rest }: JsonObject) => ({
  ...rest,
  ...(JSON.stringify(childRuns ?? []).includes('running') ? {} : { status, childRuns }),
});

async function decided({ client }: Office, runId: RunId): Promise<void> {
  await client.runs.answer(runId, 'gate', { action: 'accept' });
  await client.runs.wait(runId);
}

test('the snapshot at every event is the one that live readers got then', async () => {
  const office = await openOffice();
  const taken = takeSnapshots(office);
  const runId = await office.run('office', { topic: 'tides' });
  await decided(office, runId);
  const live = await taken();
  expect(live.size).toBe(2);
  for (const [id, snapshots] of live) {
    expect(new Set(snapshots.map(({ seq }) => seq)).size).toBeGreaterThan(3);
    for (const { seq, snapshot } of snapshots) {
      const { status, body } = await office.ask(`/v1/runs/${id}?atSeq=${seq}`);
      expect([status, body.atSeq]).toEqual([200, seq]);
      expect(withoutFamily(body)).toEqual(JSON.parse(JSON.stringify(withoutFamily(snapshot as JsonObject))));
    }
  }
});

test('every sequence of a run has a snapshot: the fold of the rows up to it', async () => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const view = newRunView(runId);
  for (const row of await rowsOf(office.store, runId)) {
    foldRun(view, foldEventOf(row));
    const { body } = await office.ask(`/v1/runs/${runId}?atSeq=${row.seq}`);
    expect(runSnapshotSchema.safeParse(body).error).toBeUndefined();
    const asOf = new Date(row.at).toISOString();
    expect(body).toEqual({ ...JSON.parse(JSON.stringify(runSnapshot(view))), atSeq: row.seq, asOf });
  }
  expect(view.status).toBe('completed');
});

test('the last event gives the present, and its ETag saves the fold', async () => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const now = await office.ask(`/v1/runs/${runId}`);
  const seq = (await office.store.log.head(runId))?.seq ?? -1;
  const then = await office.ask(`/v1/runs/${runId}?atSeq=${seq}`);
  expect(then.body).toEqual({ ...now.body, atSeq: seq, asOf: now.body.completedAt });
  const etag = then.headers.get('etag') ?? '';
  expect(etag).not.toBe(now.headers.get('etag'));
  const again = await office.ask(`/v1/runs/${runId}?atSeq=${seq}`, { headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  const earlier = await office.ask(`/v1/runs/${runId}?atSeq=1`, { headers: { 'if-none-match': etag } });
  expect(earlier.status).toBe(200);
});

const views = ['', '/events', '/interrupts', '/debug-bundle'];

test.each(views)('%s refuses a sequence that the run does not have', async (view) => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const last = (await office.store.log.head(runId))?.seq ?? -1;
  const refused = async (atSeq: string, key = officeKeys.ann) => {
    const { status, body } = await office.ask(`/v1/runs/${runId}${view}?atSeq=${atSeq}`, { key });
    return [status, body.error, body.details];
  };
  expect(await refused(String(last + 1))).toEqual([
    400,
    'validation_error',
    { parameter: 'atSeq', lastSequence: last, hint: expect.any(String) },
  ]);
  for (const atSeq of ['-1', '1.5', 'x', '', '9007199254740993']) {
    expect(await refused(atSeq)).toMatchObject([400, 'validation_error', { parameter: 'atSeq' }]);
  }
  expect((await refused('0', officeKeys.stranger)).slice(0, 2)).toEqual([404, 'not_found']);
  expect((await refused('0', officeKeys.nobody)).slice(0, 2)).toEqual([403, 'forbidden']);
});

test('the events at N are those up to N, without operator rows for who may not see them', async () => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const sequences = async (atSeq: string, key: string) =>
    ((await office.ask(`/v1/runs/${runId}/events${atSeq}`, { key })).body.events as readonly JsonObject[]).map(
      ({ sequence }) => sequence as number,
    );
  const last = (await office.store.log.head(runId))?.seq ?? -1;
  for (const key of [officeKeys.ann, officeKeys.auditor]) {
    const all = await sequences('', key);
    for (let seq = 0; seq <= last; seq += 1) {
      expect(await sequences(`?atSeq=${seq}`, key)).toEqual(all.filter((one) => one <= seq));
    }
  }
});

async function streamed(office: Office, path: string, headers: Readonly<Record<string, string>> = {}) {
  const { text } = await office.ask(path, {
    key: officeKeys.auditor,
    headers: { accept: 'text/event-stream', ...headers },
  });
  const messages: { readonly id: number; readonly event: string; readonly data: JsonObject }[] = [];
  const parser = createParser({
    onEvent: ({ id, event = '', data }) =>
      messages.push({ id: Number(id), event, data: JSON.parse(data) as JsonObject }),
  });
  parser.feed(text);
  return messages;
}

test('a stream at N ends after the event N, although the run goes on', async () => {
  const office = await openOffice();
  const runId = await office.run('office', { topic: 'tides' });
  const path = `/v1/runs/${runId}/events`;
  const all = await streamed(office, `${path}?streamMode=debug&atSeq=5`);
  expect(all.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
  const rest = await streamed(office, `${path}?streamMode=debug&atSeq=5`, { 'last-event-id': '3' });
  expect(rest.map(({ id }) => id)).toEqual([4, 5]);
  expect(await streamed(office, `${path}?streamMode=debug&atSeq=5`, { 'last-event-id': '9' })).toEqual([]);
  const batched = await streamed(office, `${path}?streamMode=debug&atSeq=5&bufferMs=10`);
  expect(batched).toHaveLength(1);
});

test('the mode values gives the one state after N', async () => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const [state, ...more] = await streamed(office, `/v1/runs/${runId}/events?streamMode=values&atSeq=3`);
  const { body } = await office.ask(`/v1/runs/${runId}?atSeq=3`);
  expect(more).toEqual([]);
  expect([state?.id, state?.event, state?.data.payload]).toEqual([3, 'state.snapshot', body]);
});

test('the interrupts at N are those that were open then, with the votes so far', async () => {
  const office = await openOffice();
  const runId = await office.run('office', { topic: 'tides' });
  const waiting = (await office.ask(`/v1/runs/${runId}/interrupts`)).body.interrupts as readonly JsonObject[];
  const asked = (await office.store.log.head(runId))?.seq ?? -1;
  await decided(office, runId);
  const at = async (seq: number) => (await office.ask(`/v1/runs/${runId}/interrupts?atSeq=${seq}`)).body.interrupts;
  expect(await at(asked)).toEqual(waiting);
  expect(waiting).toHaveLength(1);
  expect(await at(1)).toEqual([]);
  const last = (await office.store.log.head(runId))?.seq ?? -1;
  expect(await at(last)).toEqual([]);
});

test('the debug bundle at N has the run, the events and the spans of that moment', async () => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const [{ body }, run, events] = (await Promise.all(
    ['/debug-bundle', '', '/events'].map((view) => office.ask(`/v1/runs/${runId}${view}?atSeq=6`)),
  )) as [Awaited<ReturnType<Office['ask']>>, Awaited<ReturnType<Office['ask']>>, Awaited<ReturnType<Office['ask']>>];
  expect(body.run).toEqual(run.body);
  const shown = events.body.events as readonly JsonObject[];
  expect((body.events as readonly JsonObject[]).map(({ sequence }) => sequence)).toEqual(
    shown.map(({ sequence }) => sequence),
  );
  expect(body.metrics).toMatchObject({ eventCount: shown.length });
  expect((body.spans as readonly JsonObject[]).find(({ name }) => name === 'openwop.run')).toMatchObject({
    endedAt: null,
  });
});

test('child runs are shown as they were when the event was written', async () => {
  const office = await openOffice();
  const { client } = office;
  const { runId } = await client.runs.create({ workflowId: 'above' });
  const [requested, childId] = await childOf(office, runId);
  for await (const { type } of client.follow(childId)) if (type === 'node.suspended') break;
  await client.runs.answer(runId, 'gate', { action: 'accept' });
  const answered = (await office.store.log.head(runId as RunId))?.seq ?? -1;
  await client.runs.answer(childId, 'gate', { action: 'accept' });
  await client.runs.wait(runId);
  const at = async (seq: number) => (await office.ask(`/v1/runs/${runId}?atSeq=${seq}`)).body;
  expect((await at(requested)).childRuns).toBeUndefined();
  expect(await at(answered)).toMatchObject({
    status: 'waiting-approval',
    childRuns: [{ runId: childId, status: 'waiting-approval' }],
  });
  const last = (await office.store.log.head(runId as RunId))?.seq ?? -1;
  expect(await at(last)).toMatchObject({ status: 'completed', childRuns: [{ runId: childId, status: 'completed' }] });
});

async function childOf({ client }: Office, runId: string): Promise<readonly [number, string]> {
  for await (const { type, payload, sequence } of client.follow(runId)) {
    if (type === 'cairn.step.requested' && payload.childRunId !== undefined) return [sequence, payload.childRunId];
  }
  throw new Error('No child run was requested.');
}

test('a poll waits for what comes and refuses the past', async () => {
  const office = await openOffice();
  const runId = await office.run('below', { topic: 'tides' });
  const { status, body } = await office.ask(`/v1/runs/${runId}/events/poll?atSeq=1&timeout=1`);
  expect([status, body.error, body.details]).toMatchObject([400, 'validation_error', { parameter: 'atSeq' }]);
});

test('a run whose decision ended the host has no earlier states, but its events', async () => {
  const host = await served();
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const error = { code: 'run_quarantined', message: 'The host died twice.' };
  const payload = JSON.stringify({ error });
  await host.store.log.append({
    runId,
    rows: [{ at: Date.now(), type: 'run.failed', audience: 'client', payload, task: null }],
  });
  const seq = (await host.store.log.head(runId))?.seq ?? -1;
  const asked = async (view: string, accept = '*/*') => {
    const { status, body, text } = await host.ask('GET', `/v1/runs/${runId}${view}`, { headers: { accept } });
    return [status, body.error ?? text];
  };
  for (const view of ['', '/interrupts', '/debug-bundle']) {
    expect(await asked(`${view}?atSeq=0`)).toEqual([409, 'conflict']);
    expect((await asked(`${view}?atSeq=${seq}`))[0]).toBe(200);
  }
  expect((await asked('/events?atSeq=0'))[0]).toBe(200);
  expect(await asked('/events?streamMode=values&atSeq=0', 'text/event-stream')).toEqual([409, 'conflict']);
});
