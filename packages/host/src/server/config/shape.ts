/** The shape of `cairn.json`: one definition that gives the type, the checks, the JSON Schema, the variables and the page. */
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
import { address, name, path } from './fields.ts';
import { agentsSchema, credentialsSchema, modelsSchema } from './models.ts';
import { a2aSchema, mcpSchema, otelSchema, packsSchema, peersSchema, visibilitySchema } from './outside.ts';
import { toolsSchema } from './tools.ts';

const key = 'dGhpcyBpcyBubyBrZXkgYnV0IDQzIGNoYXJhY3RlcnM';

export const configShape = z.strictObject({
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(4700)
    .meta({ description: 'The port to serve on; `0` takes a free one, which the ready line names.', examples: [8080] }),
  bind: z
    .string()
    .refine((text) => text === 'localhost' || isIP(text) !== 0, { message: 'must be an IP address or localhost' })
    .default('127.0.0.1')
    .meta({
      description:
        'The address to serve on. A loopback address answers only requests that name a loopback host, or that of `publicUrl`.',
      examples: ['0.0.0.0'],
    }),
  data: path
    .default('.cairn')
    .meta({ description: 'The folder of the database. One process at a time.', examples: ['./data'] }),
  hostId: name
    .default('cairn')
    .meta({ description: 'The name of this host in its discovery document and in leases.', examples: ['cairn-eu-1'] }),
  publicUrl: address.optional().meta({
    description: 'The address under which others reach the host, when it is not the bound one.',
    examples: ['https://cairn.example.org'],
  }),
  keys: z
    .array(keySchema)
    .default([])
    .meta({
      description: 'Who may call. A host that serves HTTP needs at least one, or `jwt`.',
      examples: [[{ keyEnv: 'ACME_KEY', tenant: 'acme', principal: 'ci', scopes: ['runs:create', 'runs:read'] }]],
    }),
  jwt: jwtSchema.optional().meta({
    description: 'Bearer tokens of an identity provider, beside the keys.',
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
      'Secrets by name, at least 8 characters each. Headers refer to them as `{ "secret": "<name>" }`; their values are [kept out of the log](security.md#secrets).',
    examples: [{ collector: { env: 'COLLECTOR_TOKEN' } }],
  }),
  masterKey: masterKeySchema.optional().meta({
    description:
      'The key that seals what the host keeps secret: 32 bytes as base64 or hex (`openssl rand -base64 32`). Never in this file itself.',
    examples: [{ file: './master.key', previous: { file: './master-2025.key' } }],
  }),
  workflows: z
    .array(path)
    .default([])
    .meta({
      description: 'Folders; every `*.json` in them is registered at start, for each tenant of the keys.',
      examples: [['./workflows']],
    }),
  packs: packsSchema.prefault({}).meta({
    description: 'Packs of agents. A list is short for `folders`.',
    examples: [['./packs'], { folders: ['./packs'], trust: [{ keyId: 'acme-2026', publicKey: key }] }],
  }),
  agents: agentsSchema
    .prefault({})
    .meta({ description: 'How agents work here.', examples: [{ reasoning: { verbosity: 'full' } }] }),
  models: modelsSchema.prefault({}).meta({
    description: 'Which models agents use, and who serves them.',
    examples: [
      {
        providers: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' } },
        classes: { reasoning: 'local/qwen3' },
      },
    ],
  }),
  credentials: credentialsSchema.default({}).meta({
    description:
      'Keys of providers that runs may ask for by reference (`configurable["ai.credentialRef"]`) instead of the key of the provider.',
    examples: [{ 'acme-openai': { provider: 'openai', key: { secret: 'acme-openai-key' }, tenants: ['acme'] } }],
  }),
  defaultAgent: z
    .string()
    .min(3)
    .max(256)
    .optional()
    .meta({ description: 'The agent of a request that names none.', examples: ['local.acme.desk.triage'] }),
  tools: toolsSchema.prefault({}).meta({
    description: 'Which [tools](tools.md) agents may call.',
    examples: [{ allow: ['openwop:*', 'acme.crm:*'], http: { allow: ['https://api.example.org'] } }],
  }),
  mcp: mcpSchema.prefault({}).meta({
    description: 'Servers of the Model Context Protocol.',
    examples: [
      {
        servers: [
          { id: 'search', url: 'https://mcp.example.org/v1', headers: { authorization: { secret: 'search' } } },
        ],
      },
    ],
  }),
  a2a: a2aSchema.prefault({}).meta({
    description: 'Agents elsewhere, called by the A2A protocol.',
    examples: [{ peers: [{ name: 'billing', url: 'https://billing.example.org/a2a' }] }],
  }),
  peers: peersSchema.default([]).meta({
    description: 'Other hosts whose runs may cause runs here.',
    examples: [[{ hostId: 'cairn-us-1', url: 'https://us.example.org', answersForUsers: true }]],
  }),
  visibility: visibilitySchema
    .prefault({})
    .meta({ description: 'Who sees what of the thoughts of agents.', examples: [{ minConfidence: 0.3 }] }),
  egress: egressSchema.prefault({}).meta({
    description: 'Where the host may send what a caller asked it to send: webhooks, callbacks.',
    examples: [{ allow: ['http://10.0.0.5:8080'] }],
  }),
  cors: corsSchema
    .prefault({})
    .meta({ description: 'Browsers of other origins.', examples: [{ origins: ['https://app.example.org'] }] }),
  limits: limitsSchema
    .prefault({})
    .meta({ description: 'What runs, requests and callers may use.', examples: [{ maxNodeExecutions: 500 }] }),
  otel: otelSchema.optional().meta({
    description: 'Export of traces and metrics by OTLP.',
    examples: [{ endpoint: 'http://127.0.0.1:4318', headers: { authorization: { secret: 'collector' } } }],
  }),
  conformance: z
    .boolean()
    .default(false)
    .meta({
      description:
        'For black-box suites: seams for tests below `/v1/host/sample/`, and in the discovery document a mirror of itself and the workflows of the start. Refused unless `bind` is a loopback address.',
      examples: [true],
    }),
  $schema: z
    .string()
    .optional()
    .meta({
      description: 'The JSON Schema of this file, for editors; the host does not read it.',
      examples: ['./node_modules/@cairn/host/cairn.schema.json'],
    }),
});

export type ParsedConfig = z.infer<typeof configShape>;
