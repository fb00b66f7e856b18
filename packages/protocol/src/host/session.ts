/** Browser sessions, and the links that open one without a key. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { instant, text } from '../fields.ts';

/** Who calls, and what a page needs to act for them. */
export const browserSession = z
  .looseObject({
    tenant: text,
    principal: text.optional(),
    /** The scopes of the credential. Without the token, a session has only those that read runs and definitions. */
    scopes: z.array(text),
    /** When the session ends, unless it is renewed; absent for a key that does not expire. */
    expiresAt: instant.optional(),
    /** No renewal goes beyond this time. */
    renewableUntil: instant.optional(),
    /** Goes with each change in the header `Cairn-Session-Token`. Absent without a session. */
    token: text.optional(),
  })
  .meta({ id: 'BrowserSession' });

/** A session that was opened or renewed just now. */
export const openedSession = browserSession
  .required({ expiresAt: true, renewableUntil: true, token: true })
  .meta({ id: 'OpenedSession' });

/** `POST /v1/host/cairn/sign-in-links`. */
export const signInLink = z
  .looseObject({
    /** Opens Studio, signed in as the caller, once. */
    url: text,
    expiresAt: instant,
  })
  .meta({ id: 'SignInLink' });

export type BrowserSession = DataOf<typeof browserSession>;
export type OpenedSession = DataOf<typeof openedSession>;
export type SignInLink = DataOf<typeof signInLink>;
