/** The keys of the configuration that say who may call, how often, and which pages and addresses are let in or out. */
import { z } from 'zod';
import { scopes, toolScope } from '../access/auth.ts';
import { address, label, name, origin, path, variable } from './fields.ts';

const given = (values: readonly unknown[]): number => values.filter((value) => value !== undefined).length;
const exactlyOne = (...names: readonly string[]) => ({ oneOf: names.map((one) => ({ required: [one] })) });

export const keySchema = z
  .strictObject({
    key: z.string().min(16).optional().describe('The key itself, at least 16 characters. Prefer one of the next two.'),
    keyEnv: variable.optional().describe('The environment variable that holds the key.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits')
      .optional()
      .describe('The SHA-256 of the key in lowercase hex: the file then holds no secret.'),
    tenant: name.describe('Whose runs and workflows it sees. Everything of another tenant looks unknown.'),
    principal: name.optional().describe('Who it stands for; recorded with runs, answers and cancels.'),
    scopes: z
      .array(z.enum(scopes))
      .optional()
      .describe(
        'What it may do. Left out: all but `audit:read`, which shows the rows of the operator, and `metrics:read`.',
      ),
    toolScopes: z
      .array(z.string().regex(toolScope, 'must be tool:<name>, or tool:* for all of them'))
      .optional()
      .describe(
        'Which of the tools that [need a scope](tools.md#who-may-call-what) runs of this key may call, as `tool:<name>`; `tool:*` is all of them. Left out: none.',
      ),
  })
  .refine((key) => given([key.key, key.keyEnv, key.sha256]) === 1, {
    message: 'needs exactly one of key, keyEnv and sha256',
  })
  .meta(exactlyOne('key', 'keyEnv', 'sha256'));

export const jwtSchema = z.strictObject({
  issuer: z.string().min(1).max(512).describe('Tokens are taken only from this issuer (`iss`).'),
  audience: z.string().min(1).max(512).describe('Tokens are taken only when they were made for this audience (`aud`).'),
  jwksUrl: address.describe('Where the public keys of the issuer are.'),
  algorithms: z
    .array(z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']))
    .min(1)
    .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .describe('The signatures that count. Only public-key algorithms can be named.'),
  clockToleranceMs: z
    .int()
    .min(0)
    .max(300_000)
    .default(30_000)
    .describe('How far the clocks of issuer and host may differ.'),
  claims: z
    .strictObject({
      tenant: name.default('tenant').describe('The claim that names the tenant.'),
      principal: name.default('sub').describe('The claim that names the principal.'),
      scopes: name.default('scope').describe('The claim that lists the scopes: a list, or words between spaces.'),
    })
    .prefault({})
    .describe('Where a token says what a key of the configuration says.'),
});

const secretSource = { env: variable.optional().describe('The environment variable that holds it.') };

const secretSchema = z
  .strictObject({
    ...secretSource,
    value: z.string().min(8).optional().describe('The secret itself, at least 8 characters. Prefer `env`.'),
  })
  .refine((secret) => given([secret.env, secret.value]) === 1, { message: 'needs exactly one of env and value' })
  .meta(exactlyOne('env', 'value'));

export const secretsSchema = z.record(label, secretSchema);

const masterKeySource = {
  ...secretSource,
  file: path.optional().describe('The file that holds it; only its owner may read it (mode 0600).'),
};

export const masterKeySchema = z
  .strictObject({
    ...masterKeySource,
    previous: z
      .strictObject(masterKeySource)
      .refine((key) => given([key.env, key.file]) === 1, { message: 'needs exactly one of env and file' })
      .optional()
      .meta(exactlyOne('env', 'file'))
      .describe('The key before this one: what it sealed still opens, new things are sealed with the current key.'),
  })
  .refine((key) => given([key.env, key.file]) === 1, { message: 'needs exactly one of env and file' })
  .meta(exactlyOne('env', 'file'));

export const corsSchema = z.strictObject({
  origins: z.array(origin).default([]).describe('Origins of web pages that may call this host from a browser.'),
});

export const egressSchema = z.strictObject({
  allow: z
    .array(origin)
    .default([])
    .describe('Origins that pass although they are not https or lie in a private network.'),
});

const atLeastOne = z.int().min(1);

export const limitsSchema = z.strictObject({
  maxNodeExecutions: atLeastOne
    .default(1000)
    .describe(
      'Nodes one run may start; beyond it the run fails with [recursion_limit_exceeded](../errors/recursion_limit_exceeded.md). A run may ask for fewer (`configurable.recursionLimit`).',
    ),
  maxRunDurationMs: z
    .int()
    .min(1000)
    .optional()
    .describe('Wall clock of one run; beyond it the run fails with [run_timeout](../errors/run_timeout.md).'),
  maxRunDepth: z
    .int()
    .min(0)
    .max(8)
    .default(8)
    .describe(
      'How many runs may be above a run that a node starts; beyond it the node fails with [run_depth_exceeded](../errors/run_depth_exceeded.md).',
    ),
  maxRunsPerTree: z
    .int()
    .min(0)
    .default(1000)
    .describe(
      'How many runs may be started below one run, all together; beyond it the node fails with [budget_exhausted](../errors/budget_exhausted.md). A run may ask for fewer (`configurable.budget.maxRuns`).',
    ),
  maxRequestBodyBytes: atLeastOne
    .default(1_048_576)
    .describe('Larger bodies are refused with [payload_too_large](../errors/payload_too_large.md).'),
  maxRequestsPerSecondPerKey: atLeastOne.optional().describe('Requests one key may make in a second.'),
  maxRequestsPerSecondPerTenant: atLeastOne
    .optional()
    .describe('Requests all keys of one tenant may make in a second.'),
  maxRequestsInFlightPerKey: atLeastOne
    .default(1000)
    .describe('Requests of one key that may be under way at a time, beside event streams and long polls.'),
  maxOpenStreamsPerKey: atLeastOne.default(1000).describe('Event streams and long polls one key may hold open.'),
  maxOpenStreamsPerTenant: atLeastOne
    .optional()
    .describe('Event streams and long polls all keys of one tenant may hold open.'),
  maxFailedAuthPerMinute: atLeastOne
    .default(60)
    .describe('Requests with a wrong key that one address may make in a minute.'),
});

export type HostLimits = z.infer<typeof limitsSchema>;
export type JwtConfig = z.infer<typeof jwtSchema>;
