/** The AI SDK view of a task: its events, and those of the tasks below it, as the chunks of one assistant message. Pure. */
import type { TaskEvent, TaskEventOf, TaskStatus } from '@cairn/protocol';
import type { UiChunk } from './chunks.ts';
import {
  type ArtifactPart,
  artifactPart,
  dataPart,
  isArtifactEvent,
  notice,
  problem,
  progress,
  signIn,
  signInEnded,
} from './data-parts.ts';
import { MessageWriter } from './message-writer.ts';
import { type OpenQuestion, Questions } from './questions.ts';
import { ToolCalls } from './tool-calls.ts';

/** Artifacts whose name and type are remembered between their pieces. */
const MAX_ARTIFACTS = 1_000;

export interface UiMessageOptions {
  /** The root task that the message shows. */
  readonly taskId: string;
  /** Questions whose answers the reader has already. Default: none. */
  readonly held?: ReadonlySet<string>;
}

/** Takes the events of a task and of the tasks below it, in order, from the first one on. */
export class UiMessageView {
  readonly #taskId: string;
  readonly #writer = new MessageWriter();
  readonly #calls: ToolCalls;
  readonly #questions: Questions;
  /** The tasks that are not over, by their last status. */
  readonly #tasks = new Map<string, TaskStatus | 'created'>();
  readonly #subtasks = new Map<string, { readonly agentId?: string; readonly prompt: string }>();
  readonly #signIns = new Map<string, { readonly taskId: string; readonly toolCallId?: string | undefined }>();
  readonly #artifacts = new Map<string, ArtifactPart>();
  readonly #usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  #finishReason: 'stop' | 'length' | 'content-filter' = 'stop';
  #isOver = false;

  constructor({ taskId, held = new Set() }: UiMessageOptions) {
    this.#taskId = taskId;
    this.#calls = new ToolCalls(this.#writer, taskId);
    this.#questions = new Questions({ writer: this.#writer, calls: this.#calls, held });
  }

