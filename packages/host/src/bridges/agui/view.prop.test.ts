/** The official client takes whatever the view makes of a log: its schemas, its verifier and its reducer are the judges. */
import { HttpAgent } from '@ag-ui/client';
import { type Event as AguiEvent, EventType, type Message } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';
import { type TaskEvent, taskEvent } from '@cairn/protocol';
import fc from 'fast-check';
import { beforeAll, expect, test, vi } from 'vitest';
import { MessageFold } from './messages.ts';
import { newRunState, type RunState } from './run-state.ts';
import { reopened, runStarted, take } from './view.ts';

const tasks = ['a', 'a', 'a.0', 'a.0.0', 'a.1'] as const;
const statuses = ['working', 'waiting-input', 'waiting-auth', 'waiting-subtask'] as const;

type Made = Record<string, unknown> & { readonly kind: string; readonly taskId: string };

const made: fc.Arbitrary<Made> = fc
  .record({ taskId: fc.constantFrom(...tasks), n: fc.nat(2), index: fc.nat(3), flag: fc.boolean(), text: fc.string() })
  .chain(({ taskId, n, index, flag, text }) => {
    const at = taskId.lastIndexOf('.');
    const of = { taskId, ...(at > 0 && { parentTaskId: taskId.slice(0, at) }), agentId: 'host:desk' };
    const id = `${taskId}/${n}`;
    const piece = { artifactId: id, index, complete: flag, metadata: { version: n + 1 } };
    const call = { toolCallId: id, toolName: flag ? 'client:look' : 't' };
    const node = { toolCallId: `${id}#`, toolName: 'core.noop', metadata: { provider: 'workflow' } };
    return fc.constantFrom<Made>(
      { kind: 'task-status', status: statuses[(n + index) % statuses.length], ...of },
      { kind: 'subtask-created', subtaskId: `${taskId}.0`, prompt: text, toolCallId: id, ...of },
      { kind: 'content-delta', delta: text, index, contentId: `${id}c`, ...of },
      { kind: 'content-delta', delta: text, index, ...of },
      { kind: 'content-complete', content: text, contentId: `${id}c`, finishReason: 'tool_calls', ...of },
      { kind: 'tool-start', arguments: { text }, metadata: { provider: flag ? 'client' : 'local' }, ...call, ...of },
      { kind: 'tool-progress', progress: index / 3, message: text, toolCallId: id, ...of },
      { kind: 'tool-complete', success: flag, result: text, error: text, ...call, ...of },
      { kind: 'tool-start', arguments: {}, ...node, ...of },
      { kind: 'tool-complete', success: flag, result: {}, ...node, ...of },
      { kind: 'input-required', inputId: id, inputType: 'tool-execution', prompt: text, toolCallId: id, ...of },
      {
        kind: 'input-required',
        inputId: id,
        inputType: 'custom',
        prompt: text,
        requireUser: flag,
        schema: flag,
        ...of,
      },
      { kind: 'input-received', inputId: id, providedBy: 'agent', ...of },
      { kind: 'input-forwarded', inputId: id, ...of },
      { kind: 'auth-required', authId: `${id}a`, authType: 'oauth2', prompt: text, ...of },
      { kind: 'auth-completed', authId: `${id}a`, userId: 'u', ...of },
      { kind: 'file-write', data: text, ...piece, ...of },
      { kind: 'data-write', data: { text }, name: text, ...piece, ...of },
      { kind: 'dataset-write', rows: [{ text }], ...piece, ...of },
      {
        kind: 'thought-stream',
        thoughtId: `${id}t`,
        thoughtType: 'x',
        verbosity: 'brief',
        content: text,
        index,
        ...of,
      },
      { kind: 'error', code: 'c', message: text, retryable: flag, scope: flag ? 'llm' : 'tool', ...of },
      { kind: 'llm-usage', model: 'm', inputTokens: n, outputTokens: index, ...of },
      { kind: 'kind-of-tomorrow', ...of },
      ...(taskId === 'a' ? [] : ([{ kind: 'task-complete', content: text, ...of }] as const)),
    );
  });

const ends: readonly Made[] = [
  { kind: 'task-complete', content: 'Done.', taskId: 'a' },
  { kind: 'task-status', status: 'failed', error: { code: 'c', message: 'm', retryable: false }, taskId: 'a' },
  { kind: 'task-status', status: 'canceled', taskId: 'a' },
  { kind: 'llm-usage', model: 'm', taskId: 'a' },
];

/** What the log promises: a task begins once, what is complete stays so, and nothing follows the end of a task. */
function promised(list: readonly Made[]): readonly Made[] {
  const over = new Set<string>();
  return list.filter((event) => {
    const { kind, taskId, toolCallId, contentId, thoughtId } = event;
    const isOfEnded = [...over].some((one) => `${taskId}.`.startsWith(`${one}.`) && one.startsWith('a'));
    if (isOfEnded) return false;
    const closes = kind === 'content-complete' || kind === 'thought-stream' || kind === 'tool-complete';
    const entity = `${kind.slice(0, 4)} ${toolCallId ?? contentId ?? thoughtId ?? ''}`;
    if ((kind.startsWith('tool') || kind.startsWith('content') || closes) && over.has(entity)) return false;
    if (closes) over.add(entity);
    if (kind === 'task-complete') over.add(taskId);
    return true;
  });
}

