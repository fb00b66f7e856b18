import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from './config-sources.ts';
import { variableOf } from './variables.ts';
import { configKeys } from './walk.ts';

const key = 'a-key-of-16-characters';

async function file(text: string): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'cairn.json');
  await writeFile(path, text);
  return { folder, path };
}

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

test('names a key that a file has twice, also deep inside', async () => {
  for (const [text, name] of [
    [`{"keys":[{"key":"${key}","tenant":"a"}],"keys":[]}`, 'keys'],
    [`{"keys":[{"key":"${key}","tenant":"a","tenant":"b"}]}`, 'tenant'],
  ] as const) {
    const { path } = await file(text);
    await expect(readConfig({ file: path, env: {} })).rejects.toThrow(`has the key "${name}" twice in one object`);
  }
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

test('joins sections key by key, and takes lists and maps whole from the later source', async () => {
  const { path } = await file(
    JSON.stringify({
      limits: { maxNodeExecutions: 1, maxRequestBodyBytes: 2 },
      jwt: { issuer: 'i', audience: 'a', jwksUrl: 'https://id.example.org', claims: { tenant: 'org', scopes: 'perm' } },
      cors: { origins: ['https://file.example.org'] },
      secrets: { a: { value: 'file' }, b: { value: 'file' } },
    }),
  );
  const config = await readConfig({
    file: path,
    env: {
      CAIRN_LIMITS: '{"maxNodeExecutions":3,"maxRunDurationMs":3000}',
      CAIRN_LIMITS_MAX_RUN_DURATION_MS: '4000',
      CAIRN_JWT_CLAIMS_TENANT: 'team',
      CAIRN_CORS_ORIGINS: 'https://one.example.org, https://two.example.org',
      CAIRN_SECRETS: '{"c":{"value":"variable"}}',
    },
    flags: { limits: { maxOpenStreamsPerKey: 5 } },
  });
  expect(config.limits).toMatchObject({
    maxNodeExecutions: 3,
    maxRequestBodyBytes: 2,
    maxRunDurationMs: 4000,
    maxOpenStreamsPerKey: 5,
  });
  expect(config.jwt).toMatchObject({ issuer: 'i', claims: { tenant: 'team', principal: 'sub', scopes: 'perm' } });
  expect(config.cors.origins).toEqual(['https://one.example.org', 'https://two.example.org']);
  expect([...config.secrets.keys()]).toEqual(['c']);
});

test('takes a list of packs for their folders, relative to the file, and joins what else is said of packs', async () => {
  const { folder, path } = await file('{"packs":["one","../two"]}');
  const trust = [{ keyId: 'k', publicKey: 'a'.repeat(43) }];
  const config = await readConfig({ file: path, env: { CAIRN_PACKS_TRUST: JSON.stringify(trust) } });
  expect(config.packs).toEqual({ folders: [join(folder, 'one'), join(folder, '..', 'two')], unsigned: [], trust });
});

test('reads the master key out of a variable or a file that a variable or the file names', async () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const { folder, path } = await file('{"masterKey":{"file":"now.key","previous":{"file":"old.key"}}}');
  await writeFile(join(folder, 'now.key'), `${one.toString('base64')}\n`, { mode: 0o600 });
  await writeFile(join(folder, 'old.key'), two.toString('hex'), { mode: 0o600 });
  const told = async (env: Record<string, string>, from: string | undefined = path) => {
    const { masterKey } = await readConfig({ file: from, env });
    return [masterKey?.current.reveal(), masterKey?.previous?.reveal()];
  };
  const [first, second] = [one.toString('base64url'), two.toString('base64url')];
  expect(await told({})).toEqual([first, second]);
  expect(await told({ CAIRN_MASTER_KEY: second })).toEqual([second, undefined]);
  expect(await told({ CAIRN_MASTER_KEY: second, CAIRN_MASTER_KEY_PREVIOUS: first })).toEqual([second, first]);
  const named = {
    CAIRN_MASTER_KEY_FILE: join(folder, 'old.key'),
    CAIRN_MASTER_KEY_PREVIOUS_FILE: join(folder, 'now.key'),
  };
  expect(await told(named, undefined)).toEqual([second, first]);
});

test('no two keys have the same variable', () => {
  const variables = configKeys().map(({ path }) => variableOf(path));
  expect(new Set(variables).size).toBe(variables.length);
});

test('what a variable says wrongly is refused by the place of its key', async () => {
  const refusal = async (env: Record<string, string>) => String(await readConfig({ env }).catch((thrown) => thrown));
  expect(await refusal({ CAIRN_LIMITS_MAX_NODE_EXECUTIONS: 'many' })).toContain(
    'limits.maxNodeExecutions: "many" must be a number, not a text',
  );
  expect(await refusal({ CAIRN_LIMITS: '{' })).toContain('CAIRN_LIMITS is not valid JSON');
  expect(await refusal({ CAIRN_CONFORMANCE: 'yes' })).toContain('conformance: "yes" must be true or false');
  expect(await refusal({ CAIRN_OTEL_SAMPLING: '2', CAIRN_OTEL_ENDPOINT: 'http://127.0.0.1:1' })).toContain(
    'otel.sampling: 2 must be at most 1',
  );
});

test('leaves an empty path for the checks to refuse', async () => {
  const { path } = await file('{"workflows":[""]}');
  await expect(readConfig({ file: path, env: {} })).rejects.toThrow('workflows[0]: "" must have at least 1 character');
});

test('names variables that look like a misspelt one, but not those that the configuration or the command line use', async () => {
  const { path } = await file('{"keys":[{"keyEnv":"CAIRN_KEYZ","tenant":"a"}]}');
  const env = {
    CAIRN_KEYZ: key,
    CAIRN_KEY: key,
    CAIRN_URL: 'x',
    CAIRN_LIMITS_MAX_NODE_EXECUTION: '5',
    CAIRN_QQQQQQQQ: '1',
  };
  const { unused } = await readConfig({ file: path, env });
  expect(unused).toEqual(['CAIRN_LIMITS_MAX_NODE_EXECUTION (did you mean CAIRN_LIMITS_MAX_NODE_EXECUTIONS?)']);
});
