/** A step written as a function. The engine records its result and never computes a recorded result again. */
import { type Json, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import type { z } from 'zod';
import type { Step, StepContext, StepSafety } from '../ports.ts';
import { type OptionNames, refuseUnknownOptions } from './known-options.ts';

export interface StepOptions<Input, Result = unknown> {
  /** Letters, digits, `.`, `_` and `-`; a workflow names the step as `local.step.<name>`. */
  readonly name: string;
  /** How to recover a call whose result was never recorded. Default `write`: ask a human. */
  readonly safety?: StepSafety;
  /** Parses the input before the function runs; without it the input is any JSON object. */
  readonly input?: z.ZodType<Input>;
  /** Its result must be JSON. Throw a RetryableError for a transient failure, a TerminalError for a permanent one. */
  run(input: Input, context: StepContext): Promise<Result>;
}

declare const types: unique symbol;

/** A step that carries the types of its input and result, for `defineWorkflow`. */
export interface DefinedStep<Input = JsonObject, Result = unknown> extends Step {
  /** Not there at run time. */
  readonly [types]?: { readonly input: Input; readonly result: Result };
}

/** The input of a step. */
export type InputOfStep<Of> = Of extends DefinedStep<infer Input, infer _> ? Input : never;
/** What the function of a step returns. */
export type ResultOfStep<Of> = Of extends DefinedStep<infer _, infer Result> ? Result : never;

const optionNames: OptionNames<StepOptions<unknown>> = { name: true, safety: true, input: true, run: true };

const wellFormed = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/** Throws `config_invalid` for a name that cannot be one and for unknown options. */
export function defineStep<Input = JsonObject, Result = unknown>(
  options: StepOptions<Input, Result>,
): DefinedStep<Input, Result> {
  const { name, safety = 'write', input } = options;
  refuseUnknownOptions(`The step ${quoted(name, 120)}`, options, optionNames);
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
