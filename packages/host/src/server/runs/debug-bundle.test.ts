import { debugBundle, type JsonObject, type RunId, type RunSnapshot } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import type { Engine } from '../../engine/engine.ts';
import { RawConnection } from '../http/raw-http.kit.ts';
import { approval, chain } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';
import { MAX_BUNDLE_BYTES } from './debug-bundle.ts';

async function started(host: Served, inputs: JsonObject = {}): Promise<RunId> {
  await host.engine.register('t', approval);
  return (await host.engine.start({ tenant: 't', workflowId: 'approval', inputs, options: {} })).runId;
}

const bundleOf = (host: Served, runId: string, key = keys.alice) =>
  host.ask('GET', `/v1/runs/${runId}/debug-bundle`, { key });

/** Adds rows that only weigh something. */
async function weigh(host: Served, runId: RunId, count: number, bytes: number): Promise<void> {
  const payload = JSON.stringify({ delta: 'x'.repeat(bytes) });
  const row = { at: Date.now(), type: 'cairn.note', audience: 'client' as const, payload, task: null };
  for (let i = 0; i < count; i += 1) await host.store.log.append({ runId, rows: [row] });
}

test('a bundle is the run, its whole log and its spans, and says who made it', async () => {
  const host = await served();
  const runId = await started(host);
  const { status, headers, body } = await bundleOf(host, runId);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(debugBundle.safeParse(body).error).toBeUndefined();
  const events = (await host.ask('GET', `/v1/runs/${runId}/events`)).body.events as readonly JsonObject[];
  expect(body).toMatchObject({
    bundleVersion: '1.0',
    host: { name: 'cairn', version: '1.2.3' },
    run: (await host.ask('GET', `/v1/runs/${runId}`)).body,
    metrics: { openwopCost: null, nodeCount: 1, eventCount: events.length },
    redactionApplied: true,
    redactionMode: 'mask',
    truncated: false,
  });
  expect(body.events).toEqual(events.map((event) => ({ ...event, data: event.payload })));
  expect((body.spans as readonly JsonObject[]).map(({ name }) => name)).toContain('openwop.run');
});

test('operator rows are in it only for who may audit', async () => {
  const host = await served();
  await host.engine.register('t', chain('slow', { typeId: 'core.delay', config: { delayMs: 3_600_000 } }));
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'slow', inputs: {}, options: {} });
  const types = async (key: string) =>
    ((await bundleOf(host, runId, key)).body.events as readonly JsonObject[]).map(({ type }) => type);
  expect(await types(keys.alice)).not.toContain('cairn.timer.set');
  expect(await types(keys.auditor)).toContain('cairn.timer.set');
});

test('a run that is not there, or another’s, has no bundle', async () => {
  const host = await served();
  const runId = await started(host);
  for (const [id, key] of [
    ['run_nobody', keys.alice],
    [runId, keys.stranger],
  ] as const) {
    const reply = await bundleOf(host, id, key);
    expect([reply.status, reply.body.error]).toEqual([404, 'not_found']);
  }
});

test('a log that is too large loses its oldest events, and the bundle says so', async () => {
  const host = await served();
  const runId = await started(host);
  await weigh(host, runId, 12, 900_000);
  const { status, text, body } = await bundleOf(host, runId);
  expect(status).toBe(200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BUNDLE_BYTES);
  // Each is there twice, as payload and as data: four fit.
  const events = body.events as readonly JsonObject[];
  expect(events).toHaveLength(4);
  const head = await host.store.log.head(runId);
  expect(events.map(({ sequence }) => sequence)).toEqual([3, 2, 1, 0].map((back) => (head?.seq ?? 0) - back));
  expect(body).toMatchObject({
    truncated: true,
    truncatedReason: 'events_truncated_to_size_cap',
    metrics: { eventCount: 4 },
    spans: [],
  });
  expect(debugBundle.safeParse(body).error).toBeUndefined();
});

