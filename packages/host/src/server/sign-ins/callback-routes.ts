/** Where OAuth providers send users back to: completes the sign-in and shows a page that says so. */
import { quoted, type RunId, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import { type HttpCall, queryParam, type Route } from '../http/routes.ts';
import { keepPrivate } from '../inbox/interrupts.ts';
import { secretIn } from './browser-cookie.ts';
import { complete, DENIED } from './complete.ts';
import { CALLBACK_PATH, type PendingSignIn, type SignIns } from './sign-ins.ts';

export interface CallbackSurface {
  readonly engine: Engine;
  readonly signIns: SignIns;
}

const text = z.string().max(4096).optional();

export const callbackRoutes = (surface: CallbackSurface): readonly Route[] => [
  {
    method: 'GET',
    path: CALLBACK_PATH,
    // The state and the cookie of the browser are the credential.
    scope: null,
    isOnce: true,
    handle: (call) => back(call, surface),
    doc: {
      id: 'signInCallback',
      summary: 'Where OAuth providers send users back to',
      query: z.object({ state: text, code: text, error: text, iss: text }),
      responses: { 200: { description: 'A page that says how it ended.', contentType: 'text/html' } },
      errors: [
        'validation_error',
        'forbidden',
        'auth_denied',
        'auth_expired',
        'interrupt_already_resolved',
        'http_network_error',
        'http_timeout',
        'http_url_rejected',
      ],
    },
  },
];

async function back(call: HttpCall, { engine, signIns }: CallbackSurface): Promise<undefined> {
  keepPrivate(call);
  const state = queryParam(call, 'state') ?? '';
  const code = queryParam(call, 'code');
  const error = queryParam(call, 'error');
  if (code === undefined && error === undefined) throw saysNothing();
  const attempt = await signIns.take(state, secretIn(call.request.headers.cookie, state));
  // Only the user can refuse. After any other error the sign-in stays open, and can begin again.
  if (code === undefined && error !== REFUSED) throw failedThere(attempt, error ?? '');
  const value = code === undefined ? DENIED : await signIns.exchange(attempt, code, queryParam(call, 'iss'));
  await complete(engine, { ...placeOf(attempt), value });
  const words = code === undefined ? 'You did not sign in.' : `You are signed in to ${attempt.provider}.`;
  call.reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .send(page(words));
  return undefined;
}

/** What a service says when its user refuses (RFC 6749, 4.1.2.1). */
const REFUSED = 'access_denied';

const saysNothing = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'The address has neither a code nor an error.',
    hint: 'Go back to the conversation and begin again.',
  });

/** Whoever has the address can write the error into it, so it is no failure of this host. */
const failedThere = ({ provider }: PendingSignIn, error: string): TerminalError =>
  new TerminalError('auth_denied', {
    message: `${provider} did not sign you in: ${quoted(error, 60)}.`,
    hint: 'Go back to the conversation and begin again. If it happens every time, the operator has to check the service.',
  });

const placeOf = ({ tenant, principal, runId, authId }: PendingSignIn) => ({
  tenant,
  principal,
  runId: runId as RunId,
  authId,
});

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The words hold nothing but the label of a service, which has no characters that HTML would read. */
const page = (words: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in</title><p>${words} You can close this page.</p></html>\n`;
