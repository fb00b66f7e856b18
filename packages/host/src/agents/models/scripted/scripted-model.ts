/** A model that plays a script, for demos, tests and simulation. It needs neither an API key nor a network. */
import type { Json } from '@cairn/protocol';
import type { Clock } from '../../../engine/ports.ts';
import { ModelError } from '../model-error.ts';
import type { Model, ModelCall, ModelPart } from '../model-port.ts';
import { estimatedTokens, messagesTokens } from '../tokens.ts';
import type { FinishReason, ModelToolCall, ModelUsage } from '../turn.ts';
import { pauseFor } from './pause-for.ts';
import type { Action, Script } from './script.ts';
import { type Blanks, blanksOf, filled, filledText } from './template.ts';

export const SCRIPTED = 'scripted';

export interface ScriptedModelOptions {
  readonly script: Script;
  readonly clock: Clock;
  /** Default `scripted`. */
  readonly provider?: string;
  readonly model?: string;
  /** Leave the last piece of text for the chunk that closes the block. */
  readonly keepsTail?: boolean;
  /** Disables template filling: texts are streamed as written. */
  readonly isVerbatim?: boolean;
  /** Plays the last turn again when asked for more turns than the script has. */
  readonly repeatsLast?: boolean;
  /** The whole text of the script, when known. */
  readonly wholeText?: string;
}

/** Maximum number of parts in one batch; a delay ends a batch early. */
const BURST = 64;

export function scriptedModel(options: ScriptedModelOptions): Model {
  const {
    script,
    clock,
    provider = SCRIPTED,
    model = SCRIPTED,
    keepsTail = false,
    isVerbatim = false,
    repeatsLast = false,
  } = options;
  return {
    provider,
    model,
    capabilities: new Set(['function-calling', 'structured-output']),
    contextTokens: null,
    prices: { input: 0, output: 0 },
    isScripted: true,
    keepsTail,
    wholeText: options.wholeText,
    stream: (call) => perform(turnOf(script, call.turnIndex, repeatsLast), call, { clock, isVerbatim }),
  };
}

function turnOf(script: Script, index: number, repeatsLast: boolean): readonly Action[] {
  const turn = script.turns[index] ?? (repeatsLast ? script.turns.at(-1) : undefined);
  if (turn !== undefined) return turn;
  throw new ModelError('invalid_request', {
    message: `The script has ${script.turns.length} turns and was asked for turn ${index + 1}. Add a turn that ends the work.`,
  });
}

async function* perform(
  turn: readonly Action[],
  call: ModelCall,
  { clock, isVerbatim }: { readonly clock: Clock; readonly isVerbatim: boolean },
): AsyncGenerator<readonly ModelPart[], void, undefined> {
  const blanks = isVerbatim ? null : blanksOf(call);
  const tally = new Tally(call);
  let burst: ModelPart[] = [];
  for (const action of turn) {
    if (action.delay !== undefined) {
      if (burst.length > 0) yield burst;
      burst = [];
      await pauseFor(action.delay, clock, call.signal);
      continue;
    }
    if (isFailure(action, call.attempt)) {
      if (burst.length > 0) yield burst;
      throw failure(action);
    }
    tally.note(action);
    for (const part of partsOf(action, call, { blanks, callsBefore: tally.calls })) {
      tally.count(part);
      burst.push(part);
      if (burst.length < BURST) continue;
      yield burst;
      burst = [];
    }
  }
  burst.push(tally.finish());
  yield burst;
}

/** Tracks the output of a turn, to supply usage and finish reason when the script states none. */
class Tally {
  calls = 0;
  #characters = 0;
  #usage: ModelUsage | null = null;
  #finish: FinishReason | null = null;
  readonly #call: ModelCall;

  constructor(call: ModelCall) {
    this.#call = call;
  }

  note({ usage, finish }: Action): void {
    if (usage !== undefined) this.#usage = usage as ModelUsage;
    if (finish !== undefined) this.#finish = finish;
  }

