/** The shape of `cairn.json`: the single source of its type, validation, JSON Schema, variables and reference page. */
import { isIP } from 'node:net';
import { z } from 'zod';
import {
  corsSchema,
  egressSchema,
  jwtSchema,
  keySchema,
  limitsSchema,
  masterKeySchema,
  secretsSchema,
} from './access.ts';
import { address, database, name, network, path } from './fields.ts';
import { mcpSchema } from './mcp.ts';
import { agentsSchema, credentialsSchema, modelsSchema } from './models.ts';
import { a2aSchema, otelSchema, packsSchema, peersSchema, visibilitySchema } from './outside.ts';
import { retentionSchema } from './retention.ts';
import { signInsSchema } from './sign-ins.ts';
import { toolsSchema } from './tools.ts';

const key = 'dGhpcyBpcyBubyBrZXkgYnV0IDQzIGNoYXJhY3RlcnM';

export const configShape = z.strictObject({
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(4700)
    .meta({
      description: 'The port to listen on. `0` chooses a free port; the ready line shows it.',
      examples: [8080],
    }),
  bind: z
    .string()
    .refine((text) => text === 'localhost' || isIP(text) !== 0, { message: 'must be an IP address or localhost' })
    .default('127.0.0.1')
    .meta({
      description:
        'The address to listen on. On a loopback address, the host accepts only requests whose `Host` header is a loopback name or that of `publicUrl`.',
      examples: ['0.0.0.0'],
    }),
  data: path.default('.cairn').meta({
    description: 'The folder of the database. Only one process can use it at a time.',
    examples: ['./data'],
  }),
  leaseMs: z
    .int()
    .min(1_000)
    .max(600_000)
    .default(30_000)
    .meta({
      description:
        'How long a run belongs to a node that shows no sign of life, in milliseconds. Then another node goes on with it. Only a store that several nodes share needs a short time.',
      examples: [10_000],
    }),
  store: database.optional().meta({
    description:
      'A PostgreSQL database, for one node or many, instead of the database in `data`. Every node needs the same `masterKey`. "cairn migrate" prepares it. The password is better in the variable.',
    examples: ['postgres://cairn@db.example.org/cairn'],
  }),
  storeListen: database.optional().meta({
    description:
      "The same database without a pooler in between, if `store` leads to a transaction pooler: nodes hear of each other's events there. Default: `store`.",
    examples: ['postgres://cairn@db.example.org:5432/cairn'],
  }),
  hostId: name.optional().meta({
    description:
      'The name of this host towards other hosts, in its discovery document and in leases. No two hosts may have the same. Default: `<machine>/<random>`, generated at the first start and kept in the data folder.',
    examples: ['hosts.example.org/eu-1'],
  }),
  publicUrl: address.optional().meta({
    description: 'The public address of the host, if it differs from the bound address.',
    examples: ['https://cairn.example.org'],
  }),
  trustedProxies: z
    .array(network)
    .default([])
    .meta({
      description:
        'IP addresses, or networks in CIDR notation, of the reverse proxies in front of the host. Their `X-Forwarded-For` header names the client whose failed authentications count.',
      examples: [['127.0.0.1', '10.0.0.0/8']],
    }),
  keys: z
    .array(keySchema)
    .default([])
    .meta({
      description: 'The API keys. A host that serves HTTP needs at least one key, or `jwt`.',
      examples: [[{ keyEnv: 'ACME_KEY', tenant: 'acme', principal: 'ci', scopes: ['runs:create', 'runs:read'] }]],
    }),
  jwt: jwtSchema.optional().meta({
    description: 'Accepts bearer tokens of an identity provider, in addition to keys.',
    examples: [
      {
        issuer: 'https://id.example.org',
        audience: 'cairn',
        jwksUrl: 'https://id.example.org/.well-known/jwks.json',
        claims: { tenant: 'org' },
      },
    ],
  }),
  secrets: secretsSchema.default({}).meta({
    description:
      'Secrets by name, at least 8 characters each. Headers refer to them as `{ "secret": "<name>" }`. The host [keeps their values out of the log](security.md#secrets).',
    examples: [{ collector: { env: 'COLLECTOR_TOKEN' } }],
  }),
  maskKeyShapes: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Masks text that only [looks like a key](security.md#secrets) in what callers send: inputs, `configurable`, `metadata`, `tags`, `scopeId` and trace headers of runs, answers and messages, and reasons. Inputs for `sensitive` variables are sealed instead. Definitions, addresses, and results of models, tools and steps stay as they are.',
      examples: [true],
    }),
  masterKey: masterKeySchema.optional().meta({
    description:
      'The key that encrypts the secrets that the host stores: 32 bytes as base64 or hex (`cairn key`). It cannot be in this file.',
    examples: [{ file: './master.key', previous: { file: './master-2025.key' } }],
  }),
  workflows: z
    .array(path)
    .default([])
    .meta({
      description:
        'Folders with workflow definitions. At start, the host registers every `*.json` file for each tenant of `keys`.',
      examples: [['./workflows']],
    }),
  packs: packsSchema.prefault({}).meta({
    description: 'Packs of agents. A list is a short form of `folders`.',
    examples: [
      ['./packs'],
      { folders: ['./packs'], trust: [{ keyId: 'acme-2026', publicKey: key }] },
      { unsigned: ['./my-packs'] },
    ],
  }),
  agents: agentsSchema
    .prefault({})
    .meta({ description: 'Agent settings.', examples: [{ reasoning: { verbosity: 'full' } }] }),
  models: modelsSchema.prefault({}).meta({
    description: 'The models that agents use, and their providers.',
    examples: [
      {
        providers: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' } },
        classes: { reasoning: 'local/qwen3' },
      },
    ],
  }),
  credentials: credentialsSchema.default({}).meta({
    description:
      'Provider keys that a run can use by reference (`configurable["ai.credentialRef"]`) instead of the key in `models.providers`.',
    examples: [{ 'acme-openai': { provider: 'openai', key: { secret: 'acme-openai-key' }, tenants: ['acme'] } }],
  }),
  defaultAgent: z
    .string()
    .min(3)
    .max(256)
    .optional()
    .meta({ description: 'The agent for requests that name no agent.', examples: ['local.acme.desk.triage'] }),
  tools: toolsSchema.prefault({}).meta({
    description: 'The [tools](tools.md) that agents may call.',
    examples: [{ allow: ['openwop:*', 'acme.crm:*'], http: { allow: ['https://api.example.org'] } }],
  }),
  signIns: signInsSchema.default({}).meta({
    description: 'The services that users [sign in](sign-ins.md) to for the tools that act for them, by name.',
    examples: [
      {
        github: {
          kind: 'oauth2',
          authorizationEndpoint: 'https://github.com/login/oauth/authorize',
          tokenEndpoint: 'https://github.com/login/oauth/access_token',
          clientId: 'Iv1.1234567890abcdef',
          clientSecret: { secret: 'github' },
        },
        linear: { kind: 'api-key', infoUrl: 'https://linear.app/settings/api' },
      },
    ],
  }),
  mcp: mcpSchema.prefault({}).meta({
    description: 'Servers of the [Model Context Protocol](mcp.md).',
    examples: [
      {
        servers: [
          {
            id: 'search',
            url: 'https://mcp.example.org/v1',
            headers: { authorization: { secret: 'search', prefix: 'Bearer ' } },
          },
        ],
      },
    ],
  }),
  a2a: a2aSchema.prefault({}).meta({
    description: 'The [A2A protocol](a2a.md).',
    examples: [{ versions: ['1.0', '0.3'] }],
  }),
  peers: peersSchema.default([]).meta({
    description: 'Other hosts whose runs may start runs on this host.',
    examples: [[{ hostId: 'cairn-us-1', url: 'https://us.example.org', answersForUsers: true }]],
  }),
  visibility: visibilitySchema
    .prefault({})
    .meta({ description: 'Who can see the reasoning of agents.', examples: [{ minConfidence: 0.3 }] }),
  egress: egressSchema.prefault({}).meta({
    description: 'Addresses that the host may call for a caller: webhooks and callbacks.',
    examples: [{ allow: ['http://10.0.0.5:8080'] }],
  }),
  cors: corsSchema.prefault({}).meta({
    description: 'Cross-origin requests from browsers.',
    examples: [{ origins: ['https://app.example.org'] }],
  }),
  limits: limitsSchema
    .prefault({})
    .meta({ description: 'Limits for runs, requests and callers.', examples: [{ maxNodeExecutions: 500 }] }),
  retention: retentionSchema.default([]).meta({
    description:
      'Rules for how long [runs that have ended](retention.md) stay. The first rule that matches a run decides. Without rules they stay for ever.',
    examples: [[{ workflow: 'audit', afterDays: 365 }, { tenant: 'acme', keepLast: 1000 }, { afterDays: 30 }]],
  }),
  otel: otelSchema.optional().meta({
    description: 'Exports traces and metrics with OTLP.',
    examples: [
      { endpoint: 'http://127.0.0.1:4318', headers: { authorization: { secret: 'collector', prefix: 'Bearer ' } } },
    ],
  }),
  conformance: z
    .boolean()
    .default(false)
    .meta({
      description:
        'For black-box test suites: test endpoints below `/v1/host/sample/`. The discovery document then also contains a copy of itself and the workflows registered at start. Requires a loopback address in `bind`.',
      examples: [true],
    }),
  $schema: z
    .string()
    .optional()
    .meta({
      description: 'The JSON Schema of this file, for editors. The host ignores it.',
      examples: ['./node_modules/@cairn/host/cairn.schema.json'],
    }),
});

export type ParsedConfig = z.infer<typeof configShape>;