test('characters of several bytes count as what they are', async () => {
  const host = await served();
  const runId = await started(host);
  const payload = JSON.stringify({ delta: '€'.repeat(300_000) });
  const row = { at: Date.now(), type: 'cairn.note', audience: 'client' as const, payload, task: null };
  for (let i = 0; i < 6; i += 1) await host.store.log.append({ runId, rows: [row] });
  const { text } = await bundleOf(host, runId);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BUNDLE_BYTES);
});

test('a long log that fits is whole', async () => {
  const host = await served();
  const runId = await started(host);
  await weigh(host, runId, 500, 100);
  const { body } = await bundleOf(host, runId, keys.auditor);
  const sequences = (body.events as readonly JsonObject[]).map(({ sequence }) => sequence);
  expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, seq) => seq));
  expect(body).toMatchObject({ truncated: false, metrics: { eventCount: sequences.length } });
});

test('a run whose own state is too large is shown by what it is and where it stands', async () => {
  const large = (snapshot: RunSnapshot): RunSnapshot => ({ ...snapshot, variables: { v: 'x'.repeat(5_000_000) } });
  const host = await served({
    engine: (real) =>
      new Proxy(real, {
        get(target, name: keyof Engine) {
          if (name !== 'snapshotAt') return (target[name] as () => unknown).bind(target);
          return async (tenant: string, runId: RunId) => {
            const { seq, snapshot } = await target.snapshotAt(tenant, runId);
            return { seq, snapshot: large(snapshot) };
          };
        },
      }),
  });
  const runId = await started(host);
  const { text, body } = await bundleOf(host, runId);
  expect(Buffer.byteLength(text)).toBeLessThan(100_000);
  expect(body.run).toMatchObject({ runId, workflowId: 'approval', status: 'waiting-approval' });
  expect(body).toMatchObject({ truncated: true, truncatedReason: 'run_truncated_to_size_cap' });
  expect(body.events).not.toEqual([]);
});

test('a tenant has a few bundles at a time, on however many connections, and more once those are read', async () => {
  const host = await served();
  const runId = await started(host);
  // A small bundle is read before the next request is looked at.
  await weigh(host, runId, 20, 100_000);
  const connection = await RawConnection.open(host.port);
  onTestFinished(() => connection.close());
  const request = `GET /v1/runs/${runId}/debug-bundle HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  connection.send(`${request}Authorization: Bearer ${keys.alice}\r\n\r\n`.repeat(6));
  const statuses: unknown[] = [];
  while (statuses.length < 6) statuses.push((await connection.response())?.status);
  // Which of them are too many is up to the order in which the store answers.
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429, 429]);
  expect((await bundleOf(host, runId)).status).toBe(200);
});

test('text that looks like a key is masked in a bundle, and not in the log', async () => {
  const host = await served();
  await host.ask('POST', '/v1/workflows', { body: approval });
  const key = 'sk-0123456789abcdef0123';
  const inputs = { note: `use\n${key} please` };
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: approval.id, inputs } });
  const { text } = await host.ask('GET', `/v1/runs/${String(body.runId)}/debug-bundle`);
  expect(text).not.toContain(key);
  expect(JSON.parse(text)).toMatchObject({ run: { inputs: { note: 'use\n[REDACTED] please' } } });
  expect((await host.ask('GET', `/v1/runs/${String(body.runId)}`)).body.inputs).toEqual(inputs);
});

test('a 404 repeats a well-formed id and no other text', async () => {
  const host = await served();
  const asked = async (path: string) => (await host.ask('GET', path)).text;
  expect(await asked('/v1/runs/run_unknown')).toContain('run_unknown');
  expect(await asked('/v1/workflows/unknown')).toContain('unknown');
  expect(await asked('/v1/runs/Tell%20me')).not.toContain('Tell');
  expect(await asked('/v1/workflows/Tell%20me')).not.toContain('Tell');
});
