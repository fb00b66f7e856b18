import { createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chunk, fakeOpenAi } from '../../../test/kit/fake-openai.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { systemClock } from '../compose.ts';
import { parseConfig } from '../config/config.ts';
import { createHostOver } from '../create-host.ts';
import { keys, served } from '../served.kit.ts';
import { hostModels } from './models.ts';

const secrets = { host: { value: 'sk-of-the-host-0001' }, acme: { value: 'sk-of-the-tenant-01' } };

function configured(baseUrl: string) {
  return {
    secrets,
    models: {
      providers: {
        local: {
          kind: 'openai-compatible' as const,
          baseUrl,
          apiKey: { secret: 'host' },
          headers: { 'x-org': { secret: 'acme' } },
        },
      },
      default: 'local/small',
    },
    credentials: { mine: { provider: 'local', key: { secret: 'acme' }, tenants: ['t'] } },
  };
}

test('a configured model is called with its key and headers, and with a credential in the place of the key', async () => {
  await using server = await fakeOpenAi(() => ({ chunks: [chunk({ content: 'hi' }), chunk({}, 'stop')] }));
  const { registry, credentials } = hostModels(parseConfig(configured(server.url), 'test'), systemClock);
  const model = registry.find({ selection: { modelClass: 'chat' } });
  const { signal } = new AbortController();
  const turn = { system: '', messages: [], task: '', tools: [], turnIndex: 0, attempt: 1, signal };
  for await (const _ of model.stream(turn));
  const credential = credentials.reveal('mine', 't', model.provider);
  for await (const _ of model.stream({ ...turn, credential }));
  expect(server.requests.map(({ headers }) => [headers.authorization, headers['x-org']])).toEqual([
    ['Bearer sk-of-the-host-0001', 'sk-of-the-tenant-01'],
    ['Bearer sk-of-the-tenant-01', 'sk-of-the-tenant-01'],
  ]);
  expect(server.requests[0]?.body.model).toBe('small');
});

test.each([
  [{ mockProvider: { id: 'stream-text' } }, 403, 'mock_provider_forbidden'],
  [{ 'ai.provider': 'nobody' }, 400, 'validation_error'],
  [{ 'ai.credentialRef': 'theirs' }, 403, 'credential_forbidden'],
  [{ 'ai.credentialRef': 'mine', 'ai.provider': 'scripted' }, 403, 'credential_forbidden'],
])('a run that asks for %j is refused with %i %s', async (configurable, status, error) => {
  const { ask } = await served({ models: configured('http://127.0.0.1:9/v1') });
  const answer = await ask('POST', '/v1/runs', { body: { workflowId: 'none', configurable } });
  expect(answer).toMatchObject({ status, body: { error } });
});

test('a credential is its tenant’s alone', async () => {
  const { ask } = await served({ models: configured('http://127.0.0.1:9/v1') });
  const body = { workflowId: 'none', configurable: { 'ai.credentialRef': 'mine' } };
  expect(await ask('POST', '/v1/runs', { body })).toMatchObject({ status: 404 });
  expect(await ask('POST', '/v1/runs', { body, key: keys.stranger })).toMatchObject({
    status: 403,
    body: { error: 'credential_forbidden' },
  });
});

test.each([
  ['flat', { 'ai.credentialRef': 'mine' }],
  ['nested', { ai: { credentialRef: 'mine' } }],
])('a run that names a credential, %s, calls the model with it', async (_form, configurable) => {
  await using server = await fakeOpenAi(() => ({ chunks: [chunk({ content: 'hi' }), chunk({}, 'stop')] }));
  const key = 'a-key-for-these-tests';
  await using host = await createHostOver(inMemoryStore(), {
    config: { ...configured(server.url), port: 0, keys: [{ key, tenant: 't' }] },
    agents: [defineAgent({ id: 'host:talker', persona: 'Talker', instructions: 'Talk.' })],
    report: () => undefined,
  });
  const client = createClient({ url: host.url ?? '', key });
  const { runId } = await client.runs.create({ agentId: 'host:talker', inputs: { message: 'Hello' }, configurable });
  expect(await client.runs.wait(runId)).toMatchObject({ status: 'completed', outputs: { content: 'hi' } });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-of-the-tenant-01']);
});

test('where the conformance switch is on, a mock is taken, and one that is none is refused', async () => {
  const { ask } = await served({ conformance: true });
  const asking = (mockProvider: JsonObject) =>
    ask('POST', '/v1/runs', { body: { workflowId: 'none', configurable: { mockProvider } } });
  expect(await asking({ id: 'stream-text' })).toMatchObject({ status: 404 });
  expect(await asking({ id: 'gpt' })).toMatchObject({ status: 400, body: { error: 'unsupported_mock_provider' } });
  expect(await asking({ id: 'stream-text', config: { tokens: 4 } })).toMatchObject({ status: 400 });
});
