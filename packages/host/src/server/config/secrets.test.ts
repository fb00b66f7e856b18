import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { SecretText } from '../secrets/secret-text.ts';
import { parseConfig } from './config.ts';

const CANARY = 'canary-0123456789-canary';

function refusal(config: unknown, env: Record<string, string> = {}): string {
  try {
    parseConfig(config, 'cairn.json', env);
  } catch (error) {
    const { message, hint, stack, cause } = error as Error & { readonly hint?: string };
    return [message, hint, stack, cause === undefined ? '' : inspect(cause)].join(' ');
  }
  throw new Error('the configuration was accepted');
}

async function keyFile(text: string, mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-master-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'master.key');
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

test('a secret cannot be printed, logged or serialised, only revealed', () => {
  const secret = new SecretText(CANARY);
  const shown = [String(secret), JSON.stringify({ secret }), inspect({ secret }), `${secret}`, Object.values(secret)];
  expect(inspect(shown)).not.toContain(CANARY);
  expect(secret.reveal()).toBe(CANARY);
});

test('secrets come from the environment or the file, and headers that name them are ready to send', () => {
  const config = parseConfig(
    {
      secrets: { token: { env: 'TOKEN' }, plain: { value: 'in-the-file' } },
      otel: { endpoint: 'http://127.0.0.1:4318', headers: { authorization: { secret: 'token' }, 'x-team': 'ours' } },
    },
    'test',
    { TOKEN: CANARY },
  );
  expect(config.secrets.get('token')?.reveal()).toBe(CANARY);
  expect(config.otel?.headers.authorization?.reveal()).toBe(CANARY);
  expect(config.otel?.headers['x-team']?.reveal()).toBe('ours');
  expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain(CANARY);
  expect(config.secrets.get('plain')?.reveal()).toBe('in-the-file');
  expect(config.unused).toEqual([]);
});

test('a header sends its prefix before the secret, and the secret alone is kept out of the log', () => {
  const headers = { authorization: { secret: 'token', prefix: 'Bearer ' } };
  const config = parseConfig(
    { secrets: { token: { env: 'TOKEN' } }, otel: { endpoint: 'http://127.0.0.1:4318', headers } },
    'test',
    { TOKEN: CANARY },
  );
  expect(config.otel?.headers.authorization?.reveal()).toBe(`Bearer ${CANARY}`);
  expect(config.knownSecrets.map(({ text }) => text.reveal())).toContain(CANARY);
});

test.each([
  [{ secrets: { a: {} } }, 'secrets.a: needs exactly one of env and value'],
  [{ secrets: { a: { env: 'A', value: '12345678' } } }, 'secrets.a: needs exactly one of env and value'],
  [{ secrets: { a: { env: 'NOT_SET' } } }, 'secrets.a: the environment variable NOT_SET is not set'],
  [{ secrets: { a: { evn: 'A' } } }, 'there is no key "evn" in secrets.a. Did you mean "env"?'],
  [{ secrets: { 'a b': { value: '12345678' } } }, 'secrets: the name "a b" must be letters'],
  [
    {
      secrets: { token: { value: CANARY } },
      mcp: { servers: [{ id: 'a', url: 'https://a', headers: { x: { secret: 'tokn' } } }] },
    },
    'mcp.servers[0].headers.x names the secret "tokn", which secrets does not have. Did you mean "token"?',
  ],
  [
    { models: { providers: { p: { kind: 'openai', apiKey: { secret: 'k' } } } } },
    'models.providers.p.apiKey names the secret "k"',
  ],
  [{ secrets: { pin: { value: '1234567' } } }, 'cairn.json: secrets.pin.value: must have at least 8 characters'],
  [{ secrets: { pin: { env: 'PIN' } } }, 'secrets.pin has 4 characters; it needs at least 8'],
  [{ secrets: { a: { value: `[REDACTED]${CANARY}` } } }, 'secrets.a holds [REDACTED],'],
  [{ otel: { endpoint: 'http://127.0.0.1', headers: { x: 5 } } }, 'otel.headers.x: must be printable ASCII text, or'],
  [{ masterKey: {} }, 'masterKey: needs exactly one of env and file'],
  [{ masterKey: { env: 'NOT_SET' } }, 'masterKey: the environment variable NOT_SET is not set'],
  [{ masterKey: { value: CANARY } }, 'there is no key "value" in masterKey'],
  [{ masterKey: { file: '/nowhere/key' } }, 'masterKey: /nowhere/key cannot be read'],
  [{ masterKey: { env: 'K', previous: { env: 'NOT_SET' } } }, 'masterKey.previous: the environment variable NOT_SET'],
  [
    { masterKey: { env: 'SHORT' } },
    'masterKey: its environment variable does not hold 32 bytes as base64 or hex. Make a key with',
  ],
])('refuses %j by name', (config, message) => {
  const said = refusal(config, { K: Buffer.alloc(32).toString('hex'), SHORT: CANARY, PIN: '1234' });
  expect(said).toContain(message);
  expect(said).not.toContain(CANARY);
});

