/** The configuration: its shape, its defaults, and the refusal of everything that is not in it. */
import { isIP } from 'node:net';
import { TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { type AccessKey, keyHash, scopes } from './auth.ts';
import { nearest } from './nearest.ts';

const name = z.string().min(1).max(128);

const keySchema = z
  .strictObject({
    /** The key itself. Prefer one of the other two. */
    key: z.string().min(16).optional(),
    /** The environment variable that holds the key. */
    keyEnv: z.string().min(1).optional(),
    /** The sha256 of the key, in hex: the configuration then holds no secret. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits')
      .optional(),
    tenant: name,
    principal: name.optional(),
    /** Default: everything but `audit:read`. */
    scopes: z.array(z.enum(scopes)).optional(),
  })
  .refine((key) => [key.key, key.keyEnv, key.sha256].filter((given) => given !== undefined).length === 1, {
    message: 'needs exactly one of key, keyEnv and sha256',
  });

const limitsSchema = z.strictObject({
  /** Node executions of one run; a run may ask for fewer. */
  maxNodeExecutions: z.int().min(1).default(1000),
  /** Wall clock of one run, in ms; left out, runs may take for ever. */
  maxRunDurationMs: z.int().min(1000).optional(),
  maxRequestBodyBytes: z.int().min(1).default(1_048_576),
});

const schema = z.strictObject({
  /** 0 takes a free port. */
  port: z.int().min(0).max(65_535).default(4700),
  bind: z
    .string()
    .refine((address) => address === 'localhost' || isIP(address) !== 0, {
      message: 'must be an IP address or localhost',
    })
    .default('127.0.0.1'),
  /** The folder of the database. */
  data: z.string().min(1).default('.cairn'),
  hostId: name.default('cairn'),
  /** The address under which others reach the host, when it is not the bound one. */
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  keys: z.array(keySchema).default([]),
  /** Folders: every `*.json` in them is registered at start, for each tenant of the keys. */
  workflows: z.array(z.string().min(1)).default([]),
  limits: limitsSchema.prefault({}),
  /** Adds what black-box suites look for; only on a loopback address. */
  conformance: z.boolean().default(false),
});

/** The configuration as written in `cairn.json`. */
export type ConfigInput = z.input<typeof schema>;
export type HostLimits = z.infer<typeof limitsSchema>;

/** The configuration as the host uses it: complete, and with keys only as hashes. */
export interface HostConfig extends Omit<z.infer<typeof schema>, 'keys'> {
  readonly keys: readonly AccessKey[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Checks a configuration; `source` is the file's name or whatever else tells the reader where to look. */
export function parseConfig(input: unknown, source: string, env: Environment = {}): HostConfig {
  const result = schema.safeParse(input);
  if (!result.success) throw configInvalid(result.error.issues[0], source);
  const config = result.data;
  if (config.conformance && !isLoopback(config.bind)) {
    throw new TerminalError('config_invalid', {
      message: `${source}: conformance is on and bind is ${config.bind}, which others can reach.`,
      hint: 'Bind to 127.0.0.1, or switch conformance off.',
    });
  }
  return { ...config, keys: config.keys.map((key, i) => accessKey(key, `${source}: keys[${i}]`, env)) };
}

/** True for an address that only this machine reaches. */
export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);

function accessKey(key: z.infer<typeof keySchema>, where: string, env: Environment): AccessKey {
  const { tenant, principal, scopes: held } = key;
  const sha256 = key.sha256 ?? keyHash(key.key ?? keyFromEnv(key.keyEnv ?? '', where, env));
  return { sha256, tenant, principal, scopes: held };
}

function keyFromEnv(variable: string, where: string, env: Environment): string {
  const key = env[variable];
  if (key !== undefined && key.length >= 16) return key;
  throw new TerminalError('config_invalid', {
    message: `${where}: the environment variable ${variable} ${key === undefined ? 'is not set' : 'is shorter than 16 characters'}.`,
    hint: `Set ${variable} to the key before starting the host.`,
  });
}

function configInvalid(issue: z.core.$ZodIssue | undefined, source: string): TerminalError {
  const where = issue?.path.reduce<string>(
    (path, part) =>
      typeof part === 'number' ? `${path}[${part}]` : path === '' ? String(part) : `${path}.${String(part)}`,
    '',
  );
  if (issue?.code === 'unrecognized_keys') {
    const wrong = issue.keys[0] ?? '';
    const names = keysAt(issue.path);
    const close = nearest(wrong, names);
    return new TerminalError('config_invalid', {
      message: `${source}: there is no key ${JSON.stringify(wrong)}${where ? ` in ${where}` : ''}.`,
      hint: close === null ? `Known keys: ${names.join(', ')}.` : `Did you mean ${JSON.stringify(close)}?`,
    });
  }
  return new TerminalError('config_invalid', {
    message: `${source}: ${where || 'the configuration'}: ${issue?.message ?? 'is not valid'}.`,
    hint: 'Every key and its values are listed in docs/reference/configuration.md.',
  });
}

/** The names that are right at a place of the configuration. */
function keysAt(path: readonly PropertyKey[]): readonly string[] {
  const shapes: Readonly<Record<string, object>> = { keys: keySchema.shape, limits: limitsSchema.shape };
  return Object.keys(shapes[String(path[0])] ?? schema.shape);
}
