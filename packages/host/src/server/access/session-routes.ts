/** The routes that open and end a browser session. */
import { z } from 'zod';
import type { Route } from '../http/routes.ts';
import type { Sessions } from './sessions.ts';

const SESSION_PATH = '/v1/host/cairn/session';

const sessionOpened = z.object({ expiresAt: z.iso.datetime() }).meta({ id: 'SessionOpened' });

export function sessionRoutes(sessions: Sessions): readonly Route[] {
  return [
    {
      method: 'POST',
      path: SESSION_PATH,
      scope: 'runs:read',
      // A replayed response would have no cookie, and the cookie is the purpose of the request.
      repeatable: true,
      handle: async ({ caller, reply }) => {
        const { cookie, expiresAt } = sessions.open(caller);
        reply.header('set-cookie', cookie).header('cache-control', 'no-store');
        return JSON.stringify({ expiresAt: new Date(expiresAt).toISOString() });
      },
      doc: {
        id: 'openSession',
        summary: 'Open a browser session: a cookie that is good for GET only',
        responses: { 200: { description: 'The session is open; its cookie is in Set-Cookie.', shape: sessionOpened } },
      },
    },
    {
      method: 'DELETE',
      path: SESSION_PATH,
      // The cookie is the credential: its holder may end this session and nothing else.
      scope: null,
      repeatable: true,
      handle: async ({ request, reply }) => {
        const { cookie } = request.headers;
        const cleared = await sessions.end(cookie === undefined ? null : sessions.idIn(cookie));
        reply.code(204).header('set-cookie', cleared);
        reply.send();
        return undefined;
      },
      doc: {
        id: 'endSession',
        summary: 'End the browser session of the cookie',
        responses: { 204: { description: 'The session is over, or there was none.' } },
      },
    },
  ];
}
