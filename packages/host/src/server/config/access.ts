/** The configuration keys for access: who may call, how often, and which origins and addresses are allowed. */
import { z } from 'zod';
import { DEFAULT_EXPRESSION_COST } from '../../engine/values/expressions.ts';
import { scopes, toolScope } from '../access/auth.ts';
import { address, label, name, origin, path, variable } from './fields.ts';

const given = (values: readonly unknown[]): number => values.filter((value) => value !== undefined).length;
const exactlyOne = (...names: readonly string[]) => ({ oneOf: names.map((one) => ({ required: [one] })) });

export const keySchema = z
  .strictObject({
    key: z.string().min(16).optional().describe('The key itself, at least 16 characters. Prefer `keyEnv` or `sha256`.'),
    keyEnv: variable.optional().describe('The environment variable that contains the key.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits')
      .optional()
      .describe('The SHA-256 of the key in lowercase hex. The file then contains no secret.'),
    tenant: name.describe(
      "The tenant whose runs and workflows the key can use. Another tenant's resources return 404.",
    ),
    principal: name
      .optional()
      .describe(
        'The principal of the key. The log records it with runs, answers and cancels. Default for a key with `peer`: this `peer`.',
      ),
    scopes: z
      .array(z.enum(scopes))
      .optional()
      .describe(
        'The permissions of the key. Default: all except `audit:read`, which shows operator rows, `metrics:read`, and `runs:delete`, which cannot be undone.',
      ),
    peer: name
      .optional()
      .describe(
        'The `hostId` of the host that calls with this key, one of `peers`. Runs of this key may name a run of that host as their parent.',
      ),
    toolScopes: z
      .array(z.string().regex(toolScope, 'must be tool:<name>, or tool:* for all of them'))
      .optional()
      .describe(
        'The scopes of runs of this key for tools that [need a scope](tools.md#tool-permissions), as `tool:<name>`. `tool:*` is all of them. Default: none.',
      ),
  })
  .refine((key) => given([key.key, key.keyEnv, key.sha256]) === 1, {
    message: 'needs exactly one of key, keyEnv and sha256',
  })
  .meta(exactlyOne('key', 'keyEnv', 'sha256'));

export const jwtSchema = z.strictObject({
  issuer: z.string().min(1).max(512).describe('The required issuer of a token (`iss`).'),
  audience: z.string().min(1).max(512).describe('The required audience of a token (`aud`).'),
  jwksUrl: address.describe("The URL of the issuer's public keys."),
  algorithms: z
    .array(z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']))
    .min(1)
    .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .describe('The accepted signature algorithms. Only public-key algorithms are available.'),
  clockToleranceMs: z
    .int()
    .min(0)
    .max(300_000)
    .default(30_000)
    .describe('The allowed difference between the clocks of issuer and host.'),
  claims: z
    .strictObject({
      tenant: name.default('tenant').describe('The claim that contains the tenant.'),
      principal: name.default('sub').describe('The claim that contains the principal.'),
      scopes: name
        .default('scope')
        .describe('The claim that contains the scopes: a list, or words separated by spaces.'),
    })
    .prefault({})
    .describe('The claims that a token uses for tenant, principal and scopes.'),
});

const secretSource = { env: variable.optional().describe('The environment variable that contains it.') };

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
  file: path.optional().describe('The file that contains it. Only its owner may read it (mode 0600).'),
};

export const masterKeySchema = z
  .strictObject({
    ...masterKeySource,
    previous: z
      .strictObject(masterKeySource)
      .refine((key) => given([key.env, key.file]) === 1, { message: 'needs exactly one of env and file' })
      .optional()
      .meta(exactlyOne('env', 'file'))
      .describe('The previous key. The host still decrypts with it, and encrypts with the current key.'),
  })
  .refine((key) => given([key.env, key.file]) === 1, { message: 'needs exactly one of env and file' })
  .meta(exactlyOne('env', 'file'));

export const corsSchema = z.strictObject({
  origins: z.array(origin).default([]).describe('Origins of web pages that may call this host from a browser.'),
});

export const egressSchema = z.strictObject({
  allow: z.array(origin).default([]).describe('Allowed origins that do not use https or are in a private network.'),
});

const atLeastOne = z.int().min(1);

