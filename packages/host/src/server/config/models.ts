/** The keys of the configuration about models: who serves them, which is used for what, and the keys that callers may bring. */
import { modelClasses } from '@cairn/protocol';
import { z } from 'zod';
import { modelCapabilities } from '../../agents/models/model-port.ts';
import { providerKinds } from '../../agents/providers/provider-config.ts';
import { address, headers, label, name } from './fields.ts';

/** It is there without being configured, and plays the rehearsals of agents. */
const BUILT_IN = 'scripted';

const modelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/\S+$/, 'must be <provider>/<model>, such as local/qwen3')
  .max(256);

const dollars = z.number().min(0);

const modelSchema = z.strictObject({
  prices: z
    .strictObject({
      input: dollars.describe('Of a million input tokens.'),
      output: dollars.describe('Of a million output tokens, reasoning among them.'),
      cacheRead: dollars.optional().describe('Of a million input tokens out of a cache. Default: `input`.'),
      cacheWrite: dollars.optional().describe('Of a million input tokens into a cache. Default: `input`.'),
    })
    .optional()
    .describe('In US dollars. Without them a run of this model cannot have a budget in money.'),
  contextTokens: z
    .int()
    .min(1)
    .optional()
    .describe('How many tokens a request and its answer may have together. Default: 32768.'),
  capabilities: z
    .array(z.enum(modelCapabilities))
    .optional()
    .describe('What it can do. Default: all. A request that needs more is refused before the call.'),
});

const providerSchema = z.strictObject({
  kind: z.enum(providerKinds).describe('Which interface it speaks.'),
  baseUrl: address.optional().describe('Its address; `openai-compatible` needs one.'),
  apiKey: z.strictObject({ secret: label }).optional().describe('The key, as the name of one of the `secrets`.'),
  headers: headers.default({}).describe('Headers to send with each call: text, or `{ "secret": "<name>" }`.'),
  maxSilenceMs: z
    .int()
    .min(1000)
    .max(300_000)
    .default(120_000)
    .describe('How long a model may be silent, before its first word and between two, until the call is given up.'),
  models: z
    .record(z.string().min(1).max(256), modelSchema)
    .default({})
    .describe('What is known of its models, by their names there. Others can be used as well.'),
});

export const agentsSchema = z.strictObject({
  lowConfidence: z
    .enum(['ask', 'suppress'])
    .default('ask')
    .describe(
      'What becomes of a decision that an agent states with less confidence than its threshold: a person is asked, or it passes and the log says so (`cap.breached`).',
    ),
  reasoning: z
    .strictObject({
      verbosity: z
        .enum(['summary', 'full', 'off'])
        .default('summary')
        .describe('Unless a run or a node says otherwise.'),
      tokenLimit: z.int().min(1).max(100_000).default(512).describe('Most tokens of a summary.'),
    })
    .prefault({})
    .describe('What is kept of the reasoning of agents.'),
});

export const modelsSchema = z
  .strictObject({
    providers: z.record(label, providerSchema).default({}).describe('Who serves models, by a name of your own.'),
    classes: z
      .partialRecord(z.enum(modelClasses), modelName)
      .default({})
      .describe('Which model serves a model class, as `<provider>/<model>`.'),
    default: modelName.optional().describe('The model of every other class.'),
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
    provider: label.describe('The provider of `models` whose key it is; it is sent nowhere else.'),
    key: z.strictObject({ secret: label }).describe('The key, as the name of one of the `secrets`.'),
    tenants: z.array(name).min(1).optional().describe('Whose runs may use it. Default: those of every tenant.'),
  }),
);
