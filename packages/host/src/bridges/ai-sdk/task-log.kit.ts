/** Generated logs of a task and the tasks below it, as a host could write them; not shipped. */
import { parseShape, type TaskEvent, taskEvent } from '@cairn/protocol';
import fc from 'fast-check';

type Made = Readonly<Record<string, unknown>> & { readonly kind: TaskEvent['kind']; readonly taskId: string };

/** One attempt to go on. What is not possible at that point is passed over. */
interface Move {
  readonly what: (typeof moves)[number];
  readonly n: number;
  readonly text: string;
  readonly flag: boolean;
}

const moves = [
  'say',
  'say',
  'say',
  'end text',
  'end text',
  'lose text',
  'restart text',
  'think',
  'call',
  'call',
  'return',
  'return',
  'progress',
  'ask',
  'ask',
  'approve',
  'answer',
  'answer',
  'forward',
  'wait',
  'wait',
  'go on',
  'sign in',
  'signed in',
  'write',
  'spend',
  'delegate',
  'end subtask',
] as const;

const endings = ['completed', 'failed', 'canceled', null] as const;

const move: fc.Arbitrary<Move> = fc.record({
  what: fc.constantFrom(...moves),
  n: fc.nat(2),
  text: fc.string({ maxLength: 12 }),
  flag: fc.boolean(),
});

export const taskLog: fc.Arbitrary<readonly TaskEvent[]> = fc
  .tuple(fc.array(move, { maxLength: 60 }), fc.constantFrom(...endings))
  .map(([made, ending]) => new Log().play(made, ending));

export const ROOT = 'run_a';

interface Call {
  readonly id: string;
  readonly taskId: string;
  readonly isClient: boolean;
}

class Log {
  readonly #events: TaskEvent[] = [];
  #ids = 0;
  #text: { readonly id: string; content: string; index: number } | null = null;
  readonly #calls: Call[] = [];
  readonly #asked: { readonly id: string; readonly taskId: string }[] = [];
  readonly #auths: { readonly id: string; readonly taskId: string }[] = [];
  readonly #below: string[] = [];
  #isWaiting = false;

  play(made: readonly Move[], ending: (typeof endings)[number]): readonly TaskEvent[] {
    this.#add({ kind: 'task-created', taskId: ROOT, initiator: 'user' });
    this.#add({ kind: 'task-status', taskId: ROOT, status: 'working' });
    for (const one of made) this.#move(one);
    if (ending !== null) this.#end(ROOT, ending);
    return this.#events;
  }

