/** A secret that a model says, that tools return and throw, and keys that a provider echoes are in none of the ways out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { otlpReceiver } from '../../packages/host/src/telemetry/otlp-receiver.kit.ts';
import { type LeakyHost, leakyHost, OWN_KEY, PROVIDER_KEY } from './leaky-agents.ts';
import { filesOf } from './planted-host.ts';
import { found, waysOut } from './search.ts';

interface Scene {
  readonly leaky: LeakyHost;
  /** The one that talked, the one that was refused, and the one that was refused with a key of the caller. */
  readonly runs: readonly string[];
  /** What of a secret was found, by where. */
  readonly leaks: readonly string[];
  readonly out: ReadonlyMap<string, string | Buffer>;
}

async function scene(isKnown: boolean): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-canary-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const collector = await otlpReceiver();
  const leaky = await leakyHost(join(folder, 'data'), isKnown, collector.url);
  onTestFinished(async () => {
    await leaky.host.close();
    await leaky.provider[Symbol.asyncDispose]();
  });
  const runs = [
    await ended(leaky, { workflowId: 'talks' }, 'completed'),
    await ended(leaky, { workflowId: 'is-refused' }, 'failed'),
    await ended(leaky, { workflowId: 'is-refused', configurable: { 'ai.credentialRef': 'mine' } }, 'failed'),
  ];
  const out = new Map<string, string | Buffer>();
  for (const runId of runs) for (const path of waysOut(runId)) out.set(path, (await leaky.ask('GET', path)).text);
  for (const runId of runs) {
    const path = `/v1/runs/${runId}/events?streamMode=debug`;
    out.set(`stream ${runId}`, (await leaky.ask('GET', path, undefined, { accept: 'text/event-stream' })).text);
  }
  for (const path of [
    '/v1/agents',
    '/v1/tools',
    '/v1/node-types',
    '/v1/host/cairn/calibration',
    '/.well-known/openwop',
  ]) {
    out.set(path, (await leaky.ask('GET', path)).text);
  }
  for (const { name, bytes } of filesOf(folder)) out.set(`${name} of a live host`, bytes);
  await leaky.host.close();
  out.set('spans', JSON.stringify([collector.spans, collector.metrics, collector.resources]));
  out.set('notices', leaky.notices.join('\n'));
  for (const runId of runs) {
    const { out: said, code } = await typed(['export', runId, '--data', 'data', '--json'], { cwd: folder });
    expect([runId, code]).toEqual([runId, 0]);
    out.set(`export ${runId}`, said);
  }
  for (const { name, bytes } of filesOf(folder)) out.set(name, bytes);
  const leaks = [...out].flatMap(([where, text]) =>
    found(text, [PROVIDER_KEY, OWN_KEY]).map((what) => `${where}: ${what}`),
  );
  return { leaky, runs, leaks, out };
}

async function ended({ ask }: LeakyHost, body: Parameters<LeakyHost['ask']>[2], status: string): Promise<string> {
  const created = await ask('POST', '/v1/runs', body);
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  const runId = String(created.body.runId);
  for (;;) {
    const run = (await ask('GET', `/v1/runs/${runId}`)).body;
    if (run.status === status) return runId;
    if (run.status === 'completed' || run.status === 'failed') expect.fail(JSON.stringify(run));
    await ask('GET', `/v1/runs/${runId}/events/poll?timeout=1`);
  }
}

test('what models, tools and providers let out is in no answer, stream, span, notice, bundle, export or byte on disk', async () => {
  const { leaky, runs, leaks, out } = await scene(true);
  expect(leaks).toEqual([]);
  const events = runs.map((runId) => String(out.get(`stream ${runId}`)));
  for (const text of events) expect(text).toContain('[REDACTED]');
  expect(events[0]?.split('[REDACTED]').length).toBeGreaterThan(20);
  // The text came piece by piece, and what is no secret of it is there.
  expect(events[0]).toMatch(/event: output\.chunk/);
  expect(events[0]).toContain('At last');
  // The calls were made, with the key that each was to be made with.
  const keys = leaky.provider.requests.map(({ headers }) => headers.authorization);
  expect(keys.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => `Bearer ${PROVIDER_KEY}`));
  expect(keys).toContain(`Bearer ${OWN_KEY}`);
  // Models and tools see what the log holds.
  expect(leaky.seenByTools).toHaveLength(2);
  expect(found(JSON.stringify(leaky.seenByTools))).toEqual([]);
  expect(found(JSON.stringify(leaky.provider.requests.map(({ body }) => body)))).toEqual([]);
});

test('the search is sharp: a secret that the host was not told is found in what agents leave behind', async () => {
  const { leaks, runs } = await scene(false);
  const where = new Set(leaks.map((leak) => leak.slice(0, leak.indexOf(': '))));
  const [talked] = runs;
  for (const place of ['cairn.db', `/v1/runs/${talked}/events?streamMode=debug`, `/v1/runs/${talked}/debug-bundle`]) {
    expect(where).toContain(place);
  }
  // The keys are secrets of the host whatever else it is told.
  expect(leaks.filter((leak) => leak.endsWith(PROVIDER_KEY) || leak.endsWith(OWN_KEY))).toEqual([]);
});
