/** Converts a model call to the options of the provider interface. */
import type {
  JSONSchema7,
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { Json, JsonObject } from '@cairn/protocol';
import type { ModelCall } from '../models/model-port.ts';
import type { ModelMessage } from '../models/turn.ts';

/** Schemas are compiled when their tool or agent is registered. */
const schemaOf = (schema: JsonObject): JSONSchema7 => schema as JSONSchema7;

export function callOptions(call: ModelCall): LanguageModelV4CallOptions {
  const { tools, responseSchema, temperature, maxTokens, signal } = call;
  return {
    prompt: promptOf(call),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function' as const,
            name,
            description,
            inputSchema: schemaOf(inputSchema),
          })),
        }),
    ...(responseSchema === undefined
      ? {}
      : { responseFormat: { type: 'json' as const, schema: schemaOf(responseSchema), name: 'result' } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    abortSignal: signal,
  };
}

function promptOf({ system, messages }: ModelCall): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const message of messages) {
    const last = prompt.at(-1);
    // Results of parallel calls share one message.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(toolResult(message));
    else prompt.push(...messageOf(message));
  }
  return prompt;
}

/** Leaves out empty assistant messages: providers reject them. */
function messageOf(message: ModelMessage): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.text }] }];
    case 'tool':
      return [{ role: 'tool', content: [toolResult(message)] }];
    case 'assistant': {
      const { text, toolCalls } = message;
      if (text === '' && toolCalls.length === 0) return [];
      const said = text === '' ? [] : [{ type: 'text' as const, text }];
      const calls = toolCalls.map(({ id, name, input, meta }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input: argumentsOf(input),
        ...(meta === undefined ? {} : { providerOptions: meta as SharedV4ProviderOptions }),
      }));
      return [{ role: 'assistant', content: [...said, ...calls] }];
    }
  }
}

/** Some providers accept only objects as arguments, so any other value is wrapped in one. */
const argumentsOf = (input: Json): Json =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { unreadable: input };

function toolResult(message: ModelMessage & { readonly role: 'tool' }): LanguageModelV4ToolResultPart {
  const { callId, name, output, isError } = message;
  const result =
    typeof output === 'string'
      ? { type: isError ? ('error-text' as const) : ('text' as const), value: output }
      : { type: isError ? ('error-json' as const) : ('json' as const), value: output as JSONValue };
  return { type: 'tool-result', toolCallId: callId, toolName: name, output: result };
}
