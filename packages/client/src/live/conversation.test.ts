import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../context/index.ts';
import { notice, servingContext, startOf, talkOf, taskFrame } from '../context/scripted-context.kit.ts';
import { type Answer, listen } from '../scripted-host.kit.ts';
import { liveConversation } from './conversation.ts';
import type { Live } from './live-store.ts';

/** Reconnects and publishes at once, but never finds a connection silent. */
const timers = {
  after: (ms: number, wake: () => void) => {
    const timer = ms >= 60_000 ? null : setImmediate(wake);
    return () => void (timer !== null && clearImmediate(timer));
  },
  random: () => 0,
};

async function against(answer: Answer, contextId?: string) {
  const host = await listen(answer);
  onTestFinished(() => host.close());
  const client = createClient({ url: host.url, key: 'k', timers, retries: 0 });
  return liveConversation(client.context(contextId), { timers });
}

/** The first view of which something is true. */
function until<View>(live: Live<View>, isSo: (view: View) => boolean): Promise<View> {
  return new Promise((resolve) => {
    const unsubscribe = live.subscribe(check);
    onTestFinished(unsubscribe);
    check();
    function check() {
      const view = live.getSnapshot();
      if (isSo(view)) resolve(view);
    }
  });
}

const events = talkOf(20);
const text = (state: { readonly messages: Iterable<readonly [string, { readonly text: string }]> }) =>
  [...state.messages].map(([, message]) => message.text);

test('one connection serves all subscribers, and the view is the same object until something changes', async () => {
  let streams = 0;
  const live = await against((request, response) => {
    streams += 1;
    servingContext(events)(request, response);
  }, 'ctx_a');
  expect(live.getSnapshot()).toMatchObject({ connection: 'idle', contextId: 'ctx_a' });
  const heard: unknown[] = [];
  const stop = live.subscribe(() => heard.push(live.getSnapshot()));
  const view = await until(live, ({ state }) => state.isCaughtUp);
  expect(view.connection).toBe('live');
  expect(text(view.state)).toEqual(['Grüezi 🪨']);
  expect(live.getSnapshot()).toBe(view);
  // Events that come together are one change.
  expect(heard.length).toBeLessThan(events.length);
  expect(streams).toBe(1);
  stop();
  expect(live.getInitialSnapshot().state.cursor).toBe(0);
});

test('a connection that broke is said to be broken, and goes on after the last event', async () => {
  const starts: (string | null)[] = [];
  const resume = Promise.withResolvers<void>();
  const live = await against((request, response) => {
    starts.push(startOf(request));
    if (starts.length > 1) {
      void resume.promise.then(() => servingContext(events)(request, response));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(notice('ready', { from: 0, head: 5 }));
    for (const event of events.slice(0, 5)) response.write(taskFrame(event));
    response.end();
  }, 'ctx_a');
  await until(live, ({ connection }) => connection === 'broken');
  resume.resolve();
  const view = await until(live, ({ connection, state }) => connection === 'live' && state.isCaughtUp);
  expect(starts).toEqual(['0', '5']);
  expect(view.state.cursor).toBe(events.length);
});

test('an error that no retry can help closes it with that error, until somebody connects again', async () => {
  let isKnown = false;
  const live = await against((request, response) => {
    if (isKnown) {
      servingContext(events)(request, response);
      return;
    }
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'not_found', message: 'There is no context.' }));
  }, 'ctx_a');
  const view = await until(live, ({ connection }) => connection === 'closed');
  expect(view.error).toMatchObject({ code: 'not_found' });
  isKnown = true;
  live.reconnect();
  expect((await until(live, ({ connection }) => connection === 'live')).error).toBeNull();
});

test('who subscribes after an error tries anew, however soon', async () => {
  let isKnown = false;
  const live = await against((request, response) => {
    if (isKnown) return servingContext(events)(request, response);
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'unauthenticated', message: 'The session is over.' }));
  }, 'ctx_a');
  const closed = Promise.withResolvers<void>();
  const stop = live.subscribe(() => live.getSnapshot().connection === 'closed' && closed.resolve());
  await closed.promise;
  isKnown = true;
  stop();
  expect((await until(live, ({ connection }) => connection === 'live')).error).toBeNull();
});

test('nobody subscribed means no connection; who comes back finds what was known, and the rest', async () => {
  const starts: (string | null)[] = [];
  const closed = Promise.withResolvers<void>();
  const live = await against((request, response) => {
    starts.push(startOf(request));
    response.on('close', closed.resolve);
    servingContext(starts.length === 1 ? events.slice(0, 9) : events)(request, response);
  }, 'ctx_a');
  const caughtUp = Promise.withResolvers<void>();
  const stop = live.subscribe(() => live.getSnapshot().state.isCaughtUp && caughtUp.resolve());
  await caughtUp.promise;
  stop();
  await closed.promise;
  expect(live.getSnapshot()).toMatchObject({ connection: 'idle', state: { cursor: 9 } });
  await until(live, ({ state }) => state.cursor === events.length);
  expect(starts).toEqual(['0', '9']);
});

test('a message shows at once, and the conversation that it begins is followed', async () => {
  const accept = Promise.withResolvers<void>();
  const live = await against(async (request, response) => {
    if (request.method === 'GET') {
      servingContext(events)(request, response);
      return;
    }
    await accept.promise;
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ contextId: 'ctx_a', taskId: 'task_a', cursor: 1 }));
  });
  const stop = live.subscribe(() => undefined);
  onTestFinished(stop);
  const sent = live.send('Grüezi 🪨');
  const sending = await until(live, ({ outgoing }) => outgoing.length === 1);
  expect(sending).toMatchObject({ contextId: null, outgoing: [{ content: 'Grüezi 🪨', taskId: null, error: null }] });
  accept.resolve();
  expect(await sent).toMatchObject({ contextId: 'ctx_a' });
  const view = await until(live, ({ state, outgoing }) => state.isCaughtUp && outgoing.length === 0);
  expect(view.contextId).toBe('ctx_a');
  expect(text(view.state)).toEqual(['Grüezi 🪨']);
});

test('a message that does not arrive stays with its error until it is discarded', async () => {
  const live = await against((_request, response) => {
    response.writeHead(429, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'rate_limited', message: 'Too fast.' }));
  });
  await expect(live.send('Hello?')).rejects.toMatchObject({ code: 'rate_limited' });
  const view = await until(live, ({ outgoing }) => outgoing[0]?.error !== null);
  expect(view.outgoing).toMatchObject([{ content: 'Hello?', error: { code: 'rate_limited' } }]);
  live.discard(view.outgoing[0]?.key ?? 0);
  await until(live, ({ outgoing }) => outgoing.length === 0);
});

test('stop cancels every task that is open, and no other', async () => {
  const cancelled: string[] = [];
  const live = await against((request, response) => {
    if (request.method === 'GET') {
      const open = { ...events[0], taskId: 'task_b', cursor: events.length + 1 };
      servingContext([...events, open as never])(request, response);
      return;
    }
    cancelled.push(request.url ?? '');
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end('{}');
  }, 'ctx_a');
  await until(live, ({ state }) => state.tasks.size === 2 && state.isCaughtUp);
  await live.stop('enough');
  expect(cancelled).toEqual(['/api/contexts/ctx_a/tasks/task_b/cancel']);
});
