/**
 * Calls under way at one server. A server of a revision of 2025 asks people over the connection of a call and waits there,
 * so the host keeps that connection for a while after the entry into the call has ended with the question.
 */
import { TerminalError } from '@cairn/protocol';
import type { ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { RemoteResult } from '../../agents/tools/remote-result.ts';
import type { HostToolContext } from '../../agents/tools/tool.ts';

/** Questions of a server, and whether it waits for their answers on its connection. */
export interface Questions {
  readonly result: InputRequiredResult;
  readonly isHeld: boolean;
}

/** What a call produces next. */
export type Outcome = RemoteResult | Questions;

/** Identifies a call among those of all runs. */
export interface CallKey {
  readonly runId: string;
  readonly callId: string;
}

/** Sends the request. Its signal ends it, and the questions of the server go to `elicit`. */
export type Perform = (call: HeldCall) => Promise<RemoteResult | InputRequiredResult>;

const keyOf = ({ runId, callId }: CallKey): string => `${runId} ${callId}`;

export class HeldCalls {
  readonly #serverId: string;
  /** How long a call waits for an answer. */
  readonly #answerMs: number;
  readonly #calls = new Map<string, HeldCall>();

  constructor({ id, answerTimeoutMs }: { readonly id: string; readonly answerTimeoutMs: number }) {
    this.#serverId = id;
    this.#answerMs = answerTimeoutMs;
  }

  /** Resolves with the result or the first question. */
  begin(context: HostToolContext, perform: Perform): Promise<Outcome> {
    const key = keyOf(context);
    this.#calls.get(key)?.end();
    const call = new HeldCall(this.#answerMs);
    this.#calls.set(key, call);
    const next = call.next(context);
    void call.perform(perform).finally(() => {
      if (this.#calls.get(key) === call) this.#calls.delete(key);
    });
    return next;
  }

  /** Gives the server an answer, and resolves with what comes next. */
  answer(context: HostToolContext, reply: ElicitResult): Promise<Outcome> {
    const call = this.#calls.get(keyOf(context));
    if (call === undefined) throw notHeld(this.#serverId);
    const next = call.next(context);
    call.answer(reply);
    return next;
  }

  /** The call has ended on this host, although its server may still wait. */
  end(place: CallKey): void {
    this.#calls.get(keyOf(place))?.end();
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  close(): void {
    for (const call of this.#calls.values()) call.end();
  }
}

/** One call, which may be entered again. */
class HeldCall {
  readonly #answerMs: number;
  readonly #stop = new AbortController();
  /** The entry that waits. */
  #context: HostToolContext | null = null;
  #next = Promise.withResolvers<Outcome>();
  /** The question that a person answers. */
  #asked: { readonly give: (result: ElicitResult) => void; readonly timer: NodeJS.Timeout } | null = null;

  constructor(answerMs: number) {
    this.#answerMs = answerMs;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  async perform(perform: Perform): Promise<void> {
    try {
      const result = await perform(this);
      this.#next.resolve(result instanceof RemoteResult ? result : { result, isHeld: false });
    } catch (error) {
      this.#next.reject(error);
      // The call is not in progress while it waits for a person.
      this.#next.promise.catch(() => undefined);
    }
    clearTimeout(this.#asked?.timer);
  }

  /** The end of the entry is that of the call, unless it ends with the question. */
  next(context: HostToolContext): Promise<Outcome> {
    this.#context = context;
    this.#next = Promise.withResolvers();
    const { signal } = context;
    const left = () => {
      if (this.#asked === null) this.end(signal.reason);
    };
    signal.addEventListener('abort', left, { once: true });
    if (signal.aborted) left();
    return this.#next.promise;
  }

  readonly progress: HostToolContext['progress'] = (...told) => this.#context?.progress(...told);

  /** A server that asks two things at once gets an answer to the first. */
  readonly elicit = (params: ElicitRequest['params']): Promise<ElicitResult> => {
    if (this.#asked !== null || this.signal.aborted) return Promise.resolve({ action: 'cancel' });
    const { promise, resolve: give } = Promise.withResolvers<ElicitResult>();
    const timer = setTimeout(() => this.end(), this.#answerMs);
    timer.unref();
    this.#asked = { give, timer };
    const inputRequests = { question: { method: 'elicitation/create' as const, params } };
    this.#next.resolve({ result: { resultType: 'input_required', inputRequests }, isHeld: true });
    return promise;
  };

  answer(reply: ElicitResult): void {
    const asked = this.#asked;
    this.#asked = null;
    clearTimeout(asked?.timer);
    asked?.give(reply);
  }

  end(reason?: unknown): void {
    this.#stop.abort(reason);
  }
}

export type { HeldCall };

const notHeld = (serverId: string): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${serverId} no longer waits for the answer: the connection of the call is gone.`,
    hint: 'Call the tool again. A server of revision 2026-07-28 can wait through a restart of the host.',
  });
