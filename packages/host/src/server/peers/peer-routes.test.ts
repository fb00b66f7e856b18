import type { RequestListener } from 'node:http';
import { type JsonObject, parseShape, peerChecked, peerList } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../../../test/kit/test-server.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { askUrl } from '../ask.kit.ts';
import { createHostOver } from '../create-host.ts';

const OPERATOR = 'operator-key-0123456789-abcdefghijk';
const PEER_KEY = 'alpha-at-beta-0123456789-abcdefghij';
const OTHER_KEY = 'other-at-beta-0123456789-abcdefghij';
const noop = defineWorkflow({ id: 'noop', version: '1', nodes: { only: { type: 'core.noop' } } });

async function beta(): Promise<string> {
  const host = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    workflows: [noop],
    config: {
      port: 0,
      hostId: 'beta',
      peers: [{ hostId: 'alpha', url: 'http://127.0.0.1:9' }],
      keys: [
        { key: PEER_KEY, tenant: 't', peer: 'alpha' },
        { key: OTHER_KEY, tenant: 't' },
      ],
    },
  });
  onTestFinished(() => host.close());
  return host.url ?? '';
}

async function alpha(url: string, hostId = 'beta') {
  const host = await createHostOver(inMemoryStore(), {
    report: () => undefined,
    config: {
      port: 0,
      hostId: 'alpha',
      peers: [{ hostId, url, answersForUsers: true }],
      mcp: { servers: [{ id: 'there', url: 'http://127.0.0.1:9/v1/mcp' }] },
      a2a: { peers: [{ name: 'clerk', url: `${url}/v1/a2a/clerk` }] },
      keys: [
        { key: OPERATOR, tenant: 't', scopes: ['audit:read', 'runs:read'] },
        { key: `${OPERATOR}-of-beta`, tenant: 't', peer: hostId },
      ],
    },
  });
  onTestFinished(() => host.close());
  const ask = (method: string, path: string, body?: JsonObject) =>
    askUrl(`${host.url}${path}`, method, { key: OPERATOR, ...(body !== undefined && { body }) });
  const check = async (more: JsonObject = {}) => {
    const { status, body } = await ask('POST', '/v1/host/cairn/peers/check', { hostId, ...more });
    expect(status).toBe(200);
    const { findings } = parseShape(peerChecked, body, 'The answer');
    return { states: Object.fromEntries(findings.map(({ subject, state }) => [subject, state])), findings };
  };
  return { ask, check };
}

test('peers are listed with what the configuration lets them do, and without any key', async () => {
  const url = await beta();
  const { ask } = await alpha(url);
  const { body, text } = await ask('GET', '/v1/host/cairn/peers');
  expect(parseShape(peerList, body, 'The answer')).toEqual({
    hostId: 'alpha',
    peers: [{ hostId: 'beta', url, answersForUsers: true, hasKey: true, calls: ['a2a:clerk'] }],
  });
  expect(text).not.toContain(OPERATOR);
});

test('without a key, what everybody sees is checked', async () => {
  const { check } = await alpha(await beta());
  expect((await check()).states).toEqual({
    discovery: 'good',
    'host id': 'good',
    version: 'good',
    causes: 'good',
    calls: 'good',
    'trace, cause': 'doubtful',
  });
});

test('with a key and a workflow, a trace and a cause arrive there', async () => {
  const { check } = await alpha(await beta());
  const { states } = await check({ key: PEER_KEY, workflow: 'noop' });
  expect(states).toMatchObject({ key: 'good', trace: 'good', cause: 'good', 'trace of runs': 'good' });
});

test('a key that is not for this host, a wrong one, and another host at the address are named', async () => {
  const url = await beta();
  const { check } = await alpha(url);
  expect((await check({ key: OTHER_KEY, workflow: 'noop' })).states.cause).toBe('bad');
  const wrong = await check({ key: 'wrong-key-0123456789' });
  expect(wrong.states).toMatchObject({ key: 'bad' });
  expect(JSON.stringify(wrong.findings)).not.toContain('wrong-key');
  expect((await (await alpha(url, 'gamma')).check()).states['host id']).toBe('bad');
});

test.for<[string, RequestListener, string]>([
  ['sends much', (_, response) => void response.end(' '.repeat(3_000_000)), 'more than'],
  ['leads elsewhere', (_, response) => void response.writeHead(302, { location: '/x' }).end(), 'not followed'],
  ['is no host', (_, response) => void response.end('{"protocolVersion":1}'), 'not an OpenWOP host'],
  ['is a page', (_, response) => void response.end('<html>'), 'instead of JSON'],
])('a host that %s is a finding', async ([, handle, word]) => {
  const seen: (string | undefined)[] = [];
  const url = await testServer((request, response) => {
    seen.push(request.headers.authorization);
    handle(request, response);
  });
  const { findings } = await (await alpha(url)).check({ key: PEER_KEY });
  expect(findings).toMatchObject([{ subject: 'discovery', state: 'bad', text: expect.stringContaining(word) }]);
  // A host that is not what it should be gets no key.
  expect(seen).toEqual([undefined]);
});

test('a host that nobody configured is never called', async () => {
  const calls: string[] = [];
  const url = await testServer((request, response) => {
    calls.push(String(request.url));
    response.end('{}');
  });
  const { ask } = await alpha(await beta());
  for (const body of [{ hostId: url }, { hostId: 'gamma' }, { hostId: 'beta', url }])
    expect((await ask('POST', '/v1/host/cairn/peers/check', body)).status).toBeGreaterThanOrEqual(400);
  expect(calls).toEqual([]);
});
