/** The protocol's mock providers for test keys. Each is a small script that replaces a run's model. */
import { finishReasons, type JsonObject, modelErrorClasses, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Clock } from '../../../engine/ports.ts';
import type { Model } from '../model-port.ts';
import type { Action, Script } from './script.ts';
import { type ScriptedModelOptions, scriptedModel } from './scripted-model.ts';

const delayMs = z.int().min(0).max(5000).default(0);
const tokenCount = z.int().min(0);
/** Accepts the token field names of chunks, or those of the rest of the host. */
const usage = z
  .strictObject({
    promptTokens: tokenCount.optional(),
    completionTokens: tokenCount.optional(),
    totalTokens: tokenCount.optional(),
    inputTokens: tokenCount.optional(),
    outputTokens: tokenCount.optional(),
  })
  .transform((given) => ({
    inputTokens: given.inputTokens ?? given.promptTokens ?? 0,
    outputTokens: given.outputTokens ?? given.completionTokens ?? 0,
  }));
const toolCall = z
  .strictObject({
    id: z.string().optional(),
    name: z.string().min(1).optional(),
    toolId: z.string().min(1).optional(),
    arguments: z.record(z.string(), z.json()).default({}),
  })
  .refine(({ name, toolId }) => (name ?? toolId) !== undefined, { message: 'needs a name or a toolId' });

const configs = {
  'stream-text': z.strictObject({
    tokens: z.array(z.string()).min(1).max(10_000).default(['mock', ' response']),
    delayMsPerToken: delayMs,
    finishReason: z.enum(finishReasons).default('stop'),
    usage: usage.optional(),
    model: z.string().min(1).max(256).default('mock-stream-text-v1'),
  }),
  'tool-calls': z.strictObject({ toolCalls: z.array(toolCall).min(1).max(100), delayMsPerToken: delayMs }),
  error: z.strictObject({
    code: z.string().min(1).max(128).default('mock_error'),
    message: z.string().max(2000).default('The mock provider fails, as it was told to.'),
    retryable: z.boolean().default(false),
    failAfterMs: z.int().min(0).max(60_000).default(0),
  }),
  'usage-only': z.strictObject({ usage: usage.prefault({}) }),
} as const;

type MockId = keyof typeof configs;
type ConfigOf<Id extends MockId> = z.infer<(typeof configs)[Id]>;

/** The mock providers listed in the discovery document. */
export const mockProviderIds = Object.keys(configs) as readonly MockId[];

export interface MockChoice {
  readonly id: string;
  readonly config?: JsonObject | undefined;
}

/** Creates the mock model. Throws `unsupported_mock_provider`. */
export const mockModel = (wish: MockChoice, clock: Clock): Model =>
  scriptedModel({ ...mockPart(wish), clock, provider: 'mock', isVerbatim: true, repeatsLast: true });

/** Builds the script that a mock plays. Throws `unsupported_mock_provider` with the path of each problem. */
export function mockPart(wish: MockChoice): MockPart {
  const playing = (...turns: Script['turns']): MockPart => ({ script: { turns }, model: `mock-${wish.id}-v1` });
  switch (wish.id) {
    case 'stream-text':
      return streamText(parsed('stream-text', wish));
    case 'tool-calls':
      return playing(...toolCallTurns(parsed('tool-calls', wish)));
    case 'error':
      return playing(errorTurn(parsed('error', wish)));
    case 'usage-only':
      return playing([{ usage: parsed('usage-only', wish).usage }]);
    default:
      throw new TerminalError('unsupported_mock_provider', {
        message: `There is no mock provider ${quoted(wish.id, 80)}.`,
        hint: `This host has ${mockProviderIds.join(', ')}.`,
        details: { supported: mockProviderIds },
      });
  }
}

type MockPart = Pick<ScriptedModelOptions, 'script' | 'model' | 'keepsTail' | 'wholeText'>;

function streamText({
  tokens,
  delayMsPerToken,
  finishReason,
  model,
  usage: stated,
}: ConfigOf<'stream-text'>): MockPart {
  const said: Action[] = tokens.flatMap((token) => [...paced(delayMsPerToken), { say: [token] }]);
  const counted = stated ?? { inputTokens: 0, outputTokens: tokens.length };
  const script = { turns: [[...said, { usage: counted }, { finish: finishReason }]] };
  return { script, model, keepsTail: true, wholeText: tokens.join('') };
}

function toolCallTurns({ toolCalls, delayMsPerToken }: ConfigOf<'tool-calls'>): Script['turns'] {
  const asked: Action[] = toolCalls.flatMap(({ name, toolId, arguments: input }) => [
    ...paced(delayMsPerToken),
    { call: { tool: toolId ?? name ?? '', input: input as JsonObject } },
  ]);
  return [asked, [{ say: ['done'] }]];
}

function errorTurn({ code, message, retryable, failAfterMs }: ConfigOf<'error'>): Action[] {
  const known = modelErrorClasses.find((kind) => kind === code);
  const fail = { class: known ?? 'unknown', message: `${message} (${code})`, retryable };
  return [...paced(failAfterMs), { fail }];
}

const paced = (ms: number): Action[] => (ms === 0 ? [] : [{ delay: ms }]);

function parsed<Id extends MockId>(id: Id, { config = {} }: MockChoice): ConfigOf<Id> {
  const result = configs[id].safeParse(config);
  if (result.success) return result.data as ConfigOf<Id>;
  const problems = result.error.issues.map(({ path, message }) => `${['config', ...path].join('.')}: ${message}`);
  throw new TerminalError('unsupported_mock_provider', {
    message: `The mock provider ${id} does not take this configuration: ${problems.join('; ')}.`,
    hint: 'See the page about models.',
    details: { problems },
  });
}
