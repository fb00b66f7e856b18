/** A step written as a function. The engine records its result and never computes a recorded result again. */
import { type Json, type JsonObject, TerminalError } from '@cairn/protocol';
import type { z } from 'zod';
import type { Step, StepContext, StepSafety } from '../ports.ts';

export interface StepOptions<Input> {
  /** Letters, digits, `.`, `_` and `-`; a workflow names the step as `local.step.<name>`. */
  readonly name: string;
  /** How to recover a call whose result was never recorded. Default `write`: ask a human. */
  readonly safety?: StepSafety;
  /** Parses the input before the function runs; without it the input is any JSON object. */
  readonly input?: z.ZodType<Input>;
  /** Its result must be JSON. Throw a RetryableError for a transient failure, a TerminalError for a permanent one. */
  run(input: Input, context: StepContext): Promise<unknown>;
}

/** A step that carries the type of its input, for `defineWorkflow`. */
export interface DefinedStep<Input = JsonObject> extends Step {
  readonly inputType?: Input;
}

const wellFormed = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

export function defineStep<Input = JsonObject>(options: StepOptions<Input>): DefinedStep<Input> {
  const { name, safety = 'write', input } = options;
  if (!wellFormed.test(name) || name.length > 100) {
    throw new TerminalError('config_invalid', {
      message: `${JSON.stringify(name)} cannot be the name of a step.`,
      hint: 'Use up to 100 letters, digits, dots, underscores and hyphens, a letter or digit first.',
    });
  }
  const typeId = `local.step.${name}`;
  return {
    typeId,
    safety,
    async run(given, context) {
      const parsed = input === undefined ? (given as Input) : parseInput(typeId, input, given);
      return (await options.run(parsed, context)) as Json;
    },
  };
}

function parseInput<Input>(typeId: string, schema: z.ZodType<Input>, given: JsonObject): Input {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the input'}: ${message}`);
  throw new TerminalError('config_validation_failed', {
    message: `The input of ${typeId} does not fit: ${problems.join('; ')}.`,
    hint: 'Check the inputs and the config of the node against what the step takes.',
    details: { typeId, problems },
  });
}
