/** The routes of browser sessions, and of the links that open one. */
import { browserSession, isoTime, openedSession, signInLink } from '@cairn/protocol';
import { type Call, type HttpCall, pathParam, type Route } from '../http/routes.ts';
import type { Caller } from './auth.ts';
import type { OpenedSession, Sessions } from './sessions.ts';
import type { SignInLinks } from './sign-in-links.ts';

const SESSION_PATH = '/v1/host/cairn/session';
const LINKS_PATH = '/v1/host/cairn/sign-in-links';

export function sessionRoutes(sessions: Sessions): readonly Route[] {
  return [
    {
      method: 'POST',
      path: SESSION_PATH,
      scope: 'runs:read',
      // A replayed response would have no cookie, and the cookie is the purpose of the request.
      repeatable: true,
      handle: (call) => open(call, sessions),
      doc: {
        id: 'openSession',
        summary: 'Open a browser session with a key, or renew one',
        responses: { 200: { description: 'The session is open; its cookie is in Set-Cookie.', shape: openedSession } },
      },
    },
    {
      method: 'GET',
      path: SESSION_PATH,
      scope: 'runs:read',
      handle: (call) => describe(call, sessions),
      doc: {
        id: 'getSession',
        summary: 'Who the caller is, and the token of its session',
        responses: { 200: { description: 'The caller.', shape: browserSession } },
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

export interface SignInLinkSurface {
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  /** Call it only after the host listens. */
  readonly baseUrl: () => string;
}

export function signInLinkRoutes({ sessions, links, baseUrl }: SignInLinkSurface): readonly Route[] {
  return [
    {
      method: 'POST',
      path: LINKS_PATH,
      scope: 'runs:read',
      // A link that an earlier response lost is never used, and ends by itself.
      repeatable: true,
      handle: async ({ caller, reply }) => {
        const { code, expiresAt } = await links.mint(caller);
        reply.code(201).header('cache-control', 'no-store');
        // Behind the #, browsers send the code to no server, and in no Referer.
        return JSON.stringify({ url: `${baseUrl()}/sign-in#${code}`, expiresAt: isoTime(expiresAt) });
      },
      doc: {
        id: 'createSignInLink',
        summary: 'Make a link that opens Studio once, signed in as the caller',
        responses: { 201: { description: 'The link.', shape: signInLink } },
      },
    },
    {
      method: 'POST',
      path: `${LINKS_PATH}/{code}`,
      // The code is the credential. Pages of other origins are refused before it is looked at.
      scope: null,
      admit: (call) => links.check(pathParam(call, 'code')),
      repeatable: true,
      handle: async (call) => {
        const caller = await links.redeem(pathParam(call, 'code'));
        return opened(call, caller, sessions.open(caller));
      },
      doc: {
        id: 'redeemSignInLink',
        summary: 'Open a browser session with the code of a link, once',
        responses: { 200: { description: 'The session is open; its cookie is in Set-Cookie.', shape: openedSession } },
        errors: ['unauthenticated'],
      },
    },
  ];
}

async function open(call: Call, sessions: Sessions): Promise<string> {
  const { caller } = call;
  const text = caller.endableId === undefined ? null : sessionIn(call, sessions);
  const session = text === null ? null : await sessions.renew(text);
  return opened(call, caller, session ?? sessions.open(caller));
}

function opened({ reply }: HttpCall, { tenant, principal, scopes }: Caller, session: OpenedSession): string {
  const { cookie, token, expiresAt, renewableUntil } = session;
  reply.header('set-cookie', cookie).header('cache-control', 'no-store');
  const until = { expiresAt: isoTime(expiresAt), renewableUntil: isoTime(renewableUntil) };
  return JSON.stringify({ tenant, principal, scopes: [...scopes], ...until, token });
}

async function describe(call: Call, sessions: Sessions): Promise<string> {
  const { tenant, principal, expiresAt } = call.caller;
  const text = call.caller.endableId === undefined ? null : sessionIn(call, sessions);
  const session = text === null ? null : await sessions.describe(text);
  const scopes = session?.scopes ?? [...call.caller.scopes];
  return JSON.stringify({
    tenant,
    principal,
    scopes,
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
    ...(session !== null && { renewableUntil: isoTime(session.renewableUntil) }),
    // A listed origin may read with the session, but never change anything with it.
    ...(session !== null && call.request.headers.origin === undefined && { token: session.token }),
  });
}

const sessionIn = ({ request }: HttpCall, sessions: Sessions): string | null =>
  request.headers.cookie === undefined ? null : sessions.idIn(request.headers.cookie);
