/** A secret planted by every way in is found by none of the ways out, nor in any byte of the data folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { otlpReceiver } from '../../packages/host/src/telemetry/otlp-receiver.kit.ts';
import { filesOf, flows, hostKey, type PlantedHost, plantedHost, SECRET, written } from './planted-host.ts';
import { found, waysOut } from './search.ts';

interface Scene {
  readonly planted: PlantedHost;
  readonly folder: string;
  readonly runs: readonly string[];
  /** Text that came out, by where. */
  readonly out: Map<string, string | Buffer>;
}

/** Plants the secret by every way in, lets the runs come to their ends, and takes what comes out. */
async function scene(isKnown: boolean): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-canary-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const collector = await otlpReceiver();
  const planted = await plantedHost({ data: join(folder, 'data'), isKnown, collector: collector.url });
  onTestFinished(() => planted.host.close());
  const runs = [await leakedRun(planted), await failedRun(planted), await heldRun(planted)];
  await misused(planted);
  const out: Scene['out'] = new Map();
  for (const runId of runs) for (const path of waysOut(runId)) out.set(path, (await planted.ask('GET', path)).text);
  // Also the file that is written ahead of the database, which is gone once the host is.
  for (const { name, bytes } of filesOf(folder)) out.set(`${name} of a live host`, bytes);
  await planted.host.close();
  expect(collector.spans.length).toBeGreaterThan(5);
  out.set('spans', JSON.stringify([collector.spans, collector.metrics, collector.resources]));
  out.set('notices', planted.notices.join('\n'));
  for (const runId of runs) {
    const { out: said, code } = await typed(['export', runId, '--data', 'data', '--json'], { cwd: folder });
    expect([runId, code]).toEqual([runId, 0]);
    out.set(`export ${runId}`, said);
  }
  return { planted, folder, runs, out };
}

async function started(planted: PlantedHost, workflowId: string): Promise<string> {
  const trace = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: `vendor=${written.base64url}`,
    'idempotency-key': `${workflowId} c2stQ2FuYXJ5`,
  };
  const body = {
    workflowId,
    inputs: { ...written, [SECRET]: written },
    metadata: { note: SECRET },
    tags: [SECRET.slice(0, 60)],
    configurable: { extra: written },
    scopeId: `scope of ${SECRET} ${workflowId}`,
  };
  const { status, body: answer, text } = await planted.ask('POST', '/v1/runs', body, trace);
  expect([status, text.slice(0, 200)]).toEqual([201, expect.any(String)]);
  return String(answer.runId);
}

async function reached(planted: PlantedHost, runId: string, status: string): Promise<void> {
  for (;;) {
    const { body } = await planted.ask('GET', `/v1/runs/${runId}`);
    if (body.status === status) return;
    await planted.ask('GET', `/v1/runs/${runId}/events/poll?timeout=1`);
  }
}

async function leakedRun(planted: PlantedHost): Promise<string> {
  const runId = await started(planted, 'leaks');
  await reached(planted, runId, 'waiting-approval');
  const resumeValue = { action: 'accept', feedback: `take ${SECRET}, ${written.basic}` };
  const { status } = await planted.ask('POST', `/v1/runs/${runId}/interrupts/n3`, { resumeValue });
  expect(status).toBe(200);
  await reached(planted, runId, 'completed');
  return runId;
}

async function failedRun(planted: PlantedHost): Promise<string> {
  const runId = await started(planted, 'fails');
  await reached(planted, runId, 'failed');
  return runId;
}

async function heldRun(planted: PlantedHost): Promise<string> {
  const runId = await started(planted, 'holds');
  await planted.held();
  const because = (verb: string) => planted.ask('POST', `/v1/runs/${runId}${verb}`, { reason: `${verb} ${SECRET}` });
  const pause = { drainPolicy: 'immediate', reason: written.url as string };
  expect((await planted.ask('POST', `/v1/runs/${runId}:pause`, pause)).status).toBe(202);
  await reached(planted, runId, 'paused');
  expect((await because(':resume')).status).toBe(202);
  expect((await because('/cancel')).status).toBe(200);
  await reached(planted, runId, 'cancelled');
  return runId;
}

