/** Tools that this program executes for an agent: their calls are run and answered while the events are read. */
import { type ClientTool, isCairnError, type Json, type JsonObject, type TaskEvent } from '@cairn/protocol';

export interface ClientToolHandler extends Pick<ClientTool, 'description' | 'parameters'> {
  /**
   * Returns the result; the agent is told of what it throws. Without it, the program answers the `input-required` event
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
  /** The first answer that could not be sent. */
  #failure: { readonly error: unknown } | null = null;

  constructor(tools: ClientTools, answers: ToolAnswers) {
    this.#tools = tools;
    this.#answers = answers;
  }

  /** Throws what kept an earlier result from being sent. */
  see(event: TaskEvent): void {
    if (this.#failure !== null) throw this.#failure.error;
    if (event.kind !== 'input-required' || event.inputType !== 'tool-execution') return;
    const { name, input } = calledIn(event.metadata);
    const tool = Object.hasOwn(this.#tools, name) ? this.#tools[name] : undefined;
    if (tool?.run === undefined || this.#begun.has(event.inputId)) return;
    this.#begun.add(event.inputId);
    this.#run(() => tool.run?.(input, { toolCallId: event.toolCallId ?? '' }), event.inputId).catch(
      (error: unknown) => {
        // Somebody else answered, or the call has ended.
        if (!isCairnError(error, 'input_already_answered')) this.#failure ??= { error };
      },
    );
  }

  async #run(work: () => Json | Promise<Json> | undefined, inputId: string): Promise<void> {
    let value: Json | undefined;
    try {
      value = await work();
    } catch (error) {
      await this.#answers.reject(inputId, error instanceof Error ? error.message : String(error));
      return;
    }
    await this.#answers.answer(inputId, value ?? null);
  }
}

function calledIn(metadata: { readonly [key: string]: unknown } | undefined): {
  readonly name: string;
  readonly input: JsonObject;
} {
  const { toolCall } = (metadata ?? {}) as { toolCall?: { function?: { name?: unknown; arguments?: unknown } } };
  const { name, arguments: text } = toolCall?.function ?? {};
  return { name: String(name ?? ''), input: JSON.parse(String(text ?? '{}')) };
}
