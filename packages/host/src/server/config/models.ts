/** The configuration keys for models: providers, model classes, and the credentials that callers may use. */
import { modelClasses } from '@cairn/protocol';
import { z } from 'zod';
import { modelCapabilities } from '../../agents/models/model-port.ts';
import { providerKinds } from '../../agents/providers/provider-config.ts';
import { address, headers, label, name } from './fields.ts';
import { identitiesSchema } from './identities.ts';

/** This provider needs no configuration and serves the rehearsals of agents. */
const BUILT_IN = 'scripted';

const modelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/\S+$/, 'must be <provider>/<model>, such as local/qwen3')
  .max(256);

const dollars = z.number().min(0);

const modelSchema = z.strictObject({
  prices: z
    .strictObject({
      input: dollars.describe('Per million input tokens.'),
      output: dollars.describe('Per million output tokens, including reasoning.'),
      cacheRead: dollars.optional().describe('Per million input tokens read from a cache. Default: `input`.'),
      cacheWrite: dollars.optional().describe('Per million input tokens written to a cache. Default: `input`.'),
    })
    .optional()
    .describe('Prices in US dollars. Without them, a run that uses this model cannot have a cost budget.'),
  contextTokens: z
    .int()
    .min(1)
    .optional()
    .describe('The maximum number of tokens of a request and its response. Default: 32768.'),
  capabilities: z
    .array(z.enum(modelCapabilities))
    .optional()
    .describe(
      'The capabilities of the model. Default: all. If a request needs a missing one, the host refuses it before the call.',
    ),
});

const providerSchema = z.strictObject({
  kind: z.enum(providerKinds).describe('The API of the provider.'),
  baseUrl: address.optional().describe('The address of the provider. Required for `openai-compatible`.'),
  apiKey: z.strictObject({ secret: label }).optional().describe('The API key, as the name of one of the `secrets`.'),
  headers: headers
    .default({})
    .describe(
      'Headers of each call: text, or `{ "secret": "<name>" }`. `"prefix": "Bearer "` in it is sent before the secret.',
    ),
  maxSilenceMs: z
    .int()
    .min(1000)
    .max(300_000)
    .default(120_000)
    .describe(
      'The maximum silence of a model, before its first token and between two tokens. Then the host gives up the call.',
    ),
  models: z
    .record(z.string().min(1).max(256), modelSchema)
    .default({})
    .describe('Known models, by their names at the provider. Other models also work.'),
});

export const agentsSchema = z.strictObject({
  lowConfidence: z
    .enum(['ask', 'suppress'])
    .default('ask')
    .describe(
      'What happens to a decision with less confidence than the threshold: `ask` asks a person, `suppress` lets it pass and writes `cap.breached`.',
    ),
  coordinatorTimeoutMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(10_000)
    .describe(
      'How long the agent of a task may take to answer a question of a task below it, in ms. Then the agent above it is asked, and finally the user. `0` asks the user at once.',
    ),
  identities: identitiesSchema
    .default({})
    .describe(
      'Who agents are [in other systems](identity.md#identities-in-other-systems), by agent id: `{ "did": "did:web:..." }`, `{ "a2aCard": "https://...", "keys": [] }` or `{ "agntcy": { "gatewayId": "...", "agentId": "..." } }`.',
    ),
  internalEvents: z
    .boolean()
    .default(false)
    .describe(
      'Whether the loops of agents in new runs also record each stage, model call and iteration, as `internal:*` events for operators.',
    ),
  reasoning: z
    .strictObject({
      verbosity: z
        .enum(['summary', 'full', 'off'])
        .default('summary')
        .describe('How much reasoning the log records, unless a run or a node overrides it.'),
      tokenLimit: z.int().min(1).max(100_000).default(512).describe('The maximum number of tokens of a summary.'),
    })
    .prefault({})
    .describe('Recording of the reasoning of agents.'),
});

export const modelsSchema = z
  .strictObject({
    providers: z.record(label, providerSchema).default({}).describe('Model providers, by a name of your choice.'),
    classes: z
      .partialRecord(z.enum(modelClasses), modelName)
      .default({})
      .describe('The model for each model class, as `<provider>/<model>`.'),
    default: modelName.optional().describe('The model for all other classes.'),
  })
  .superRefine(({ providers, classes, default: usual }, context) => {
    const refuse = (path: readonly string[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message });
    if (Object.hasOwn(providers, BUILT_IN)) refuse(['providers', BUILT_IN], 'is the name of the built-in provider');
    for (const [key, { kind, baseUrl }] of Object.entries(providers)) {
      if (kind === 'openai-compatible' && baseUrl === undefined) {
        refuse(['providers', key, 'baseUrl'], 'is missing: an openai-compatible provider needs its address');
      }
    }
    const named = Object.entries(classes).map(([key, model]) => ({ path: ['classes', key], model }));
    const all = usual === undefined ? named : [...named, { path: ['default'], model: usual }];
    for (const { path, model } of all) {
      const provider = model.slice(0, model.indexOf('/'));
      if (provider === BUILT_IN || Object.hasOwn(providers, provider)) continue;
      refuse(path, `names the provider ${JSON.stringify(provider)}, which models.providers does not have`);
    }
  });

export const credentialsSchema = z.record(
  label,
  z.strictObject({
    provider: label.describe('The provider in `models` that the key belongs to. The host sends it nowhere else.'),
    key: z.strictObject({ secret: label }).describe('The API key, as the name of one of the `secrets`.'),
    tenants: z.array(name).min(1).optional().describe('The tenants whose runs may use it. Default: all.'),
  }),
);
