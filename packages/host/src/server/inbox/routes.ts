/** `GET /v1/host/cairn/inbox`: the open questions of a tenant, as pages or as a live stream. */
import { inboxChange, inboxPage } from '@cairn/protocol';
import { z } from 'zod';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunIndex } from '../../log/ports/run-index.ts';
import { acceptsStream } from '../http/accepts-stream.ts';
import { takenOver } from '../http/large-response.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { integerParam } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { Ancestry } from './ancestry.ts';
import { AskedRoom } from './asked-room.ts';
import { type EntrySource, entryOf } from './entries.ts';
import type { InboxFeed } from './inbox-feed.ts';

export interface InboxSurface {
  readonly log: EventLog;
  readonly runIndex: RunIndex;
  readonly loadView: LoadView;
  readonly cursors: PageCursors;
  readonly streams: EventStreams;
  readonly feed: InboxFeed;
}

export function inboxRoutes(surface: InboxSurface): readonly Route[] {
  const source = { log: surface.log, loadView: surface.loadView, ancestry: new Ancestry(surface.log) };
  return [
    {
      method: 'GET',
      path: '/v1/host/cairn/inbox',
      scope: 'runs:read',
      holds: true,
      handle: (call) => (wantsStream(call) ? stream(call, surface) : page(call, surface, source)),
      doc: {
        id: 'getInbox',
        summary: 'Every open question of the tenant, at any depth, as a page or as a live stream',
        query: z.object({ limit: z.int().min(1).max(200).optional(), cursor: z.string().optional() }),
        responses: {
          200: {
            description:
              'A page, the oldest first, which may be short. A client that accepts a stream gets all open questions, then each change.',
            shape: inboxPage,
            orStream: inboxChange,
          },
        },
        errors: ['validation_error'],
      },
    },
  ];
}

const wantsStream = ({ request }: Call): boolean => acceptsStream(request.headers.accept);

async function page(call: Call, { runIndex, cursors }: InboxSurface, source: EntrySource): Promise<string> {
  const { tenant } = call.caller;
  const { interrupts, nextCursor } = await runIndex.pending({
    tenant,
    limit: integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: 200 }) ?? 50,
    cursor: cursors.placeOf(tenant, queryParam(call, 'cursor')),
  });
  const entries = [];
  const room = new AskedRoom();
  for (const asked of interrupts) {
    const entry = await entryOf(source, asked);
    if (entry !== null) entries.push(room.fitted(entry));
  }
  return JSON.stringify({ entries, nextCursor: cursors.shown(tenant, nextCursor) });
}

async function stream(call: Call, { streams, feed }: InboxSurface): Promise<undefined> {
  const { tenant, expiresAt } = call.caller;
  const header = call.request.headers['last-event-id'];
  const lastId = typeof header === 'string' && header !== '' ? header : null;
  streams.serveFrom(takenOver(call), { tenant, expiresAt, what: 'the inbox' }, (sink) =>
    feed.subscribe(tenant, lastId, sink),
  );
  return undefined;
}