  #add(event: Made): void {
    const { taskId } = event;
    const at = taskId.lastIndexOf('.');
    const cursor = this.#events.length + 1;
    const envelope = {
      contextId: 'ctx_a',
      timestamp: '2026-01-01T00:00:00.000Z',
      cursor,
      eventId: `${taskId}:${cursor}`,
      ...(at > 0 && { parentTaskId: taskId.slice(0, at) }),
    };
    this.#events.push(parseShape(taskEvent, { ...envelope, ...event }, 'The event'));
  }

  #id(kind: string): string {
    this.#ids += 1;
    return `${kind}_${this.#ids}`;
  }

  /** The task of a move: mostly the root. */
  #taskOf(n: number): string {
    return this.#below[n - 1] ?? ROOT;
  }

  #move(one: Move): void {
    // A model says nothing while its task waits.
    if (this.#isWaiting && (one.what === 'say' || one.what === 'call' || one.what === 'think')) return;
    this.#talk(one);
    this.#act(one);
    this.#ask(one);
    this.#live(one);
  }

  #talk({ what, text, flag }: Move): void {
    const open = this.#text;
    if (what === 'say') {
      const said = open ?? { id: this.#id('content'), content: '', index: 0 };
      this.#add({ kind: 'content-delta', taskId: ROOT, contentId: said.id, delta: text, index: said.index });
      this.#text = { id: said.id, content: said.content + text, index: said.index + 1 };
    } else if (what === 'end text') {
      const { id, content } = open ?? { id: this.#id('content'), content: text };
      // A repaired block may differ from its pieces.
      this.#add({ kind: 'content-complete', taskId: ROOT, contentId: id, content: flag ? content : content + text });
      this.#text = null;
    } else if (what === 'lose text' && open !== null) {
      const scope = flag ? 'llm' : 'task';
      this.#add({ kind: 'error', taskId: ROOT, code: 'c', message: text, retryable: true, scope });
      this.#text = null;
    } else if (what === 'restart text' && open !== null) {
      this.#add({ kind: 'content-delta', taskId: ROOT, contentId: open.id, delta: text, index: 0 });
      this.#text = { ...open, content: text, index: 1 };
    } else if (what === 'think') {
      const thoughtId = this.#id('thought');
      const content = { thoughtId, thoughtType: 'reasoning', verbosity: 'normal', content: text, index: 0 };
      this.#add({ kind: 'thought-stream', taskId: ROOT, ...content });
    }
  }

  #act({ what, n, text, flag }: Move): void {
    if (what === 'call') {
      const call = { id: this.#id('call'), taskId: this.#taskOf(n), isClient: flag && n === 0 };
      const toolName = call.isClient ? 'client:pick' : 'acme:find';
      const { id: toolCallId, taskId } = call;
      this.#add({ kind: 'tool-start', taskId, toolCallId, toolName, arguments: { text } });
      this.#calls.push(call);
      if (!call.isClient) return;
      const input = { inputId: this.#id('int'), inputType: 'tool-execution', prompt: 'Run it.', toolCallId };
      this.#add({ kind: 'input-required', taskId, requireUser: true, ...input });
      this.#asked.push({ id: input.inputId, taskId });
    } else if (what === 'return' || what === 'progress') {
      const call = this.#calls[n];
      if (call === undefined) return;
      const { id: toolCallId, taskId, isClient } = call;
      const toolName = isClient ? 'client:pick' : 'acme:find';
      if (what === 'progress') {
        this.#add({ kind: 'tool-progress', taskId, toolCallId, progress: n / 2 });
        return;
      }
      this.#calls.splice(n, 1);
      const result = flag ? { success: true, result: { text } } : { success: false, error: text };
      this.#add({ kind: 'tool-complete', taskId, toolCallId, toolName, ...result });
    } else if (what === 'write') {
      const piece = { artifactId: this.#id('art'), data: text, index: 0, complete: flag, name: text };
      this.#add({ kind: 'file-write', taskId: this.#taskOf(n), ...piece, metadata: { version: 1 } });
    } else if (what === 'spend') {
      this.#add({ kind: 'llm-usage', taskId: this.#taskOf(n), model: 'm', inputTokens: n, outputTokens: 1 });
    }
  }

  #ask({ what, n, text, flag }: Move): void {
    if (what === 'ask' || what === 'approve') {
      const call = what === 'approve' ? this.#calls[n] : undefined;
      const inputId = this.#id('int');
      const taskId = call?.taskId ?? this.#taskOf(n);
      const inputType = what === 'approve' ? 'confirmation' : 'clarification';
      const of = call === undefined ? {} : { toolCallId: call.id };
      this.#add({ kind: 'input-required', taskId, inputId, inputType, prompt: text, requireUser: flag, ...of });
      this.#asked.push({ id: inputId, taskId });
    } else if (what === 'answer') {
      const [asked] = this.#asked.splice(n, 1);
      if (asked === undefined) return;
      const { id: inputId, taskId } = asked;
      const outcome = flag ? 'answered' : 'rejected';
      this.#add({ kind: 'input-received', taskId, inputId, providedBy: 'user', userId: 'u', metadata: { outcome } });
    } else if (what === 'forward') {
      const asked = this.#asked[n];
      if (asked !== undefined) this.#add({ kind: 'input-forwarded', taskId: asked.taskId, inputId: asked.id });
    } else if (what === 'sign in') {
      const auth = { id: this.#id('auth'), taskId: this.#taskOf(n) };
      this.#add({ kind: 'auth-required', taskId: auth.taskId, authId: auth.id, authType: 'oauth2', prompt: text });
      this.#auths.push(auth);
    } else if (what === 'signed in') {
      const auth = this.#auths.shift();
      if (auth !== undefined) this.#add({ kind: 'auth-completed', taskId: auth.taskId, authId: auth.id, userId: 'u' });
    }
  }

  #live({ what, n, text, flag }: Move): void {
    if (what === 'wait' && this.#text === null && this.#asked.length > 0) {
      this.#add({ kind: 'task-status', taskId: ROOT, status: flag ? 'waiting-input' : 'waiting-subtask' });
      for (const taskId of this.#below) this.#add({ kind: 'task-status', taskId, status: 'waiting-input' });
      this.#isWaiting = true;
    } else if (what === 'go on') {
      const metadata = flag ? { reason: 'host_restarted' } : {};
      this.#add({ kind: 'task-status', taskId: ROOT, status: 'working', metadata });
      if (flag) this.#text = null;
      this.#isWaiting = false;
    } else if (what === 'delegate') {
      const subtaskId = `${ROOT}.${this.#ids++}`;
      this.#add({ kind: 'subtask-created', taskId: ROOT, subtaskId, prompt: text, agentId: 'host:helper' });
      this.#add({ kind: 'task-created', taskId: subtaskId, initiator: 'agent' });
      this.#below.push(subtaskId);
    } else if (what === 'end subtask') {
      const [taskId] = this.#below.splice(n, 1);
      if (taskId !== undefined) this.#end(taskId, flag ? 'completed' : 'failed');
    }
  }

  #end(taskId: string, status: 'completed' | 'failed' | 'canceled'): void {
    const error = { code: 'c', message: 'It broke.', retryable: false };
    this.#add({ kind: 'task-status', taskId, status, ...(status === 'failed' && { error }) });
    if (status === 'completed') this.#add({ kind: 'task-complete', taskId, content: 'The result.' });
    for (const list of [this.#calls, this.#asked, this.#auths]) {
      for (let i = list.length - 1; i >= 0; i -= 1) if (list[i]?.taskId === taskId) list.splice(i, 1);
    }
  }
}