test.each(['0644', '0640', '0604', '0660'])(
  'refuses a master key in a file of mode %s, whatever it holds',
  async (mode) => {
    const file = await keyFile(Buffer.alloc(32, 7).toString('base64'), Number.parseInt(mode, 8));
    expect(refusal({ masterKey: { file } })).toContain(`has mode ${mode}`);
  },
);

test.each(['0600', '0400'])('takes a master key from a file of mode %s', async (mode) => {
  const file = await keyFile(Buffer.alloc(32, 7).toString('base64'), Number.parseInt(mode, 8));
  expect(parseConfig({ masterKey: { file } }, 'test').masterKey?.current.reveal()).toBe(
    Buffer.alloc(32, 7).toString('base64url'),
  );
});

test('every value that the host was given is known by a name, and none can be printed', () => {
  const bytes = Buffer.alloc(32, 0xfb);
  const hash = 'a'.repeat(64);
  const config = parseConfig(
    {
      secrets: { token: { value: CANARY } },
      keys: [
        { sha256: hash, tenant: 'a' },
        { key: `${CANARY}-1`, tenant: 'a' },
        { keyEnv: 'KEY', tenant: 'a' },
      ],
      masterKey: { env: 'MASTER', previous: { env: 'OLD' } },
    },
    'test',
    { KEY: `${CANARY}-2`, MASTER: bytes.toString('hex'), OLD: Buffer.alloc(32, 1).toString('base64') },
  );
  const known = config.knownSecrets.map(({ name, text }) => `${name} ${text.reveal()}`);
  expect(known).toEqual(
    expect.arrayContaining([
      `token ${CANARY}`,
      `keys.1 ${CANARY}-1`,
      `keys.2 ${CANARY}-2`,
      `masterKey ${bytes.toString('hex')}`,
      `masterKey ${bytes.toString('base64')}`,
      `masterKey ${bytes.toString('base64url')}`,
      `masterKey.previous ${Buffer.alloc(32, 1).toString('hex')}`,
    ]),
  );
  expect(known.join(' ')).not.toContain(hash);
  expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain(CANARY);
});

/** Configurations that are wrong in one way and hold the canary wherever a secret, or what was taken for its place, may stand. */
const wrong = fc.record(
  {
    keys: fc.constantFrom<unknown>(
      [{ key: CANARY }],
      [{ keyEnv: CANARY, tenant: 'a' }],
      [{ keyEnv: CANARY.replaceAll('-', '_'), tenant: 'a' }],
      [{ sha256: CANARY, tenant: 'a' }],
      CANARY,
      [CANARY],
      [{ key: [CANARY], tenant: 'a' }],
      { key: CANARY },
    ),
    secrets: fc.constantFrom<unknown>(CANARY, { a: CANARY }, { a: { env: CANARY } }, { a: { value: [CANARY] } }, [
      CANARY,
    ]),
    masterKey: fc.constantFrom<unknown>(CANARY, { env: CANARY }, { value: CANARY }, { env: [CANARY] }),
    otel: fc.constantFrom<unknown>(
      { endpoint: `http://user:${CANARY}@127.0.0.1`, headers: {} },
      { endpoint: 'http://127.0.0.1', headers: { authorization: `\u00e9${CANARY}` } },
      { endpoint: 'http://127.0.0.1', headers: { authorization: { secret: 5, value: CANARY } } },
    ),
    publicUrl: fc.constant(`https://${CANARY}@example.org`),
    jwt: fc.constant({ issuer: 'i', audience: 'a', jwksUrl: `https://u:${CANARY}@id.example.org` }),
  },
  { requiredKeys: [] },
);

test('a refusal never repeats what may be a secret', () => {
  fc.assert(
    fc.property(
      wrong.filter((config) => Object.keys(config).length > 0),
      (config) => !refusal(config).replaceAll('_', '-').includes(CANARY),
    ),
  );
});
