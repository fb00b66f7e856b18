/** Defines a tool as a function with input and output schemas. This is the public API for custom tools. */
import { type Json, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { StepSafety } from '../../engine/ports.ts';
import { compileSchema, schemaProblems } from '../../engine/values/schemas.ts';
import { hostileArguments } from './hostile-arguments.ts';
import type { CheckedInput, HostToolContext, Tool, ToolContext } from './tool.ts';
import { MAX_TOOL_ID, toolIdPattern } from './tool-registry.ts';

export interface ToolOptions<Input> {
  /** `<scope>:<tool>`, up to 64 characters; the scope is yours, such as `acme.crm`. */
  readonly id: string;
  readonly title?: string;
  /** What the tool does and when to use it. The model decides by this text. */
  readonly description: string;
  /** The host parses arguments with this schema before the function runs. The model sees its JSON Schema. */
  readonly input: z.ZodType<Input>;
  /** Schema of the result: a zod schema or a JSON Schema. */
  readonly output?: z.ZodType | JsonObject;
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
  run(input: Input, context: ToolContext): Promise<unknown> | unknown;
}

/** Adds the options that only built-in tools have. */
export interface HostToolOptions<Input> extends Omit<ToolOptions<Input>, 'run'> {
  readonly egress: Tool['egress'];
  run(input: Input, context: HostToolContext): Promise<unknown> | unknown;
}

/** Scopes of tool ids that are reserved. */
const reservedScopes: readonly string[] = ['openwop', 'mcp', 'a2a', 'connector', 'core', 'cairn'];

const DEFAULT_TIMEOUT_MS = 60_000;
/** The longest delay a timer supports. */
const MAX_TIMEOUT_MS = 2_147_483_647;
const safeties: readonly string[] = ['pure', 'read', 'idempotent', 'write'] satisfies StepSafety[];
const toolScope = /^tool:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function defineTool<Input>(options: ToolOptions<Input>): Tool {
  const scope = options.id.slice(0, options.id.indexOf(':'));
  if (reservedScopes.includes(scope)) {
    throw unfit(options.id, `the scope ${scope} is reserved`, 'Use a scope of your own, such as acme.crm.');
  }
  return hostTool({ ...options, egress: 'host-owned', run: (input, context) => options.run(input, context) });
}

/** Like `defineTool`, for built-in tools. */
export function hostTool<Input>(options: HostToolOptions<Input>): Tool {
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

function checkOptions<Input>({ id, description, safety, timeoutMs, needs = [] }: HostToolOptions<Input>): void {
  if (!toolIdPattern.test(id) || id.length > MAX_TOOL_ID) {
    throw unfit(id, `an id is <scope>:<tool>, at most ${MAX_TOOL_ID} characters`, 'Use an id such as acme.crm:lookup.');
  }
  if (description.trim() === '') throw unfit(id, 'it has no description', 'Say what it does: the model decides by it.');
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

const MAX_PROBLEMS = 5;

function checked<Input>(schema: z.ZodType<Input>, given: Json): CheckedInput {
  const hostile = hostileArguments(given);
  if (hostile !== null) return { ok: false, problems: [hostile] };
  const parsed = parse(schema, given);
  if ('refused' in parsed) return { ok: false, problems: [parsed.refused] };
  if (parsed.success) return { ok: true, input: parsed.data };
  return { ok: false, problems: issuesOf(parsed.error) };
}

/** An asynchronous schema, or one whose own code throws, rejects every value. */
function parse<Input>(schema: z.ZodType<Input>, given: Json): z.ZodSafeParseResult<Input> | { refused: string } {
  try {
    return schema.safeParse(given);
  } catch {
    // The thrown message is not repeated: it has not been redacted.
    return { refused: 'the schema of the tool cannot check it: it threw, or would have to wait' };
  }
}

const issuesOf = (error: z.ZodError): readonly string[] =>
  error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path.map(String).join('.') || 'the value'}: ${message}`.slice(0, 300));

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
  const schema = jsonSchemaOf(id, 'input', input);
  if (schema.type === 'object') return schema;
  throw unfit(id, 'its input is no object', 'Wrap what it takes in a z.object.');
}

function jsonSchemaOf(id: string, side: 'input' | 'output', schema: z.ZodType): JsonObject {
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    return rest as JsonObject;
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
      const parsed = parse(output, result);
      if ('refused' in parsed) return [parsed.refused];
      return parsed.success ? [] : issuesOf(parsed.error);
    };
    return { schema: jsonSchemaOf(id, 'output', output), problems };
  }
  try {
    compileSchema(output);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unfit(id, `its output is no JSON Schema: ${reason}`, 'Correct the schema.');
  }
  return { schema: output, problems: (result) => schemaProblems(output, result) };
}

const unfit = (id: string, why: string, hint: string): TerminalError =>
  new TerminalError('config_invalid', { message: `The tool ${quoted(id, 80)} cannot be: ${why}.`, hint });
