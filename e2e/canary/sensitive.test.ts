/** A value of a sensitive variable reaches steps, tools and models, and no other place. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import { ACCESS_KEY, filesOf, SECRET } from './planted-host.ts';
import { found, waysOut } from './search.ts';
import { PASSWORD, PIN, type SensitiveHost, sensitiveHost, TOKEN, talker } from './sensitive-host.ts';

const others = [PASSWORD, String(PIN), TOKEN, Buffer.from(TOKEN).toString('base64')];
const inputs = { apiKey: SECRET, login: { user: 'ann', password: PASSWORD }, pin: PIN };

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-sensitive-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function started({ ask }: SensitiveHost, workflowId: string): Promise<string> {
  const created = await ask('POST', '/v1/runs', { workflowId, inputs }, { 'idempotency-key': `start-${workflowId}` });
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  return String(created.body.runId);
}

async function reached({ ask }: SensitiveHost, runId: string, status: string): Promise<JsonObject> {
  for (;;) {
    const { body } = await ask('GET', `/v1/runs/${runId}`);
    if (body.status === status) return body;
    if (body.status === 'failed' || body.status === 'completed') expect.fail(JSON.stringify(body));
    await ask('GET', `/v1/runs/${runId}/events/poll?timeout=1`);
  }
}

/** Everything that a host shows of a run, by where. */
async function shown({ ask, host }: SensitiveHost, runId: string, out: Map<string, string | Buffer>): Promise<void> {
  for (const path of waysOut(runId)) {
    out.set(path, (await ask('GET', path)).text);
  }
  const hasEnded = String(out.get(`/v1/runs/${runId}`)).includes('"completedAt"');
  const streams = waysOut(runId).filter((path) => hasEnded && path.includes('streamMode'));
  for (const path of streams) {
    out.set(`stream ${path}`, (await ask('GET', path, undefined, { accept: 'text/event-stream' })).text);
  }
  for (const verb of hasEnded ? ['show', 'tail'] : ['show']) {
    const { out: said, err } = await typed([verb, runId, '--url', String(host.url), '--key', ACCESS_KEY], {});
    out.set(`cairn ${verb} ${runId}`, said + err);
  }
}

interface Scene {
  readonly leaks: readonly string[];
  readonly out: ReadonlyMap<string, string | Buffer>;
  readonly runs: readonly string[];
  readonly before: SensitiveHost;
  readonly after: SensitiveHost;
}

async function scene(): Promise<Scene> {
  const root = folder();
  const data = join(root, 'data');
  const model = await talker();
  onTestFinished(() => model[Symbol.asyncDispose]());
  const out = new Map<string, string | Buffer>();
  const before = await sensitiveHost(data, model);
  const refused = await before.ask('POST', '/v1/runs', { workflowId: 'waits', inputs: { ...inputs, pin: SECRET } });
  expect(refused.status).toBe(400);
  out.set('refusal', refused.text);
  const waits = await started(before, 'waits');
  const failed = [await started(before, 'fails'), await started(before, 'errs')];
  for (const runId of failed) await reached(before, runId, 'failed');
  await reached(before, waits, 'waiting-approval');
  for (const runId of [waits, ...failed]) await shown(before, runId, out);
  for (const { name, bytes } of filesOf(root)) out.set(`${name} of a live host`, bytes);
  await before.host.close();

  const after = await sensitiveHost(data, model);
  const reference = referenceIn(String(out.get(`/v1/runs/${waits}`)));
  const feedback = `Take ${SECRET}, or ${reference}.`;
  const answer = await after.ask('POST', `/v1/runs/${waits}/interrupts/gate`, {
    resumeValue: { action: 'accept', feedback },
  });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const { childRuns } = await reached(after, waits, 'completed');
  const runs = [waits, ...failed, String(objects(childRuns)[0]?.childRunId ?? objects(childRuns)[0]?.runId)];
  for (const runId of runs) await shown(after, runId, out);
  await after.host.close();
  for (const runId of runs) {
    const { out: said, code } = await typed(['export', runId, '--data', 'data', '--json'], { cwd: root });
    expect([runId, code]).toEqual([runId, 0]);
    out.set(`export ${runId}`, said);
  }
  for (const { name, bytes } of filesOf(root)) out.set(name, bytes);
  out.set('notices', [...before.notices, ...after.notices].join('\n'));
  const leaks = [...out].flatMap(([where, text]) => found(text, others).map((what) => `${where}: ${what}`));
  return { leaks, out, runs, before, after };
}