/** Requests that are refused, or answered with what they said, under a key by which their answers are kept. */
async function misused({ ask }: PlantedHost): Promise<void> {
  const key = { 'idempotency-key': 'misused' };
  const inPath = encodeURIComponent(SECRET);
  await ask('POST', '/v1/runs', { workflowId: SECRET }, key);
  await ask('POST', '/v1/runs:bulk-cancel', { runIds: [SECRET, written.base64 as string] }, key);
  await ask('DELETE', `/v1/webhooks/${inPath}`, undefined, key);
  await ask('POST', `/v1/runs/${inPath}/cancel`, {}, key);
  await ask('POST', `/v1/interrupts/${inPath}`, { resumeValue: 1 }, key);
  await ask('GET', `/v1/workflows/${inPath}`);
}

/** Where a needle is, in what came out and in the files. */
function leaks({ out, folder }: Scene): readonly string[] {
  const key = hostKey(join(folder, 'data'));
  const places = [...out, ...filesOf(folder).map(({ name, bytes }) => [name, bytes] as const)];
  return places.flatMap(([where, text]) => [
    ...found(text).map((needle) => `${where}: ${needle}`),
    ...(text.includes(key) ? [`${where}: the key of the host`] : []),
  ]);
}

test('a known secret is in no answer, stream, span, notice, bundle, export, and in no byte of the data folder', async () => {
  const known = await scene(true);
  expect(leaks(known)).toEqual([]);
  // It did get as far as the log: a marker stands where it was.
  const events = known.runs.map((runId) => String(known.out.get(`/v1/runs/${runId}/events?streamMode=debug`)));
  for (const text of events) expect(text.split('[REDACTED]').length).toBeGreaterThan(10);
  expect(events[2]).toContain('/cancel [REDACTED]');
  const files = filesOf(known.folder);
  expect(files.map(({ name }) => name)).toContain('cairn.db');
  expect(files.filter(({ name }) => name.endsWith('.jsonl'))).toHaveLength(3);
  // What steps are given is what the log holds.
  expect(known.planted.seenBySteps).toHaveLength(1);
  expect(found(JSON.stringify(known.planted.seenBySteps))).toEqual([]);
  expect(JSON.stringify(known.planted.seenBySteps)).toContain('Bearer [REDACTED]');
  const bundle = known.out.get(`/v1/runs/${known.runs[0]}/debug-bundle`);
  expect(JSON.parse(String(bundle))).toMatchObject({ redactionApplied: true, redactionMode: 'mask' });
});

test('the search is sharp: of a secret that the host was not told, it finds the traces everywhere', async () => {
  const unknown = await scene(false);
  const where = new Set(leaks(unknown).map((leak) => leak.slice(0, leak.indexOf(':'))));
  const [first] = unknown.runs;
  for (const place of [
    'cairn.db',
    'cairn.db-wal of a live host',
    '/v1/runs',
    `/v1/runs/${first}`,
    `/v1/runs/${first}/events?streamMode=debug`,
    `/v1/runs/${first}/events?streamMode=values`,
    `/v1/runs/${first}/debug-bundle`,
    `${first?.replaceAll(':', '_')}.cairn.jsonl`,
  ]) {
    expect(where).toContain(place);
  }
});

test('a workflow, a webhook and a callback that hold a secret are refused, with its place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-canary-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const collector = await otlpReceiver();
  const { ask, host } = await plantedHost({ data: folder, isKnown: true, collector: collector.url });
  onTestFinished(() => host.close());
  const [flow] = flows;
  const nodes = flow?.nodes.map((node) => ({ ...node, config: { url: written.url } }));
  const url = `https://93.184.215.14/${written.base64url}`;
  const refusals = [
    await ask('POST', '/v1/workflows', JSON.parse(JSON.stringify({ ...flow, id: 'other', nodes }))),
    await ask('POST', '/v1/webhooks', { url, events: ['run.completed'] }),
    await ask('POST', '/v1/runs', { workflowId: 'leaks', callbackUrl: url }),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400]);
  expect(refusals.map(({ body }) => body.details)).toMatchObject([
    { path: ['nodes', '0', 'config', 'url'] },
    { path: ['url'] },
    { path: [] },
  ]);
  expect(refusals.flatMap(({ text }) => found(text))).toEqual([]);
});
