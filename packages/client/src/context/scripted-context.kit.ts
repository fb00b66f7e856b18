/** Task events of a made-up context, and the frames that a host would send them in. */
import type { TaskEvent } from '@cairn/protocol';
import type { Answer } from '../scripted-host.kit.ts';

/** Fields of an event beyond those that every one has. */
export type Made = { readonly kind: TaskEvent['kind']; readonly taskId?: string } & Readonly<Record<string, unknown>>;

/** Whole events with the cursors 1, 2, 3 and so on. */
export const eventsOf = (made: readonly Made[]): readonly TaskEvent[] =>
  made.map(
    (fields, i) =>
      ({
        contextId: 'ctx_a',
        taskId: 'task_a',
        timestamp: '2026-01-01T00:00:00.000Z',
        cursor: i + 1,
        eventId: `ev_${i + 1}`,
        ...fields,
      }) as TaskEvent,
  );

/** A task with a text of so many pieces. */
export const talkOf = (pieces: number): readonly TaskEvent[] =>
  eventsOf([
    { kind: 'task-created', initiator: 'user', metadata: { message: { role: 'user', content: 'Grüezi 🪨' } } },
    { kind: 'task-status', status: 'working' },
    ...Array.from({ length: pieces }, (_, index) => ({
      kind: 'content-delta' as const,
      contentId: 'block_a',
      index,
      delta: `${index} ünïcode, `,
    })),
    { kind: 'task-status', status: 'completed' },
    { kind: 'task-complete' },
  ]);

export const taskFrame = (event: TaskEvent): string =>
  `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;

export const notice = (name: string, data: object): string =>
  `event: stream:${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Where a request wants the stream to begin. */
export function startOf(request: Parameters<Answer>[0]): string | null {
  const header = request.headers['last-event-id'];
  return typeof header === 'string' ? header : new URL(request.url ?? '/', 'http://host').searchParams.get('after');
}

/** Streams the events after the reader's cursor, then stays open. */
export function servingContext(events: readonly TaskEvent[]): Answer {
  return (request, response) => {
    const from = Number(startOf(request) ?? 0);
    const head = events.length;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 1000\n\n${notice('ready', { from, head })}`);
    for (const event of events) if (event.cursor > from) response.write(`:keepalive\n\n${taskFrame(event)}`);
    response.write(notice('caught-up', { cursor: head }));
  };
}
