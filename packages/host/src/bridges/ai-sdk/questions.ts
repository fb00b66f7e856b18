/**
 * Questions as parts of the message that the page can answer: a confirmation of a tool call is an approval of it, a call
 * of one of the page's tools waits for its output, and any other question is a call of the tool `cairn.question`.
 */
import type { TaskEventOf } from '@cairn/protocol';
import type { DataChunk } from './chunks.ts';
import type { MessageWriter } from './message-writer.ts';
import type { ToolCalls } from './tool-calls.ts';

/** The tool name of questions that belong to no call. */
const QUESTION_TOOL = 'cairn.question';

/** How the page answers: with the output of a tool part, or with the response to an approval. */
export interface OpenQuestion {
  readonly inputId: string;
  readonly taskId: string;
  readonly by: 'output' | 'approval';
  /** The id of the tool part or of the approval. */
  readonly partId: string;
}

interface Asked {
  readonly event: TaskEventOf<'input-required'>;
  /** Null while the agent above may still answer. */
  question: OpenQuestion | null;
}

export interface QuestionPorts {
  readonly writer: MessageWriter;
  readonly calls: ToolCalls;
  /** Questions whose answers the reader has already, because it gave them. */
  readonly held: ReadonlySet<string>;
}

export class Questions {
  readonly #ports: QuestionPorts;
  readonly #asked = new Map<string, Asked>();

  constructor(ports: QuestionPorts) {
    this.#ports = ports;
  }

  /** What the user can answer now, the oldest first. */
  get open(): readonly OpenQuestion[] {
    return [...this.#asked.values()].flatMap(({ question }) => question ?? []);
  }

  /** Whether the user is asked anything. */
  get isAsking(): boolean {
    for (const { question } of this.#asked.values()) if (question !== null) return true;
    return false;
  }

  /** Whether a call goes on only with an answer. */
  isAskedBy(toolCallId: string): boolean {
    for (const { event } of this.#asked.values()) if (event.toolCallId === toolCallId) return true;
    return false;
  }

  ask(event: TaskEventOf<'input-required'>): void {
    if (this.#asked.has(event.inputId)) return;
    const asked: Asked = { event, question: null };
    this.#asked.set(event.inputId, asked);
    // The task above a subtask may answer; until it passes the question on, the user is not asked.
    if (event.requireUser === true || event.parentTaskId === undefined) this.#show(asked);
  }

  forward(inputId: string): void {
    const asked = this.#asked.get(inputId);
    if (asked !== undefined && asked.question === null) this.#show(asked);
  }

  receive({ inputId, providedBy, metadata }: TaskEventOf<'input-received'>): void {
    const asked = this.#asked.get(inputId);
    this.#asked.delete(inputId);
    if (asked === undefined || asked.question === null) return;
    const outcome = metadata?.outcome ?? 'answered';
    const { writer, held } = this.#ports;
    const { by, partId } = asked.question;
    if (by === 'approval') {
      writer.add({ type: 'tool-approval-response', approvalId: inputId, approved: outcome === 'answered' });
    } else if (partId === inputId) {
      writer.closed(inputId);
      const output = { outcome, providedBy };
      if (!held.has(inputId)) writer.add({ type: 'tool-output-available', toolCallId: inputId, output });
    }
    writer.add(told(asked.event, { status: outcome, providedBy }));
  }

  /** The task is over: it takes no answers. */
  endOf(taskId: string): void {
    for (const { event, question } of this.#asked.values()) {
      if (event.taskId !== taskId) continue;
      const { inputId } = event;
      this.#asked.delete(inputId);
      if (question === null) continue;
      const { writer } = this.#ports;
      if (question.partId === inputId && question.by === 'output') {
        const errorText = 'The task ended before the answer came.';
        writer.add({ type: 'tool-output-error', toolCallId: inputId, errorText });
        writer.closed(inputId);
      }
      writer.add(told(event, { status: 'closed' }));
    }
  }

  #show(asked: Asked): void {
    const { event } = asked;
    asked.question = this.#shown(event);
    this.#ports.writer.add(told(event, { status: 'open' }));
  }

  #shown({ inputId, taskId, inputType, toolCallId, ...event }: TaskEventOf<'input-required'>): OpenQuestion {
    const { writer, calls } = this.#ports;
    if (toolCallId !== undefined && inputType === 'confirmation' && calls.show(toolCallId)) {
      writer.add({ type: 'tool-approval-request', approvalId: inputId, toolCallId, reason: event.prompt });
      return { inputId, taskId, by: 'approval', partId: inputId };
    }
    if (toolCallId !== undefined && inputType === 'tool-execution' && calls.isForClient(toolCallId)) {
      calls.show(toolCallId);
      return { inputId, taskId, by: 'output', partId: toolCallId };
    }
    const { prompt, schema, options, expiresAt } = event;
    const input = {
      inputId,
      inputType,
      prompt,
      ...(schema !== undefined && { schema }),
      ...(options !== undefined && { options }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    const named = { toolCallId: inputId, toolName: QUESTION_TOOL, dynamic: true } as const;
    writer.work({ type: 'tool-input-start', ...named }, { type: 'tool-input-available', ...named, input });
    writer.opened(inputId);
    return { inputId, taskId, by: 'output', partId: inputId };
  }
}

const told = (
  { inputId, taskId, inputType, prompt }: TaskEventOf<'input-required'>,
  more: { readonly status: unknown; readonly providedBy?: string },
): DataChunk => ({ type: 'data-question', id: inputId, data: { inputId, taskId, inputType, prompt, ...more } });