const history: fc.Arbitrary<readonly TaskEvent[]> = fc
  .tuple(fc.array(made, { maxLength: 60 }), fc.constantFrom(...ends))
  .map(([list, end]) =>
    [{ kind: 'task-created', initiator: 'user', taskId: 'a' }, ...promised(list), end].map((event, at) => {
      const stamped = {
        ...event,
        contextId: 'ctx',
        timestamp: '2026-01-01T00:00:00.000Z',
        cursor: at + 1,
        eventId: `a:${at}`,
      };
      const received: TaskEvent = JSON.parse(JSON.stringify(stamped));
      return received;
    }),
  );

const run = { threadId: 'ctx', runId: 'r', taskId: 'a', state: { own: 1 } };

/** A stock client that the events of each run come to over HTTP. */
class Screen {
  readonly agent: HttpAgent;
  #frames = '';

  constructor() {
    const head = { 'content-type': 'text/event-stream' };
    this.agent = new HttpAgent({
      url: 'http://host',
      threadId: 'ctx',
      fetch: async () => new Response(this.#frames, { headers: head }),
    });
  }

  async show(events: readonly AguiEvent[]): Promise<void> {
    for (const event of events) EventSchema.parse(event);
    this.#frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const resume = this.agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' as const }));
    await this.agent.runAgent({ runId: 'r', resume });
  }

  /** What is on the screen, without text that its model did not finish. */
  get messages(): Record<string, unknown> {
    return shown(this.agent.messages);
  }
}

const shown = (messages: readonly Message[]): Record<string, unknown> =>
  Object.fromEntries(
    messages
      .filter(({ metadata }) => metadata?.unfinished !== true)
      .map((message) => {
        const { id, role, content, toolCalls } = message as Extract<Message, { role: 'assistant' }>;
        return [id, { role, content: content ?? '', calls: toolCalls?.map((call) => [call.id, call.function]) ?? [] }];
      }),
  );

/** The runs that a client sees: each ends when the task waits, and the next one goes on after it. */
function runsOf(events: readonly TaskEvent[]): AguiEvent[][] {
  const runs: AguiEvent[][] = [];
  let state = newRunState(run);
  let current: AguiEvent[] = [runStarted(state)];
  for (const [at, event] of events.entries()) {
    current.push(...take(state, event, true));
    if (state.end === null) continue;
    runs.push(current);
    state = folded(events.slice(0, at + 1)).state;
    current = [runStarted(state), ...reopened(state)];
  }
  return [...runs, current];
}

function folded(events: readonly TaskEvent[]): { state: RunState; messages: MessageFold } {
  const state = newRunState(run);
  const messages = new MessageFold({ messages: 1_000, characters: 1_000_000 });
  for (const event of events) for (const one of take(state, event, false)) messages.take(one);
  return { state, messages };
}

// The client reports what it does not know, and every run that fails.
beforeAll(() => {
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  vi.spyOn(console, 'error').mockReturnValue(undefined);
});

test('every log gives runs that a stock client accepts, and the last of an ended task says so', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      const screen = new Screen();
      const runs = runsOf(events);
      for (const one of runs) await screen.show(one);
      const isEnded = events.at(-1)?.kind !== 'llm-usage';
      const last = runs.flat().findLast(({ type }) => type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR);
      if (isEnded) expect(last).toMatchObject(endOf(events));
    }),
    { numRuns: 120 },
  );
});

const endOf = (events: readonly TaskEvent[]): object => {
  const end = events.at(-1);
  if (end?.kind === 'task-complete') return { outcome: { type: 'success' }, result: { content: 'Done.' } };
  return end?.kind === 'task-status' && end.status === 'failed'
    ? { type: 'RUN_ERROR', message: 'm', code: 'c' }
    : { outcome: { type: 'cancelled' } };
};

test('a client that joins in the middle has in the end what one has that was there from the beginning', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.nat(60), async (events, at) => {
      const late = new Screen();
      const { state, messages } = folded(events.slice(0, at));
      const snapshot: AguiEvent = { type: EventType.MESSAGES_SNAPSHOT, messages: messages.messages() };
      const rest = events.slice(at).flatMap((event) => take(state, event, false));
      const ended = state.end === null || rest.length > 0 ? [] : [state.end];
      await late.show([runStarted(state), snapshot, ...reopened(folded(events.slice(0, at)).state), ...rest, ...ended]);
      const present = new Screen();
      const whole = newRunState(run);
      await present.show([runStarted(whole), ...events.flatMap((event) => take(whole, event, false))]);
      expect(late.messages).toEqual(present.messages);
      if (whole.records.size > 0) expect(late.agent.state).toEqual(present.agent.state);
    }),
    { numRuns: 120 },
  );
});

test('generated events are what the protocol calls events', () => {
  fc.assert(
    fc.property(history, (events) => {
      for (const event of events) if (event.kind !== ('kind-of-tomorrow' as string)) taskEvent.parse(event);
    }),
    { numRuns: 50 },
  );
});
