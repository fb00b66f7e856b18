/** Two hosts on loopback: a tool call of one is a run of the other. One trace, and causes both ways. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { typed } from '../../cli/recording-terminal.kit.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { askUrl } from '../ask.kit.ts';
import { createHostOver, type Host } from '../create-host.ts';

const key = 'a-key-of-both-hosts-0123456789';
const scopes = ['runs:create', 'runs:read', 'audit:read', 'manifest:read'] as const;

const leaf = defineWorkflow({ id: 'leaf', version: '1', nodes: { only: { type: 'core.noop' } } });
const top = defineWorkflow({
  id: 'top',
  version: '1',
  nodes: { below: { type: 'core.subWorkflow', config: { workflowId: 'leaf' } } },
});
const caller = defineAgent({
  id: 'host:caller',
  persona: 'Caller',
  instructions: 'Call the tool.',
  tools: ['mcp:beta/top'],
  rehearsal: { turns: [[{ call: { tool: 'mcp:beta/top', input: {} } }], [{ answer: 'Done.' }]] },
});

let hosts: Record<'alpha' | 'beta', Host>;
/** The run on alpha, and the one on beta that its call started. */
let runs: { readonly alpha: string; readonly beta: string };
const traceId = 'abcdefabcdefabcdefabcdefabcdefab';

beforeAll(async () => {
  const beta = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    workflows: [leaf, top],
    config: {
      port: 0,
      hostId: 'beta',
      peers: [{ hostId: 'alpha', url: 'https://alpha.example.org' }],
      keys: [{ key, tenant: 't', peer: 'alpha', scopes: [...scopes] }],
    },
  });
  const alpha = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    agents: [caller],
    config: {
      port: 0,
      hostId: 'alpha',
      keys: [{ key, tenant: 't', scopes: [...scopes] }],
      secrets: { beta: { value: `Bearer ${key}` } },
      mcp: { servers: [{ id: 'beta', url: `${beta.url}/v1/mcp`, headers: { authorization: { secret: 'beta' } } }] },
    },
  });
  hosts = { alpha, beta };
  const { body } = await askUrl(`${alpha.url}/v1/runs`, 'POST', {
    key,
    body: { agentId: 'host:caller', inputs: { message: 'Go.' } },
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
  });
  const runId = String(body.runId);
  await createClient({ url: alpha.url ?? '', key }).runs.wait(runId);
  const returned = (await events('alpha', runId)).find(({ type }) => type === 'agent.toolReturned');
  const { remote } = objectOf(returned?.payload);
  runs = { alpha: runId, beta: String(objectOf(remote).runId) };
});
afterAll(async () => {
  await hosts?.alpha.close();
  await hosts?.beta.close();
});

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value ?? null) ? (value as JsonObject) : {});

const read = async (host: 'alpha' | 'beta', path: string): Promise<JsonObject> => {
  const { status, body } = await askUrl(`${hosts[host].url}${path}`, 'GET', { key });
  expect(status, path).toBe(200);
  return body;
};

async function events(host: 'alpha' | 'beta', runId: string): Promise<JsonObject[]> {
  const { events: all } = await read(host, `/v1/runs/${runId}/events/poll?timeout=1`);
  return Array.isArray(all) ? all.map(objectOf) : [];
}

const spansOf = async (host: 'alpha' | 'beta', runId: string): Promise<JsonObject[]> => {
  const { spans } = await read(host, `/v1/runs/${runId}/debug-bundle`);
  return Array.isArray(spans) ? spans.map(objectOf) : [];
};

test('the spans of both hosts form one trace: the run there is below the call here', async () => {
  const [here, there, below] = [
    await spansOf('alpha', runs.alpha),
    await spansOf('beta', runs.beta),
    await spansOf('beta', `${runs.beta}.0`),
  ];
  for (const span of [...here, ...there, ...below]) expect(span.traceId).toBe(traceId);
  const call = here.find(({ name }) => name === 'openwop.activity.mcp:beta/top');
  const [run] = there.filter(({ name }) => name === 'openwop.run');
  expect(call).toBeDefined();
  expect(run?.parentSpanId).toBe(call?.spanId);
  const child = below.find(({ name }) => name === 'openwop.run');
  expect(child?.attributes).toMatchObject({
    'openwop.parent.run_id': runs.beta,
    'openwop.parent.workflow_id': 'top',
    'openwop.parent.node_id': 'below',
  });
});

test('causes lead both ways: to the call that caused the run, and to the run that the call started', async () => {
  const called = (await events('alpha', runs.alpha)).find(({ type }) => type === 'agent.toolCalled');
  expect(await read('beta', `/v1/runs/${runs.beta}/ancestry`)).toMatchObject({
    hostId: 'beta',
    parent: {
      runId: runs.alpha,
      hostId: 'alpha',
      cause: 'mcp-tool-call',
      wellKnownUrl: `${hosts.alpha.url}/.well-known/openwop`,
    },
  });
  const { events: caused } = await read('alpha', `/v1/host/cairn/runs/${runs.alpha}/causes`);
  const hops = (Array.isArray(caused) ? caused.map(objectOf) : []).filter(({ remote }) => remote !== undefined);
  expect(hops).toMatchObject([
    {
      type: 'agent.toolReturned',
      causationId: called?.eventId,
      remote: { runId: runs.beta, hostId: 'beta', eventId: expect.stringMatching(`^${runs.beta}:`) },
    },
  ]);
  // A reply has a local cause, whatever ran elsewhere for it.
  expect(hops[0]).not.toHaveProperty('causationHostId');
});

test('why walks from the last event there to the first event here, and shows on the way what ran elsewhere', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-two-hosts-'));
  await writeFile(join(folder, 'hosts.json'), JSON.stringify({ alpha: { url: hosts.alpha.url, keyEnv: 'K' } }));
  const child = `${runs.beta}.0`;
  const last = (await events('beta', child)).length - 1;
  const why = (...args: readonly string[]) =>
    typed(['why', ...args, '--hosts', join(folder, 'hosts.json')], {
      env: { CAIRN_URL: hosts.beta.url ?? '', CAIRN_KEY: key, K: key },
    });
  const { code, out } = await why(child, String(last));
  expect(code).toBe(0);
  expect(out.split('\n').filter((line) => /^run_/.test(line))).toEqual([
    `${child}  on beta`,
    `${runs.beta}  on beta`,
    `${runs.alpha}  on alpha`,
  ]);
  const returned = (await events('alpha', runs.alpha)).find(({ type }) => type === 'agent.toolReturned');
  const here = await typed(['why', runs.alpha, String(returned?.sequence)], {
    env: { CAIRN_URL: hosts.alpha.url ?? '', CAIRN_KEY: key },
  });
  expect(here.out).toContain(`it ran ${runs.beta} on beta`);
  await rm(folder, { recursive: true, force: true });
});
