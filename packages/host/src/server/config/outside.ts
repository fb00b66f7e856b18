/** The configuration keys for external resources: packs, other servers and hosts, telemetry. */
import { z } from 'zod';
import { a2aVersions } from '../a2a/versions.ts';
import { address, headers, label, name, origin, path, refuseTwins } from './fields.ts';

const folders = z.array(path);

const packsObject = z.strictObject({
  folders: folders
    .default([])
    .describe('Pack folders, or folders that contain pack folders. The host installs them at start, for every tenant.'),
  unsigned: folders
    .default([])
    .describe(
      'Like `folders`, for packs that need no signature. Anyone who can write to such a folder can change the agents of every tenant.',
    ),
  trust: z
    .array(
      z.strictObject({
        keyId: name.describe('The id of the key in signatures.'),
        publicKey: z
          .string()
          .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the 32 bytes of an Ed25519 public key as base64url, 43 characters')
          .describe('The Ed25519 public key, base64url.'),
      }),
    )
    .superRefine((trust, context) => refuseTwins(trust, 'keyId', context))
    .default([])
    .describe('Keys whose signatures on packs the host trusts.'),
});

/** A list is shorthand for an object with only `folders`. */
export const packsSchema = z.union(
  [packsObject, folders.transform((list) => ({ folders: list, unsigned: [], trust: [] }))],
  {
    error: 'must be a list of folders, or an object with folders, unsigned and trust',
  },
);

export const a2aSchema = z.strictObject({
  peers: z
    .array(
      z.strictObject({
        name: label
          .max(48)
          .describe('The name of the peer in workflows. Its agent is `host:<name>`, its tool `a2a:<name>`.'),
        url: address.describe(
          'The address of its agent card, or of the folder of `.well-known/agent-card.json`. It may be in a private network.',
        ),
        origins: z
          .array(origin)
          .max(16)
          .default([])
          .describe('Further origins that its card may name. Others than these and that of `url` are never called.'),
        headers: headers
          .default({})
          .describe(
            'Headers of each request: text, or `{ "secret": "<name>" }`. `"prefix": "Bearer "` in it is sent before the secret.',
          ),
        description: z
          .string()
          .min(1)
          .max(500)
          .optional()
          .describe('What it does, for models and people. What its card says is not shown to models.'),
        needs: z
          .array(z.string().regex(/^tool:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be tool:<name>'))
          .default([])
          .describe('Scopes, each `tool:<name>`, that the starter of a run must hold to call it.'),
        timeoutMs: z
          .int()
          .min(1)
          .max(86_400_000)
          .default(600_000)
          .describe('How long it may work on a message. The time in which it waits for people does not count.'),
        maxCallsAtOnce: z.int().min(1).max(1_000).default(16).describe('Calls at once. Others wait for their turn.'),
        maxCallsPerTenant: z.int().min(1).max(1_000).default(8).describe('Calls of one tenant at once.'),
        maxResponseBytes: z
          .int()
          .min(1_000)
          .max(16_000_000)
          .default(4_000_000)
          .describe('The most that it may send in one call. Each line of a stream counts 64 bytes more than it has.'),
        maxUpdates: z.int().min(1).max(1_000_000).default(10_000).describe('Most updates of a task in one call.'),
        repeatable: z
          .boolean()
          .default(false)
          .describe(
            'It takes a message with the same id once, as Cairn hosts do. Otherwise a person decides about a message that may have been lost.',
          ),
      }),
    )
    .superRefine((peers, context) => refuseTwins(peers, 'name', context))
    .default([])
    .describe('A2A agents that this host may call.'),
  versions: z
    .array(z.enum(a2aVersions))
    .transform((versions) => [...new Set(versions)])
    .default(['1.0'])
    .describe('The versions of the protocol that the host serves, the preferred one first. `[]` turns A2A off.'),
});

export const peersSchema = z
  .array(
    z.strictObject({
      hostId: name.describe('The `hostId` of the other host.'),
      url: address.describe('The address.'),
      answersForUsers: z.boolean().default(false).describe('Whether its answers count where a person must decide.'),
    }),
  )
  .superRefine((peers, context) => refuseTwins(peers, 'hostId', context));

export const visibilitySchema = z.strictObject({
  thoughts: z.enum(['client', 'operator']).default('client').describe('Who can see the reasoning of agents.'),
  minConfidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Reasoning with less confidence than this is visible only to operators.'),
});

/** The two OTLP encodings over HTTP. */
export const otlpProtocols = ['http/protobuf', 'http/json'] as const;

export const otelSchema = z.strictObject({
  endpoint: address.describe('The address of an OTLP collector, without `/v1/traces`.'),
  protocol: z.enum(otlpProtocols).default('http/protobuf').describe('The encoding.'),
  headers: headers
    .default({})
    .describe(
      'Headers of each export: text, or `{ "secret": "<name>" }`. `"prefix": "Bearer "` in it is sent before the secret.',
    ),
  sampling: z.number().min(0).max(1).default(1).describe('The share of traces to export, from 0 to 1.'),
  metricsEveryMs: z.int().min(1000).default(60_000).describe('The interval between exports of metrics.'),
});