/** What stands for the key in the events of a run. */
function referenceIn(text: string): string {
  const [reference] = /\[REDACTED:apiKey#[\w-]{12}\]/.exec(text) ?? expect.fail(text);
  return reference;
}

test('a sensitive value is in no answer, stream, notice, bundle, export, file or byte of the data folder', async () => {
  const { leaks, out, runs, before, after } = await scene();
  expect(leaks).toEqual([]);
  const [waits, failed, errs, child] = runs;
  // Views mask the variables, and events show where the values went.
  const snapshot = fields(JSON.parse(String(out.get(`/v1/runs/${waits}`))));
  const mask = '[REDACTED]';
  expect(snapshot.variables).toMatchObject({ apiKey: mask, login: mask, pin: mask, token: mask });
  expect(snapshot.inputs).toEqual({ apiKey: mask, login: mask, pin: mask });
  expect(String(out.get(`/v1/runs/${waits}/events?streamMode=debug`))).toContain('"header":"Bearer [REDACTED:apiKey#');
  expect(String(out.get(`/v1/runs/${failed}`))).toContain('[REDACTED:apiKey#');
  expect(String(out.get(`/v1/runs/${errs}`))).toContain('expression_failed');
  expect(String(out.get(`export ${child}`))).not.toBe('');
  // Steps, tools and the model got the values, also in the child and after the restart.
  const header = `Bearer ${SECRET}`;
  expect(before.seen[0]).toMatchObject({ key: SECRET, header, login: inputs.login, pin: PIN });
  expect(before.seen).toContainEqual({ what: SECRET, found: SECRET });
  expect(before.seen.filter(({ key, header: given }) => key === SECRET && given === undefined)).toHaveLength(1);
  expect(JSON.stringify(before.model.requests[0]?.body)).toContain(JSON.stringify(SECRET).slice(1, -1));
  // Files and memories keep the reference.
  const file = [...out.values()].map(String).find((text) => text.includes('"artifactId":"key.txt"')) ?? '';
  const [, text = '', bytes] = /"artifactId":"key\.txt".*?"data":"(.*?)","bytes":(\d+)/.exec(file) ?? [];
  expect([text, text.length]).toEqual([
    expect.stringMatching(/^It is \[REDACTED:apiKey#[\w-]{12}\]\.$/),
    Number(bytes),
  ]);
  // An answer cannot make the host open a value: the reference in it was masked.
  const answered = JSON.stringify(after.seen[0]?.answer);
  expect(after.seen[0]).toMatchObject({ key: SECRET, token: TOKEN });
  expect(answered).toContain(JSON.stringify(`or ${mask}.`).slice(1, -1));
});

test('the search is sharp: it finds the value of a variable that is not sensitive', async () => {
  const root = folder();
  const model = await talker();
  onTestFinished(() => model[Symbol.asyncDispose]());
  const plain = await sensitiveHost(join(root, 'data'), model);
  const { status, body } = await plain.ask('POST', '/v1/runs', { workflowId: 'child', inputs: { key: SECRET } });
  expect(status).toBe(201);
  await reached(plain, String(body.runId), 'failed').catch(() => undefined);
  const { text } = await plain.ask('GET', `/v1/runs/${String(body.runId)}`);
  await plain.host.close();
  expect(found(text)).not.toEqual([]);
  expect(filesOf(root).flatMap(({ bytes }) => found(bytes))).not.toEqual([]);
});

test('a host without the key of a value fails the node that needs it, and says so', async () => {
  const root = folder();
  const data = join(root, 'data');
  const model = await talker();
  onTestFinished(() => model[Symbol.asyncDispose]());
  const before = await sensitiveHost(data, model);
  const runId = await started(before, 'waits');
  await reached(before, runId, 'waiting-approval');
  await before.host.close();
  rmSync(join(data, 'host.key'));
  const file = join(root, 'master.key');
  writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  const after = await sensitiveHost(data, model, { masterKey: { file } });
  onTestFinished(() => after.host.close());
  await after.ask('POST', `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } });
  const { error } = await reached(after, runId, 'failed');
  expect(error).toMatchObject({ code: 'sensitive_value_unavailable', message: expect.stringContaining('key') });
  expect(after.seen).toEqual([]);
});
