import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, chaosProxy, eagerTimers, listen, ManualTimers } from '../scripted-host.kit.ts';
import type { Timers } from '../timers.ts';
import { type Context, type ContextEvent, createClient, type FollowContextOptions } from './index.ts';
import { notice, servingContext, startOf, talkOf, taskFrame } from './scripted-context.kit.ts';

interface Scripted {
  readonly context: Context;
  readonly urls: string[];
  readonly starts: (string | null)[];
}

/** Answers the n-th request with the n-th script; the last one repeats. */
async function against(answers: readonly Answer[], timers: Timers = eagerTimers): Promise<Scripted> {
  const urls: string[] = [];
  const starts: (string | null)[] = [];
  const host = await listen((request, response) => {
    urls.push(request.url ?? '');
    starts.push(startOf(request));
    answers[Math.min(urls.length, answers.length) - 1]?.(request, response);
  });
  onTestFinished(() => host.close());
  return { context: createClient({ url: host.url, key: 'k', timers }).context('ctx_a'), urls, starts };
}

const frames =
  (...texts: readonly string[]): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(texts.join(''));
  };

const events = talkOf(3);
const [first, second] = events as [(typeof events)[0], (typeof events)[0]];
const rest = events.slice(1);

async function upTo(
  context: Context,
  isLast: (event: ContextEvent) => boolean,
  options?: FollowContextOptions,
): Promise<readonly ContextEvent[]> {
  const seen: ContextEvent[] = [];
  for await (const event of context.follow(options)) {
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}

const isComplete = ({ kind }: ContextEvent) => kind === 'task-complete';
const cursors = (seen: readonly ContextEvent[]) =>
  seen.flatMap((event) => (event.kind.startsWith('stream:') || !('cursor' in event) ? [] : event.cursor));

test('a context arrives once, whole and in order through a network that cuts at any byte', async () => {
  const long = talkOf(30);
  const host = await listen(servingContext(long));
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 8 }), async (cuts) => {
        const proxy = await chaosProxy(host.port, cuts);
        try {
          const context = createClient({ url: proxy.url, key: 'k', timers: eagerTimers }).context('ctx_a');
          const seen = await upTo(context, isComplete, { after: 0 });
          expect(seen.filter(({ kind }) => !kind.startsWith('stream:'))).toEqual(long);
        } finally {
          await proxy.close();
        }
      }),
      { numRuns: 25 },
    );
  } finally {
    await host.close();
  }
});

test('goes on where its first connection began, although that one broke before any event', async () => {
  const { context, starts } = await against([
    frames(notice('ready', { from: 1, head: 1 })),
    frames(notice('ready', { from: 1, head: 2 }), ...rest.map(taskFrame)),
  ]);
  const seen = await upTo(context, isComplete, { after: 'latest' });
  expect(cursors(seen)).toEqual([2, 3, 4, 5, 6, 7]);
  expect(starts).toEqual(['latest', '1']);
});

test('goes on after what a filter hid, once it was caught up', async () => {
  const { context, starts } = await against([
    frames(notice('ready', { from: 0, head: 5 }), taskFrame(first), notice('caught-up', { cursor: 5 })),
    servingContext(events),
  ]);
  await upTo(context, isComplete, { after: 0 });
  expect(starts).toEqual(['0', '5']);
});

test('begins again after a reset, and says so in the order of the events', async () => {
  const reset = { reason: 'cursor-ahead', oldest: 1, head: 7 };
  const { context, starts } = await against([
    frames(notice('ready', { from: 7, head: 7 }), notice('reset', reset)),
    servingContext(events),
  ]);
  const seen = await upTo(context, isComplete, { after: 99 });
  expect(seen[0]).toEqual({ kind: 'stream:reset', ...reset });
  expect(seen.slice(1)).toEqual(events);
  expect(starts).toEqual(['99', '0']);
});

test('connects again after the time that a closing host names', async () => {
  const timers = new ManualTimers();
  const closing = notice('closing', { reason: 'draining', retryAfterMs: 1_234 });
  const { context, starts } = await against([frames(taskFrame(first), closing), servingContext(events)], timers);
  const seen = upTo(context, isComplete, { after: 0 });
  await timers.pass(1_234);
  expect(cursors(await seen)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(starts).toEqual(['0', '1']);
});

test('passes kinds of later versions on, and over notices of later versions', async () => {
  const later = { ...second, kind: 'mood-changed' };
  const { context } = await against([
    frames(
      taskFrame(first),
      notice('weather', { sun: true }),
      taskFrame(later as never),
      ...rest.slice(1).map(taskFrame),
    ),
  ]);
  const seen = await upTo(context, isComplete);
  expect(seen.map(({ kind }) => kind as string).slice(0, 3)).toEqual(['task-created', 'mood-changed', 'content-delta']);
});

test('asks for its filters on every connection', async () => {
  const { context, urls } = await against([frames(taskFrame(first)), servingContext(events)]);
  await upTo(context, isComplete, {
    kinds: ['task-created', 'task-complete'],
    taskId: 'task_a',
    subtree: true,
    subtasks: false,
    verbosity: 'detailed',
    minConfidence: 0.5,
  });
  const asked =
    '/api/contexts/ctx_a/stream?kinds=task-created%2Ctask-complete&taskId=task_a&subtree=1&subtasks=0&verbosity=detailed&minConfidence=0.5';
  expect(urls).toEqual([asked, asked]);
});

test('throws what the host refuses, and the reason of its signal', async () => {
  const refused = await against([
    (_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'not_found', message: 'There is no context.' }));
    },
  ]);
  await expect(upTo(refused.context, isComplete)).rejects.toMatchObject({ code: 'not_found', status: 404 });
  const stop = new AbortController();
  const open = await against([servingContext(events)]);
  const atEnd = (event: ContextEvent) => {
    if (isComplete(event)) stop.abort(new Error('enough'));
    return false;
  };
  const stopped = upTo(open.context, atEnd, { after: 0, signal: stop.signal });
  await expect(stopped).rejects.toThrow('enough');
});

test('refuses a frame that is no task event', async () => {
  const { context } = await against([frames('data: {"kind":"task-created"}\n\n')]);
  await expect(upTo(context, isComplete)).rejects.toThrow('not a task event');
});
