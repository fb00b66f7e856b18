/** The configuration keys for external resources: packs, other servers and hosts, telemetry. */
import { z } from 'zod';
import { a2aVersions } from '../a2a/versions.ts';
import { address, headers, label, name, path } from './fields.ts';

const folders = z.array(path);

const packsObject = z.strictObject({
  folders: folders
    .default([])
    .describe('Pack folders, or folders that contain pack folders. The host installs them at start, for every tenant.'),
  unsigned: folders
    .default([])
    .describe(
      'Like `folders`, for packs that need no signature. Whoever can write to such a folder can change the agents of every tenant.',
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

export const mcpSchema = z.strictObject({
  servers: z
    .array(
      z.strictObject({
        id: label.max(64).describe('The name of the server in the ids of its tools, `mcp:<id>/<tool>`.'),
        url: address.describe('The address, for streamable HTTP. It may be in a private network.'),
        headers: headers.default({}).describe('Headers of each request: text, or `{ "secret": "<name>" }`.'),
        needs: z
          .array(z.string().regex(/^tool:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be tool:<name>'))
          .default([])
          .describe('Scopes, each `tool:<name>`, that the starter of a run must hold to use its tools.'),
        timeoutMs: z.int().min(1).max(3_600_000).default(60_000).describe('How long a call may take.'),
        maxCallsAtOnce: z.int().min(1).max(1_000).default(16).describe('Calls at once. Others wait for their turn.'),
        maxResponseBytes: z
          .int()
          .min(1_000)
          .max(4_000_000)
          .default(1_000_000)
          .describe('The most that the server may send in one call.'),
        listEveryMs: z.int().min(1_000).default(300_000).describe('How long a list of its tools is used.'),
        trustAnnotations: z
          .boolean()
          .default(false)
          .describe(
            'Believe the server which of its tools only read or may be repeated. Otherwise a person decides about a call that was interrupted.',
          ),
      }),
    )
    .superRefine((servers, context) => refuseTwins(servers, 'id', context))
    .default([])
    .describe('MCP servers whose tools agents may use.'),
});

export const a2aSchema = z.strictObject({
  peers: z
    .array(
      z.strictObject({
        name: label.describe('The name of the peer in workflows and agent definitions.'),
        url: address.describe('The address.'),
      }),
    )
    .superRefine((peers, context) => refuseTwins(peers, 'name', context))
    .default([])
    .describe('A2A agents that this host may call. This version validates them but does not use them yet.'),
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
  headers: headers.default({}).describe('Headers of each export: text, or `{ "secret": "<name>" }`.'),
  sampling: z.number().min(0).max(1).default(1).describe('The share of traces to export, from 0 to 1.'),
  metricsEveryMs: z.int().min(1000).default(60_000).describe('The interval between exports of metrics.'),
});

/** Refuses two entries with the same name, because a reference would be ambiguous. */
function refuseTwins<Key extends string>(
  entries: readonly Readonly<Record<Key, string>>[],
  key: Key,
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [i, entry] of entries.entries()) {
    if (seen.has(entry[key])) context.addIssue({ code: 'custom', path: [i, key], message: 'is there twice' });
    seen.add(entry[key]);
  }
}