export const limitsSchema = z.strictObject({
  maxNodeExecutions: atLeastOne
    .default(1000)
    .describe(
      'The maximum number of nodes that a run may start. Beyond it the run fails with [recursion_limit_exceeded](../errors/recursion_limit_exceeded.md). A run can set a lower limit (`configurable.recursionLimit`).',
    ),
  maxRunDurationMs: z
    .int()
    .min(1000)
    .optional()
    .describe('The maximum duration of a run. Beyond it the run fails with [run_timeout](../errors/run_timeout.md).'),
  maxRunDepth: z
    .int()
    .min(0)
    .max(8)
    .default(8)
    .describe(
      'The maximum number of runs above a child run. Beyond it the node fails with [run_depth_exceeded](../errors/run_depth_exceeded.md).',
    ),
  maxRunsPerTree: z
    .int()
    .min(0)
    .default(1000)
    .describe(
      'The maximum number of runs below one run, at all levels. Beyond it the node fails with [budget_exhausted](../errors/budget_exhausted.md). A run can set a lower limit (`configurable.budget.maxRuns`).',
    ),
  clarificationRounds: z
    .int()
    .min(0)
    .max(1000)
    .default(10)
    .describe(
      'The maximum number of questions that the tools of an agent node, or the supervisor of a run, may ask. Beyond it a tool call fails with [clarification_limit_exceeded](../errors/clarification_limit_exceeded.md) and the agent goes on; the node of a supervisor fails.',
    ),
  expressionCost: z
    .int()
    .min(1000)
    .max(100_000_000)
    .default(DEFAULT_EXPRESSION_COST)
    .describe(
      'The maximum cost of all expressions that one step of a node evaluates, in units of about 20 ns. Beyond it the node fails with [expression_failed](../errors/expression_failed.md). See [expressions](expressions.md#cost).',
    ),
  runStateBytes: atLeastOne
    .default(16_777_216)
    .describe(
      'The maximum size of the variables, outputs and channels of a run. Each list and object in them counts 16 bytes beside its items. Beyond it the run fails with [run_state_too_large](../errors/run_state_too_large.md), and an answer that would pass it is refused.',
    ),
  runLogBytes: atLeastOne
    .default(268_435_456)
    .describe(
      'The maximum size of the events of a run. Beyond it the run fails with [run_log_too_large](../errors/run_log_too_large.md).',
    ),
  tenantLogBytes: atLeastOne
    .default(53_687_091_200)
    .describe(
      'The maximum size of all events, artifacts and stored definitions of a tenant. Beyond it, new runs, answers and active runs of the tenant end with [quota_exceeded](../errors/quota_exceeded.md). Events that an earlier version of Cairn wrote do not count.',
    ),
  maxQueuedMessages: atLeastOne
    .default(20)
    .describe(
      'Messages that wait in one context while a task of it is open. Beyond it the response is [rate_limited](../errors/rate_limited.md).',
    ),
  maxRequestBodyBytes: atLeastOne
    .default(1_048_576)
    .describe(
      'The maximum size of a request body. Beyond it the response is [payload_too_large](../errors/payload_too_large.md). Inputs become events, so their bodies have at most 491,520 bytes. Discovery shows the smaller of the two.',
    ),
  maxRequestsPerSecondPerKey: atLeastOne.optional().describe('Requests per second of one key.'),
  maxRequestsPerSecondPerTenant: atLeastOne.optional().describe('Requests per second of all keys of one tenant.'),
  maxRequestsInFlightPerKey: atLeastOne
    .default(1000)
    .describe('Concurrent requests of one key, without event streams and long polls.'),
  maxOpenStreamsPerKey: atLeastOne.default(1000).describe('Open event streams and long polls of one key.'),
  maxOpenStreamsPerTenant: atLeastOne
    .default(2000)
    .describe('Open event streams and long polls of all keys of one tenant.'),
  maxActiveRunsPerTenant: atLeastOne
    .default(10_000)
    .describe(
      'Runs of one tenant that the host works on at the same time. Runs that wait for a person or a later time do not count. Beyond it a start is refused with [rate_limited](../errors/rate_limited.md). Child runs count but are not refused.',
    ),
  maxStartsPerSecondPerTenant: atLeastOne
    .default(2000)
    .describe(
      'Runs of one tenant that may start per second, child runs included. Beyond it a start is refused with [rate_limited](../errors/rate_limited.md).',
    ),
  maxOpenCallsPerTenant: atLeastOne
    .default(1000)
    .describe('Calls to models, tools and steps of one tenant that may be in progress. Further ones wait.'),
  maxUnreadBytesPerTenant: atLeastOne
    .default(33_554_432)
    .describe(
      'Bytes of responses that wait because the clients of one tenant do not read them. Beyond it, streams that wait longest are closed, and large responses return [rate_limited](../errors/rate_limited.md).',
    ),
  maxUnreadBytes: atLeastOne
    .default(268_435_456)
    .describe(
      'The same for all tenants together. Beyond it, the tenant with the most is affected; a large response may return [service_unavailable](../errors/service_unavailable.md).',
    ),
  maxFailedAuthPerMinute: atLeastOne.default(60).describe('Requests with a wrong key per minute from one address.'),
  maxConnections: atLeastOne.default(10_000).describe('Open connections. The host closes further ones at once.'),
  maxConnectionsPerAddress: atLeastOne
    .default(2000)
    .describe('Open connections of one address, or of one /64 network for IPv6. `trustedProxies` are exempt.'),
});

export type LimitsConfig = z.infer<typeof limitsSchema>;
export type JwtConfig = z.infer<typeof jwtSchema>;
