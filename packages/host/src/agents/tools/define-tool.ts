/** Defines a tool as a function with input and output schemas. This is the public API for custom tools. */
import { type Json, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { StepSafety } from '../../engine/ports.ts';
import { compileSchema, schemaProblems } from '../../engine/values/schemas.ts';
import { type OptionNames, refuseUnknownOptions } from '../../engine/workflow/known-options.ts';
import { hostileArguments } from './hostile-arguments.ts';
import type { CheckedInput, HostToolContext, Tool, ToolContext } from './tool.ts';
import { MAX_TOOL_ID, toolIdPattern } from './tool-registry.ts';
import { parsed, toolSchemaOf } from './zod-schemas.ts';

/** `Result` is the type of `output`, and then of what `run` returns; without a zod schema it is open. */
export interface ToolOptions<Input, Result = unknown> {
  /** `<scope>:<tool>`, up to 64 characters; the scope is yours, such as `acme.crm`. */
  readonly id: string;
  readonly title?: string;
  /** What the tool does and when to use it. The model decides by this text. */
  readonly description: string;
  /** The host parses arguments with this schema before the function runs. The model sees its JSON Schema. */
  readonly input: z.ZodType<Input>;
  /** Schema of the result: a zod schema, which also types what `run` returns, or a JSON Schema. */
  readonly output?: z.ZodType<unknown, Result> | JsonObject;
  /**
   * Recovery rule for a call whose result was never recorded; a function may decide by the arguments. Default `write`:
   * a person decides.
   */
  readonly safety?: StepSafety | ((input: Input) => StepSafety);
  /** Limit for one entry into the function. Default 60,000. */
  readonly timeoutMs?: number;
  /** Scopes, each `tool:<name>`, that the principal that starts the run must hold. */
  readonly needs?: readonly string[];
  /** Names of configured secrets that the tool may read with `context.secret`. */
  readonly secrets?: readonly string[];
  /**
   * False when its results hold only text that you wrote. Default true: the model is told not to follow instructions in
   * them.
   */
  readonly untrusted?: boolean;
  /** Returns JSON of up to 240 KB. Throw a TerminalError or RetryableError to give the agent a code and a message. */
  run(input: Input, context: ToolContext): Promise<NoInfer<Result>> | NoInfer<Result>;
}

/** Adds the options that only built-in tools have. */
export interface HostToolOptions<Input, Result = unknown> extends Omit<ToolOptions<Input, Result>, 'run'> {
  readonly egress: Tool['egress'];
  run(input: Input, context: HostToolContext): Promise<NoInfer<Result>> | NoInfer<Result>;
}

/** Scopes of tool ids that are reserved. */
const reservedScopes: readonly string[] = ['openwop', 'mcp', 'a2a', 'connector', 'core', 'cairn', 'client'];

const DEFAULT_TIMEOUT_MS = 60_000;
/** The longest delay a timer supports. */
const MAX_TIMEOUT_MS = 2_147_483_647;
const safeties: readonly string[] = ['pure', 'read', 'idempotent', 'write'] satisfies StepSafety[];
const toolScope = /^tool:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const optionNames: OptionNames<ToolOptions<unknown>> = {
  id: true,
  title: true,
  description: true,
  input: true,
  output: true,
  safety: true,
  timeoutMs: true,
  needs: true,
  secrets: true,
  untrusted: true,
  run: true,
};

/** Throws `config_invalid` for invalid and unknown options. */
export function defineTool<Input, Result = unknown>(options: ToolOptions<Input, Result>): Tool {
  refuseUnknownOptions(`The tool ${quoted(options.id, 80)}`, options, optionNames);
  refuseOtherTypes(options);
  const scope = options.id.slice(0, options.id.indexOf(':'));
  if (reservedScopes.includes(scope)) {
    throw unfit(options.id, `the scope ${scope} is reserved`, 'Use a scope of your own, such as acme.crm.');
  }
  return hostTool({ ...options, egress: 'host-owned', run: (input, context) => options.run(input, context) });
}

/** For programs in JavaScript, which no compiler checks. */
function refuseOtherTypes(options: Readonly<Record<'id' | 'description' | 'input' | 'run', unknown>>): void {
  const { description, input, run } = options;
  const id = String(options.id);
  if (typeof options.id !== 'string') throw unfit(id, 'its id is not a text', 'Use an id such as acme.crm:lookup.');
  if (typeof description !== 'string') throw unfit(id, 'it has no description', DESCRIBE);
  if (typeof input !== 'object' || input === null || !('_zod' in input)) {
    throw unfit(id, 'its input is not a schema of zod 4', 'Write z.object({ … }) with the z that @cairn/host exports.');
  }
  if (typeof run !== 'function') throw unfit(id, 'it has no function run', 'Write run(input, context) { … }.');
}

const DESCRIBE = 'Say what it does: the model decides by it.';

/** Like `defineTool`, for built-in tools. */
export function hostTool<Input, Result = unknown>(options: HostToolOptions<Input, Result>): Tool {
  checkOptions(options);
  const { id, description, input, safety = 'write', timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const output = outputOf(id, options.output);
  const check = (given: Json): CheckedInput => checked(input, given);
  return {
    id,
    title: options.title,
    description,
    inputSchema: inputSchemaOf(id, input),
    outputSchema: output.schema,
    safety: typeof safety === 'function' ? 'write' : safety,
    timeoutMs,
    needs: options.needs ?? [],
    secrets: options.secrets ?? [],
    untrusted: options.untrusted ?? true,
    egress: options.egress,
    check,
    safetyOf: typeof safety === 'function' ? (given) => safetyOf(check(given), safety) : () => safety,
    run: async (parsed, context) => options.run(parsed as Input, context),
    outputProblems: output.problems,
  };
}

function checkOptions<Input>(options: Omit<HostToolOptions<Input>, 'output' | 'run'>): void {
  const { id, description, safety, timeoutMs, needs = [] } = options;
  if (!toolIdPattern.test(id) || id.length > MAX_TOOL_ID) {
    throw unfit(id, `an id is <scope>:<tool>, at most ${MAX_TOOL_ID} characters`, 'Use an id such as acme.crm:lookup.');
  }
  if (description.trim() === '') throw unfit(id, 'it has no description', DESCRIBE);
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw unfit(id, `timeoutMs is ${timeoutMs}`, `Give a whole number of milliseconds, at most ${MAX_TIMEOUT_MS}.`);
  }
  if (typeof safety === 'string' && !safeties.includes(safety)) {
    throw unfit(id, `its safety is ${quoted(safety, 40)}`, `Say one of ${safeties.join(', ')}.`);
  }
  const wrong = needs.find((scope) => !toolScope.test(scope));
  if (wrong === undefined) return;
  throw unfit(id, `it needs ${quoted(wrong, 80)}`, 'Scopes of tools begin with tool:, such as tool:refunds.');
}

function checked<Input>(schema: z.ZodType<Input>, given: Json): CheckedInput {
  const hostile = hostileArguments(given);
  if (hostile !== null) return { ok: false, problems: [hostile] };
  const read = parsed(schema, given);
  if ('value' in read) return { ok: true, input: read.value };
  return { ok: false, problems: 'refused' in read ? [read.refused] : read.problems };
}

/** Falls back to `write`, so that a person decides, when the function throws or returns an unknown safety. */
function safetyOf<Input>(parsed: CheckedInput, safety: (input: Input) => StepSafety): StepSafety {
  if (!parsed.ok) return 'write';
  try {
    const said = safety(parsed.input as Input);
    return safeties.includes(said) ? said : 'write';
  } catch {
    return 'write';
  }
}

function inputSchemaOf(id: string, input: z.ZodType): JsonObject {
  const schema = schemaOf(id, 'input', input);
  if (schema.type === 'object') return schema;
  throw unfit(id, 'its input is not an object', 'Wrap what it takes in a z.object.');
}

function schemaOf(id: string, side: 'input' | 'output', schema: z.ZodType): JsonObject {
  try {
    return toolSchemaOf(schema);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unfit(id, `its ${side} has no JSON Schema: ${reason}`, 'Use types of zod that JSON knows.');
  }
}

interface Output {
  readonly schema: JsonObject | undefined;
  readonly problems: (result: Json) => readonly string[];
}

function outputOf(id: string, output: z.ZodType | JsonObject | undefined): Output {
  if (output === undefined) return { schema: undefined, problems: () => [] };
  if (output instanceof z.ZodType) {
    const problems = (result: Json): readonly string[] => {
      const read = parsed(output, result);
      if ('value' in read) return [];
      return 'refused' in read ? [read.refused] : read.problems;
    };
    return { schema: schemaOf(id, 'output', output), problems };
  }
  try {
    compileSchema(output);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unfit(id, `its output is not a JSON Schema: ${reason}`, 'Correct the schema.');
  }
  return { schema: output, problems: (result) => schemaProblems(output, result) };
}

const unfit = (id: string, why: string, hint: string): TerminalError =>
  new TerminalError('config_invalid', { message: `The tool ${quoted(id, 80)} cannot be defined: ${why}.`, hint });