  count(part: ModelPart): void {
    if (part.type === 'tool-call') this.calls++;
    else if (part.type !== 'finish') this.#characters += part.text.length;
  }

  finish(): ModelPart {
    const { system, messages } = this.#call;
    const usage = this.#usage ?? {
      inputTokens: estimatedTokens(system.length) + messagesTokens(messages),
      outputTokens: estimatedTokens(this.#characters),
    };
    return { type: 'finish', finish: this.#finish ?? (this.calls > 0 ? 'tool_calls' : 'stop'), usage };
  }
}

interface Scene {
  /** Null disables template filling. */
  readonly blanks: Blanks | null;
  readonly callsBefore: number;
}

function* partsOf(action: Action, call: ModelCall, scene: Scene): Generator<ModelPart> {
  const { think, say, answer, stream } = action;
  if (think !== undefined) yield* deltas('reasoning-delta', think, scene.blanks);
  if (say !== undefined) yield* deltas('text-delta', say, scene.blanks);
  if (answer !== undefined) yield { type: 'text-delta', text: JSON.stringify(filled(answer, scene.blanks)) };
  if (stream !== undefined) yield* load(stream);
  const asked = toolCallOf(action);
  if (asked !== null) yield { type: 'tool-call', call: calledAs(asked, call, scene) };
}

function* deltas(
  type: 'reasoning-delta' | 'text-delta',
  said: string | string[],
  blanks: Blanks | null,
): Generator<ModelPart> {
  const pieces =
    typeof said === 'string' ? words(filledText(said, blanks)) : said.map((text) => filledText(text, blanks));
  for (const text of pieces) yield { type, text };
}

const words = (text: string): readonly string[] => text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text === '' ? [] : [text]);

function* load({ deltas: total, size, as }: NonNullable<Action['stream']>): Generator<ModelPart> {
  const type = as === 'text' ? 'text-delta' : 'reasoning-delta';
  const text = 'lorem ipsum dolor sit amet '.repeat(Math.ceil(size / 27)).slice(0, size);
  // Reuses one object for all parts: a million separate ones would create garbage.
  const part: ModelPart = { type, text };
  for (let i = 0; i < total; i++) yield part;
}

interface AskedTool {
  readonly toolId: string;
  readonly input: Json;
}

/** Maps `handoff`, `decide` and `ask` to calls of their built-in tools. */
function toolCallOf({ call, handoff, decide, ask }: Action): AskedTool | null {
  if (call !== undefined) return { toolId: call.tool, input: call.input };
  if (decide !== undefined) return { toolId: 'openwop:decide', input: present(decide) };
  if (ask !== undefined) return { toolId: 'openwop:ask', input: typeof ask === 'string' ? { question: ask } : ask };
  if (handoff === undefined) return null;
  const { to, ...rest } = handoff;
  return { toolId: 'openwop:handoff', input: { agentId: to, ...present(rest) } };
}

const present = (fields: Readonly<Record<string, Json | undefined>>): Record<string, Json> =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));

/** Uses the name shown to the model. Also calls a tool that was not shown, as real models do. */
function calledAs({ toolId, input }: AskedTool, { tools, turnIndex }: ModelCall, scene: Scene): ModelToolCall {
  const name = tools.find((tool) => tool.toolId === toolId || tool.name === toolId)?.name ?? toolId;
  return { id: `call_${turnIndex}_${scene.callsBefore}`, name, input: filled(input, scene.blanks) };
}

const isFailure = ({ fail }: Action, attempt: number): boolean =>
  fail !== undefined && (fail.attempts === undefined || attempt <= fail.attempts);

function failure({ fail }: Action): ModelError {
  const {
    class: kind = 'unknown',
    message = 'The script says that this call fails.',
    retryable,
    retryAfterMs,
  } = fail ?? {};
  return new ModelError(kind, { message, retryAfterMs, ...(retryable === undefined ? {} : { retryable }) });
}
