/** The client's conversations against a whole host: cut streams, a restart, answers. */
import {
  type Context,
  type ContextEvent,
  conversationStatus,
  createClient,
  emptyConversation,
  reduceConversation,
  type TaskEvent,
} from '@cairn/client/context';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chunk } from '../../../test/kit/fake-openai.ts';
import { keys, says, Talk } from './talk.kit.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await Talk.open();
});
afterAll(() => talk.close());

/** Reconnects at once, but never finds a connection silent. */
const timers = {
  after: (ms: number, wake: () => void) => {
    const timer = ms >= 60_000 ? null : setImmediate(wake);
    return () => void (timer !== null && clearImmediate(timer));
  },
  random: () => 0,
};

/** Finds the host after a restart. Cuts the n-th stream after so many bytes. */
function contextOf(contextId?: string, cuts: number[] = []): Context {
  const client = createClient({
    url: 'http://host.test',
    key: keys.ann,
    timers,
    fetch: async (input, init) => {
      const url = String(input).replace('http://host.test', talk.url);
      const response = await fetch(url, init);
      const cut = url.includes('/stream') ? cuts.shift() : undefined;
      return cut === undefined ? response : new Response(response.body?.pipeThrough(cutAfter(cut)), response);
    },
  });
  return client.context(contextId);
}

function cutAfter(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let rest = bytes;
  return new TransformStream({
    transform(piece, controller) {
      controller.enqueue(piece.subarray(0, rest));
      rest -= piece.length;
      if (rest <= 0) controller.error(new Error('cut'));
    },
  });
}

const collect = async (events: AsyncIterable<TaskEvent>): Promise<readonly TaskEvent[]> => {
  const seen: TaskEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
};

const words = Array.from({ length: 60 }, (_, i) => `word ${i} `);

it('sends into a new context, gets every event of the task once, and goes on in it', async () => {
  talk.script = () => says(...words);
  const context = contextOf();
  const first = await collect(context.send('Hello?'));
  expect(first.at(0)).toMatchObject({ kind: 'task-created', metadata: { message: { content: 'Hello?' } } });
  expect(first.at(-1)).toMatchObject({ kind: 'task-complete' });
  const second = await collect(context.send('And now?'));
  const paged = await talk.events(String(context.id), 'verbosity=normal');
  expect([...first, ...second]).toEqual(paged);
  const { tasks } = await context.tasks();
  expect(tasks.map(({ taskId, status }) => [taskId, status])).toEqual([
    [second[0]?.taskId, 'completed'],
    [first[0]?.taskId, 'completed'],
  ]);
  expect(await context.task(String(first[0]?.taskId))).toMatchObject({ status: 'completed', children: [] });
});

it('gets every event once although its stream is cut in the middle again and again', async () => {
  talk.script = () => says(...words);
  const whole = contextOf();
  await collect(whole.send('Hello?'));
  const id = String(whole.id);
  const paged = await talk.events(id);
  const seen: ContextEvent[] = [];
  const cut = contextOf(id, [10, 150, 333, 1_000, 2_000, 2_001, 4_000, 7_777]);
  for await (const event of cut.follow({ after: 0 })) {
    if (!event.kind.startsWith('stream:')) seen.push(event);
    if (event.kind === 'task-complete') break;
  }
  expect(seen).toEqual(paged);
});

it('goes on over a restart of the host', async () => {
  talk.script = () => says('Hel', 'lo.');
  const context = contextOf();
  await collect(context.send('Hello?'));
  const seen: ContextEvent[] = [];
  let isRestarted = false;
  for await (const event of context.follow({ after: 0 })) {
    if (!event.kind.startsWith('stream:')) seen.push(event);
    if (event.kind === 'stream:caught-up' && !isRestarted) {
      isRestarted = true;
      await talk.stop();
      await talk.start();
      await context.send('And now?');
    }
    if (seen.filter(({ kind }) => kind === 'task-complete').length === 2) break;
  }
  expect(seen).toEqual(await talk.events(String(context.id)));
});

it('follows a task over a restart in the middle of its text, to its end', async () => {
  let asks = 0;
  talk.script = () => {
    asks += 1;
    if (asks > 1) return says('Hello ', 'again.');
    return { text: [`data: ${JSON.stringify(chunk({ content: 'Hel' }))}\n\n`], end: 'open' };
  };
  const context = contextOf();
  const seen: TaskEvent[] = [];
  for await (const event of context.send('Hello?')) {
    seen.push(event);
    if (event.kind !== 'content-delta' || asks > 1) continue;
    await talk.stop();
    await talk.start();
  }
  expect(seen.at(-1)).toMatchObject({ kind: 'task-complete' });
  expect(seen).toEqual(await talk.events(String(context.id)));
  const shown = reduceConversation(emptyConversation, seen);
  expect([...shown.messages.values()].map(({ role, text, isOpen }) => [role, text, isOpen])).toEqual([
    ['user', 'Hello?', false],
    ['agent', 'Hello again.', false],
  ]);
  expect(conversationStatus(shown)).toBe('idle');
});

it('answers, rejects and cancels', async () => {
  const start = () => talk.engine.start({ tenant: 't', workflowId: 'gate', inputs: {}, options: {} });
  const asked = async (contextId: string): Promise<string> => {
    for await (const event of contextOf(contextId).follow()) if (event.kind === 'input-required') return event.inputId;
    return '';
  };
  const first = await start();
  const context = contextOf(first.contextId);
  const inputId = await asked(first.contextId);
  await expect(context.answer(inputId, 7)).rejects.toMatchObject({ code: 'input_invalid' });
  expect(await context.answer(inputId, true)).toEqual({ inputId, taskId: first.runId });
  await expect(context.answer(inputId, true)).rejects.toMatchObject({ code: 'input_already_answered' });

  const second = await start();
  const rejected = await asked(second.contextId);
  expect(await contextOf(second.contextId).reject(rejected, 'not now')).toMatchObject({ inputId: rejected });

  const third = await start();
  expect(await contextOf(third.contextId).cancel(third.runId)).toEqual({ taskId: third.runId, status: 'canceled' });
});
