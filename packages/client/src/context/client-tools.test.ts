import type { TaskEvent } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { eagerTimers, listen } from '../scripted-host.kit.ts';
import type { ClientTools } from './client-tools.ts';
import { createClient } from './index.ts';
import { eventsOf, notice, taskFrame } from './scripted-context.kit.ts';

const asking = (inputId: string, given: unknown = '{"of":1}', name = 'pick') =>
  ({
    kind: 'input-required',
    inputId,
    inputType: 'tool-execution',
    toolCallId: `call ${inputId}`,
    prompt: 'Pick.',
    metadata: { toolCall: { id: `call ${inputId}`, function: { name, arguments: given } } },
  }) as const;
const answered = (inputId: string) => ({ kind: 'input-received', inputId, providedBy: 'user', userId: 'u' }) as const;

interface Told {
  readonly inputId: string;
  readonly body: { readonly value?: unknown; readonly reject?: true; readonly reason?: string };
}

/** A host that has these events, and ends the task once so many answers came. Refuses what it should. */
async function told(
  events: readonly TaskEvent[],
  { tools, ends, refuses = () => null }: { tools: ClientTools; ends: number; refuses?: (told: Told) => number | null },
) {
  const taken: Told[] = [];
  const over = Promise.withResolvers<void>();
  const host = await listen(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const [, inputId] = /\/inputs\/(.*)$/.exec(request.url ?? '') ?? [];
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(notice('ready', { from: 0, head: events.length }));
      for (const event of events) response.write(taskFrame(event));
      response.write(notice('caught-up', { cursor: events.length }));
      await over.promise;
      response.write(taskFrame({ ...events[0], kind: 'task-complete', cursor: 99 } as TaskEvent));
      return;
    }
    let status = 202;
    if (inputId !== undefined) {
      const one = { inputId, body: JSON.parse(text) };
      taken.push(one);
      status = refuses(one) ?? 202;
      if (taken.length === ends) over.resolve();
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    const ids = { contextId: 'ctx_a', taskId: 'task_a', cursor: 1 };
    response.end(JSON.stringify(status === 202 ? ids : { error: refusals[status], message: 'Not so.' }));
  });
  onTestFinished(() => host.close());
  const context = createClient({ url: host.url, key: 'k', timers: eagerTimers, retries: 0 }).context('ctx_a');
  for await (const _ of context.send('Pick.', { tools }));
  return taken;
}

const refusals: Readonly<Record<number, string>> = { 401: 'unauthenticated', 413: 'event_too_large' };
const created = { kind: 'task-created', initiator: 'user' } as const;
const pick = (run: (input: object) => unknown): ClientTools => ({
  pick: { parameters: { type: 'object' }, run: run as () => null },
});

test('a call gets its arguments, as text or as an object, and its result is sent', async () => {
  const events = eventsOf([created, asking('a'), asking('b', { of: 2 }), asking('c', null), asking('d', '{}', 'x')]);
  const taken = await told(events, { tools: pick((input) => input), ends: 3 });
  expect(Object.fromEntries(taken.map(({ inputId, body }) => [inputId, body.value]))).toEqual({
    a: { of: 1 },
    b: { of: 2 },
    c: {},
  });
});

test('a call that was answered before the message was read is not run again', async () => {
  const ran: object[] = [];
  const events = eventsOf([created, asking('a'), answered('a'), asking('b', '{"of":2}')]);
  await told(events, { tools: pick((input) => ran.push(input)), ends: 1 });
  expect(ran).toEqual([{ of: 2 }]);
});

test('the agent is told of arguments, errors and results that do not fit, within what a reason may hold', async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const results: Record<number, () => unknown> = {
    1: () => {
      throw new Error(`${'x'.repeat(1_999)}🪨${'y'.repeat(5_000)}`);
    },
    2: () => circular,
    3: () => 'large',
  };
  const events = eventsOf([created, ...[1, 2, 3].map((of) => asking(`i${of}`, { of })), asking('broken', '{')]);
  const taken = await told(events, {
    tools: pick((input) => results[(input as { of: number }).of]?.()),
    ends: 5,
    refuses: ({ body }) => (body.value === 'large' ? 413 : null),
  });
  const reasons = Object.fromEntries(
    taken.flatMap(({ inputId, body }) => (body.reject ? [[inputId, body.reason]] : [])),
  );
  expect(Object.keys(reasons).sort()).toEqual(['broken', 'i1', 'i2', 'i3']);
  expect(reasons.i1).toBe(`${'x'.repeat(1_999)}\uFFFD`);
  expect(reasons.i2).toContain('circular');
  expect(reasons.i3).toBe('Not so.');
});

test('a result that cannot be sent at all ends the events at once', async () => {
  const events = eventsOf([created, asking('a')]);
  const reading = told(events, { tools: pick(() => 1), ends: 3, refuses: () => 401 });
  await expect(reading).rejects.toMatchObject({ code: 'unauthenticated' });
});