  /** The task has ended, and the last chunk was given. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The task does not go on before the user answers. */
  get isWaiting(): boolean {
    if (this.#isOver || !this.#questions.isAsking) return false;
    if (this.#tasks.get(this.#taskId) === 'waiting-input') return !this.#isCalling;
    for (const status of this.#tasks.values()) if (!status.startsWith('waiting')) return false;
    return true;
  }

  /** A tool of the host is at work: what it finds comes before the wait. A call may also stand for a subtask. */
  get #isCalling(): boolean {
    if (this.#tasks.size > 1) return false;
    const paused = new Set([...this.#signIns.values()].map(({ toolCallId }) => toolCallId));
    for (const id of this.#calls.ofRoot()) if (!this.#questions.isAskedBy(id) && !paused.has(id)) return true;
    return false;
  }

  get openQuestions(): readonly OpenQuestion[] {
    return this.#questions.open;
  }

  take(event: TaskEvent): readonly UiChunk[] {
    if (this.#isOver) return [];
    const wasWaiting = this.isWaiting;
    this.#fold(event);
    // The writer of the chunks learns of the wait by a chunk.
    if (!wasWaiting && this.isWaiting) this.#writer.say(notice('status', { taskId: this.#taskId, status: 'waiting' }));
    return this.#writer.take();
  }

  #fold(event: TaskEvent): void {
    if (isArtifactEvent(event)) {
      this.#wrote(event);
      return;
    }
    switch (event.kind) {
      case 'task-created':
        this.#tasks.set(event.taskId, 'created');
        break;
      case 'task-status':
        this.#changed(event);
        break;
      case 'task-complete':
        this.#ended(event.taskId, 'completed');
        if (event.taskId === this.#taskId) this.#finish(event.content);
        break;
      case 'subtask-created':
        this.#began(event);
        break;
      case 'content-delta':
      case 'content-complete':
        if (event.taskId === this.#taskId) this.#said(event);
        break;
      case 'thought-stream':
        if (event.taskId === this.#taskId) this.#thought(event);
        break;
      default:
        this.#beside(event);
    }
  }

  #beside(event: TaskEvent): void {
    switch (event.kind) {
      case 'tool-start':
        this.#calls.start(event);
        break;
      case 'tool-progress':
        if (this.#calls.isShown(event.toolCallId)) this.#writer.add(progress(event));
        break;
      case 'tool-complete':
        this.#calls.complete(event);
        break;
      case 'input-required':
        this.#questions.ask(event);
        break;
      case 'input-forwarded':
        this.#questions.forward(event.inputId);
        break;
      case 'input-received':
        this.#questions.receive(event);
        break;
      case 'auth-required':
        this.#signIns.set(event.authId, event);
        this.#writer.add(signIn(event));
        break;
      case 'auth-completed':
        this.#signIns.delete(event.authId);
        this.#writer.add(signInEnded(event.authId, 'completed'));
        break;
      case 'error':
        this.#failed(event);
        break;
      case 'llm-usage':
        this.#spent(event);
        break;
    }
  }

  #changed({ taskId, status, metadata, error, message }: TaskEventOf<'task-status'>): void {
    const isRoot = taskId === this.#taskId;
    if (isRoot && metadata?.reason === 'host_restarted') this.#writer.dropTexts();
    if (status === 'failed' || status === 'canceled') {
      this.#ended(taskId, status);
      if (!isRoot) return;
      const reason = error?.message ?? message ?? metadata?.reason;
      if (status === 'failed') this.#fail(reason ?? 'The task failed.');
      else this.#abort(reason);
      return;
    }
    if (this.#tasks.get(taskId) === status) return;
    this.#tasks.set(taskId, status);
    if (isRoot) this.#writer.say(notice('status', { taskId, status }));
    else if (status !== 'completed') this.#writer.add(this.#subtask(taskId, status));
  }

  #began({ subtaskId, prompt, agentId }: TaskEventOf<'subtask-created'>): void {
    this.#tasks.set(subtaskId, 'created');
    this.#subtasks.set(subtaskId, { prompt, ...(agentId !== undefined && { agentId }) });
    this.#writer.add(this.#subtask(subtaskId, 'created'));
  }

  #subtask(taskId: string, status: string): UiChunk {
    return dataPart('subtask', taskId, { taskId, ...this.#subtasks.get(taskId), status });
  }

  /** Nothing of a task stays open after its end. */
  #ended(taskId: string, status: TaskStatus): void {
    if (taskId === this.#taskId) this.#writer.dropTexts();
    this.#questions.endOf(taskId);
    this.#calls.endOf(taskId);
    for (const [authId, asked] of this.#signIns) {
      if (asked.taskId !== taskId) continue;
      this.#signIns.delete(authId);
      this.#writer.add(signInEnded(authId, 'closed'));
    }
    this.#tasks.delete(taskId);
    if (taskId !== this.#taskId) this.#writer.add(this.#subtask(taskId, status));
    this.#subtasks.delete(taskId);
  }

  #said(event: TaskEventOf<'content-delta' | 'content-complete'>): void {
    // Hosts may leave the id out; a task then has at most one open block.
    const id = event.contentId ?? 'content';
    if (event.kind === 'content-delta') {
      // A block that begins again replaces what there was of it.
      if (event.index === 0) this.#writer.dropTexts([id]);
      this.#writer.text(id, event.delta);
      return;
    }
    this.#writer.completeText(id, event.content, event.metadata?.truncated === true);
    this.#finishReason = finishReasons[event.finishReason ?? ''] ?? 'stop';
  }

  #thought({ thoughtId: id, content, thoughtType, verbosity, metadata }: TaskEventOf<'thought-stream'>): void {
    const { confidence } = metadata ?? {};
    const cairn = { thoughtType, verbosity, ...(confidence !== undefined && { confidence }) };
    this.#writer.work(
      { type: 'reasoning-start', id, providerMetadata: { cairn } },
      { type: 'reasoning-delta', id, delta: content },
      { type: 'reasoning-end', id },
    );
  }

  #failed(event: TaskEventOf<'error'>): void {
    // Text that a model call did not finish is not part of the answer.
    const isOfText = event.scope === 'llm' || event.scope === 'task';
    if (isOfText && event.taskId === this.#taskId) this.#writer.dropTexts();
    const { refId = '' } = event;
    if (event.scope === 'auth' && this.#signIns.delete(refId)) {
      this.#writer.add(signInEnded(refId, 'failed', { code: event.code }));
    }
    this.#writer.add(problem(event));
  }

  #wrote(event: Parameters<typeof artifactPart>[0]): void {
    const { artifactId } = event;
    const part = artifactPart(event, this.#artifacts.get(artifactId));
    this.#artifacts.set(artifactId, part);
    const [oldest] = this.#artifacts.keys();
    if (this.#artifacts.size > MAX_ARTIFACTS && oldest !== undefined) this.#artifacts.delete(oldest);
    const isFirst = event.kind === 'data-write' || event.index === 0;
    if (isFirst || !part.open) this.#writer.add(dataPart('artifact', artifactId, part));
    if (event.kind === 'file-write' && !part.open) {
      this.#writer.add({ type: 'file', url: part.url, mediaType: part.mediaType });
    }
  }

  /** Of the task and those below it together. */
  #spent({
    inputTokens = 0,
    outputTokens = 0,
    totalTokens = inputTokens + outputTokens,
  }: TaskEventOf<'llm-usage'>): void {
    this.#usage.inputTokens += inputTokens;
    this.#usage.outputTokens += outputTokens;
    this.#usage.totalTokens += totalTokens;
    this.#writer.add(dataPart('usage', this.#taskId, { ...this.#usage }));
  }

  /** A task without any text, such as one of a workflow, may still have a result to show. */
  #finish(content = ''): void {
    if (!this.#writer.hasText) this.#writer.completeText(`${this.#taskId}:result`, content);
    this.#end('completed', { type: 'finish', finishReason: this.#finishReason });
  }

  #fail(errorText: string): void {
    this.#end('failed', { type: 'error', errorText }, { type: 'finish', finishReason: 'error' });
  }

  #abort(reason: string | undefined): void {
    this.#end('canceled', { type: 'abort', ...(reason !== undefined && { reason }) });
  }

  /** Readers show a step that begins only with the next part or metadata. */
  #end(status: TaskStatus, ...chunks: readonly UiChunk[]): void {
    this.#writer.end();
    const messageMetadata = { status, usage: { ...this.#usage } };
    this.#writer.say({ type: 'message-metadata', messageMetadata }, ...chunks);
    this.#isOver = true;
  }
}

const finishReasons: Readonly<Record<string, 'length' | 'content-filter'>> = {
  length: 'length',
  content_filter: 'content-filter',
};
