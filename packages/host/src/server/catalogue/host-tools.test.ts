import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRunView, type RunId, type RunView } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { authorize, toolSurface } from '../../agents/allowlist.ts';
import type { MemoryPort } from '../../agents/builtin-tools/memory-tools.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { askingSignIns } from '../../agents/tools/tool-caller.kit.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createArtifactPort } from '../artifacts/artifact-port.ts';
import { nodeOf } from '../cluster/cluster.kit.ts';
import { type ConfigInput, parseConfig } from '../config/config.ts';
import { createHostTools, type HostTools } from './host-tools.ts';

const memory: MemoryPort = {
  remember: async () => ({ id: 'mem_1' }),
  recall: async () => [],
  forget: async () => false,
};

const lookup = defineTool({
  id: 'acme.crm:look',
  description: 'Looks.',
  input: z.object({}),
  safety: 'read',
  needs: ['tool:crm'],
  secrets: ['crm'],
  run: (_input, { secret }) => secret('crm').length,
});

function hostTools(config: ConfigInput = {}): HostTools {
  const data = mkdtempSync(join(tmpdir(), 'cairn-tools-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const secrets = { crm: { value: 'c0ffee-c0ffee' } };
  const store = inMemoryStore();
  return createHostTools(parseConfig({ data, secrets, ...config }, 'test'), {
    tools: [lookup],
    memory,
    signIns: askingSignIns,
    now: () => 0,
    files: { read: () => Promise.reject(new Error('There are no files.')), list: async () => [] },
    traces: { headers: async () => ({}), inCall: (_, work) => work() },
    lateResult: () => undefined,
    outbound: {
      hostId: 'test',
      baseUrl: () => null,
      depthOf: async () => 0,
      isKnownHost: () => false,
      traceHeaders: async () => ({}),
      fetch: globalThis.fetch,
      report: () => undefined,
    },
    store,
    cluster: nodeOf(store),
    artifacts: createArtifactPort({ store: inMemoryStore(), now: () => 0, life: 'one', maxTenantBytes: 1 }),
  });
}

const run = (change: Partial<RunView> = {}): RunView => ({
  ...newRunView('run_1' as RunId),
  owner: { tenant: 'acme' },
  ...change,
});

const context = {
  runId: 'run_1',
  nodeId: 'n',
  callId: 'c',
  attempt: 1,
  tenant: 'acme',
  signal: new AbortController().signal,
  emit: () => undefined,
  open: (value: unknown) => value,
  redactor: null,
  recorded: async () => undefined,
} as never;

const call = (toolId: string, input: object, principal = 'ann') =>
  ({ toolId, input, agentId: 'core.a.b.c', records: [], principal }) as never;

test('without a word in the configuration every tool but fetching is offered and permitted', () => {
  const { registry, access } = hostTools();
  const everything = ['openwop:*', 'acme.crm:*'];
  expect(registry.all.map(({ id }) => id)).toEqual([
    'acme.crm:look',
    'openwop:ask',
    'openwop:forget',
    'openwop:fs.list',
    'openwop:fs.read',
    'openwop:fs.write',
    'openwop:recall',
    'openwop:remember',
    'openwop:time',
  ]);
  expect(toolSurface(access(run({ toolScopes: ['tool:crm'] }), everything))).toHaveLength(9);
  expect(toolSurface(access(run(), everything))).toHaveLength(8);
  expect(toolSurface(access(run(), undefined))).toEqual([]);
});

test('an origin that may be fetched from brings the tool that does', () => {
  const { registry } = hostTools({ tools: { http: { allow: ['https://api.example.org'] } } });
  expect(registry.get('openwop:http.fetch')).toBeDefined();
});

test('tenant, starter and options of the run decide together', () => {
  const { access } = hostTools({ tools: { allow: ['openwop:*'], tenants: { acme: ['openwop:fs.*'] } } });
  const shown = (view: RunView) => toolSurface(access(view, ['openwop:*', 'acme.crm:look'])).map(({ tool }) => tool.id);
  expect(shown(run())).toEqual(['openwop:fs.list', 'openwop:fs.read', 'openwop:fs.write']);
  expect(shown(run({ configurable: { 'cairn.tools': ['openwop:fs.read'] } }))).toEqual(['openwop:fs.read']);
  expect(shown(run({ owner: { tenant: 'other' } }))).toHaveLength(8);
  const denied = authorize(access(run({ toolScopes: ['tool:crm'] }), ['acme.crm:look']), 'acme.crm:look');
  expect(denied).toMatchObject({ allowed: false, rule: 'tools.tenants.acme has no line for acme.crm:look' });
});

test('calls are performed with the secrets of the configuration', async () => {
  const { performer } = hostTools();
  expect(await performer.run(call('acme.crm:look', {}), context)).toEqual({ kind: 'result', value: 13 });
});

test('one principal may call one tool so often in a minute', async () => {
  const { performer } = hostTools({ tools: { maxCallsPerMinute: 2 } });
  const kinds = async (toolId: string, principal: string) => {
    const outcome = (await performer.run(call(toolId, {}, principal), context)) as {
      kind: string;
      error?: { code: string };
    };
    return outcome.error?.code ?? outcome.kind;
  };
  const made = [];
  for (let i = 0; i < 3; i++) made.push(await kinds('openwop:time', 'ann'));
  expect(made).toEqual(['result', 'result', 'rate_limited']);
  expect([await kinds('openwop:time', 'bob'), await kinds('openwop:fs.list', 'ann')]).toEqual(['result', 'result']);
});

test('a tool whose secret is not configured stops the host from starting', () => {
  expect(() => hostTools({ secrets: {} })).toThrow('The tool acme.crm:look needs the secret "crm"');
});
