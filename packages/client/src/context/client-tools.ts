/** Tools that this program executes for an agent: their calls are run and answered while the events are read. */
import { type ClientTool, isCairnError, type Json, type JsonObject, type TaskEventOf } from '@cairn/protocol';
import type { ContextEvent } from './follow-context.ts';

export interface ClientToolHandler extends Pick<ClientTool, 'description' | 'parameters'> {
  /**
   * Returns the result; the agent is told of what it throws, and of a result that cannot be sent. Without it, the program answers the `input-required` event
   * itself, as from a card that the user sees.
   */
  run?(input: JsonObject, call: { readonly toolCallId: string }): Json | Promise<Json>;
}

/** By the name that the model sees. */
export type ClientTools = Readonly<Record<string, ClientToolHandler>>;

export const sentTools = (tools: ClientTools | undefined): readonly ClientTool[] | undefined =>
  tools && Object.entries(tools).map(([name, { run: _, ...tool }]) => ({ name, ...tool }));

/** Sends the result of a call, or why there is none. */
export interface ToolAnswers {
  answer(inputId: string, value: Json): Promise<unknown>;
  reject(inputId: string, reason: string): Promise<unknown>;
}

/** Runs the calls of one message, each once. */
export class ToolRunner {
  readonly #tools: ClientTools;
  readonly #answers: ToolAnswers;
  readonly #begun = new Set<string>();
  /** Calls of which the reader does not know yet whether they are over; null once it is up to date. */
  #unsure: Map<string, AskedCall> | null = new Map();
  readonly #failed = new AbortController();

  constructor(tools: ClientTools, answers: ToolAnswers) {
    this.#tools = tools;
    this.#answers = answers;
  }

  /** Aborted with what kept a result from being sent. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  see(event: ContextEvent): void {
    switch (event.kind) {
      case 'stream:caught-up': {
        const open = [...(this.#unsure?.values() ?? [])];
        this.#unsure = null;
        for (const asked of open) this.#begin(asked);
        break;
      }
      case 'input-required':
        if (event.inputType !== 'tool-execution') break;
        if (this.#unsure === null) this.#begin(event);
        else this.#unsure.set(event.inputId, event);
        break;
      case 'input-received':
        this.#unsure?.delete(event.inputId);
        break;
    }
  }

  #begin({ inputId, toolCallId = '', metadata }: AskedCall): void {
    const { name, input } = calledIn(metadata);
    const tool = Object.hasOwn(this.#tools, name) ? this.#tools[name] : undefined;
    if (tool?.run === undefined || this.#begun.has(inputId)) return;
    this.#begun.add(inputId);
    this.#run(() => tool.run?.(objectIn(input), { toolCallId }), inputId).catch((error: unknown) => {
      // Somebody else answered, or the call has ended.
      if (!isCairnError(error, 'input_already_answered')) this.#failed.abort(error);
    });
  }

  async #run(work: () => Json | Promise<Json> | undefined, inputId: string): Promise<void> {
    let value: Json | undefined;
    try {
      value = await work();
    } catch (error) {
      await this.#answers.reject(inputId, reasonOf(error));
      return;
    }
    try {
      await this.#answers.answer(inputId, value ?? null);
    } catch (error) {
      if (isCairnError(error) && (error.retryable || error.code === 'input_already_answered')) throw error;
      // It is no JSON, or too large. The agent would wait for it until its time is up.
      await this.#answers.reject(inputId, reasonOf(error));
    }
  }
}

type AskedCall = Pick<TaskEventOf<'input-required'>, 'inputId' | 'toolCallId' | 'metadata'>;

/** The longest reason that a host takes. */
const MAX_REASON = 2_000;

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON).toWellFormed();

interface Called {
  readonly name: string;
  readonly input: unknown;
}

function calledIn(metadata: AskedCall['metadata']): Called {
  const { toolCall } = (metadata ?? {}) as { toolCall?: { function?: { name?: unknown; arguments?: unknown } } };
  const { name, arguments: input } = toolCall?.function ?? {};
  return { name: String(name ?? ''), input };
}

/** The protocol allows arguments as JSON text and as an object. */
const objectIn = (input: unknown): JsonObject =>
  (typeof input === 'string' ? JSON.parse(input) : (input ?? {})) as JsonObject;
