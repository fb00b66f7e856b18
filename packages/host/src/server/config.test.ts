import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isCairnError } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { keyHash } from './auth.ts';
import { parseConfig } from './config.ts';
import { readConfig } from './config-sources.ts';

const key = 'a-key-of-16-characters';

/** Message and hint of the refusal. */
function refusal(config: unknown, env: Record<string, string> = {}): string {
  try {
    parseConfig(config, 'cairn.json', env);
  } catch (error) {
    if (isCairnError(error, 'config_invalid')) return `${error.message} ${error.hint ?? ''}`;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

async function file(text: string): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'cairn.json');
  await writeFile(path, text);
  return { folder, path };
}

test('fills in everything that was left out', () => {
  expect(parseConfig({}, 'test')).toEqual({
    port: 4700,
    bind: '127.0.0.1',
    data: '.cairn',
    hostId: 'cairn',
    keys: [],
    workflows: [],
    secrets: new Map(),
    packs: { folders: [], trust: [] },
    models: { providers: {}, classes: {} },
    mcp: { servers: [] },
    a2a: { peers: [] },
    peers: [],
    visibility: { thoughts: 'client' },
    egress: { allow: [] },
    cors: { origins: [] },
    limits: {
      maxNodeExecutions: 1000,
      maxRequestBodyBytes: 1_048_576,
      maxOpenStreamsPerKey: 1000,
      maxFailedAuthPerMinute: 60,
    },
    conformance: false,
    unused: [],
  });
});

test.each([
  [{ prot: 1 }, 'there is no key "prot". Did you mean "port"?'],
  [
    { limits: { maxNodeExecution: 5 } },
    'there is no key "maxNodeExecution" in limits. Did you mean "maxNodeExecutions"?',
  ],
  [{ keys: [{ key, tenent: 'a' }] }, 'keys[0].tenant'],
  [{ keys: [{ key, tenant: 'a', scope: [] }] }, 'there is no key "scope" in keys[0]. Did you mean "scopes"?'],
  [{ zzzzzzzz: 1 }, 'Known keys: port, bind,'],
  [{ port: 70_000 }, 'cairn.json: port:'],
  [{ bind: 'example.org' }, 'must be an IP address'],
  [{ publicUrl: 'ftp://x' }, 'cairn.json: publicUrl:'],
  [{ keys: [{ tenant: 'a' }] }, 'exactly one of key, keyEnv and sha256'],
  [{ keys: [{ key, sha256: 'a'.repeat(64), tenant: 'a' }] }, 'exactly one of key, keyEnv and sha256'],
  [{ keys: [{ key: 'short', tenant: 'a' }] }, 'keys[0].key'],
  [{ keys: [{ sha256: 'ABC', tenant: 'a' }] }, '64 lowercase hex digits'],
  [{ keys: [{ key, tenant: 'a', scopes: ['runs:everything'] }] }, 'keys[0].scopes[0]'],
  [{ keys: [{ keyEnv: 'NOT_SET', tenant: 'a' }] }, 'keys[0]: the environment variable NOT_SET is not set'],
  [{ conformance: true, bind: '0.0.0.0' }, 'conformance is on and bind is 0.0.0.0'],
  ['text', 'the configuration'],
])('refuses %j by name', (config, message) => {
  expect(refusal(config)).toContain(message);
});

test('keeps keys only as hashes, whichever way they are given', () => {
  const config = parseConfig(
    {
      keys: [
        { key, tenant: 'a' },
        { keyEnv: 'K', tenant: 'b', principal: 'p', scopes: ['runs:read'] },
        { sha256: keyHash('x'), tenant: 'c' },
      ],
    },
    'test',
    { K: 'another-key-of-some-length' },
  );
  expect(config.keys).toEqual([
    { sha256: keyHash(key), tenant: 'a' },
    { sha256: keyHash('another-key-of-some-length'), tenant: 'b', principal: 'p', scopes: ['runs:read'] },
    { sha256: keyHash('x'), tenant: 'c' },
  ]);
  expect(JSON.stringify(config)).not.toContain(key);
});

test('lets the command line win over the environment, and that over the file, and all over defaults', async () => {
  const { folder, path } = await file('{"port":1,"bind":"127.0.0.1","hostId":"file","data":"db","workflows":["wf"]}');
  const config = await readConfig({
    file: path,
    env: { CAIRN_PORT: '2', CAIRN_BIND: '127.0.0.2' },
    flags: { port: 3, data: undefined },
    defaults: { conformance: true, hostId: 'default' },
  });
  expect(config).toMatchObject({ port: 3, bind: '127.0.0.2', hostId: 'file', conformance: true });
  expect([config.data, ...config.workflows]).toEqual([join(folder, 'db'), join(folder, 'wf')]);
});

test('takes every key from the environment', async () => {
  const config = await readConfig({
    env: {
      CAIRN_PORT: '8080',
      CAIRN_BIND: '::1',
      CAIRN_DATA: '/data',
      CAIRN_HOST_ID: 'h',
      CAIRN_PUBLIC_URL: 'https://cairn.example.org',
      CAIRN_KEYS: `[{"key":"${key}","tenant":"a"}]`,
      CAIRN_WORKFLOWS: `/one${delimiter}/two`,
      CAIRN_LIMITS: '{"maxRunDurationMs":5000}',
      CAIRN_CONFORMANCE: 'true',
    },
  });
  expect(config).toMatchObject({
    port: 8080,
    bind: '::1',
    data: '/data',
    hostId: 'h',
    publicUrl: 'https://cairn.example.org',
    keys: [{ tenant: 'a' }],
    workflows: ['/one', '/two'],
    limits: { maxRunDurationMs: 5000 },
    conformance: true,
  });
});

test('refuses a port in the environment that is no number', async () => {
  await expect(readConfig({ env: { CAIRN_PORT: 'http' } })).rejects.toThrow('port');
});

test('names a file that is not there', async () => {
  await expect(readConfig({ file: '/nowhere/cairn.json', env: {} })).rejects.toThrow(
    'The configuration /nowhere/cairn.json cannot be read',
  );
});

test('names a file that is not JSON, and does not repeat its text', async () => {
  const { path } = await file(`{"keys":[{"key":"${key}",}]}`);
  const error = await readConfig({ file: path, env: {} }).catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(/cairn\.json is not valid JSON at position \d+/);
  expect(String(error)).not.toContain(key);
});

test('refuses a file that holds no object', async () => {
  const { path } = await file('[]');
  await expect(readConfig({ file: path, env: {} })).rejects.toThrow('must be a JSON object');
});
