/** Sign-ins of the tasks of a context: a key that the user sends, a refusal, or the way to an OAuth provider. */
import { authCompletion, type CompleteAuth, completeAuth, parseShape, TerminalError } from '@cairn/protocol';
import type { Engine, InterruptAnswered } from '../../engine/engine.ts';
import type { Call, Route } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { keepPrivate } from '../inbox/interrupts.ts';
import { browserCookie } from './browser-cookie.ts';
import { complete, DENIED } from './complete.ts';
import { type OpenSignIn, type OpenSignIns, openSignIn } from './open-sign-in.ts';
import type { SignIns } from './sign-ins.ts';

export interface AuthSurface extends OpenSignIns {
  readonly engine: Engine;
  readonly signIns: SignIns;
  readonly baseUrl: () => string;
}

const AUTH_PATH = '/api/contexts/{contextId}/auths/{authId}';

export const authRoutes = (surface: AuthSurface): readonly Route[] => [
  {
    method: 'POST',
    path: AUTH_PATH,
    scope: 'approvals:respond',
    isEventBody: true,
    handle: (call) => completeSignIn(call, surface),
    doc: {
      id: 'completeAuth',
      summary: 'Send the credential that a task asks for, or refuse to sign in',
      body: completeAuth,
      responses: { 202: { description: 'The sign-in counts.', shape: authCompletion } },
      errors: ['not_found', 'auth_expired', 'interrupt_already_resolved', 'input_invalid'],
    },
  },
  {
    method: 'GET',
    path: `${AUTH_PATH}/authorize`,
    scope: 'runs:read',
    isOnce: true,
    handle: (call) => authorize(call, surface),
    doc: {
      id: 'authorizeAuth',
      summary: 'Send a browser to the provider of a sign-in',
      responses: { 302: { description: 'The way to the provider, in `Location`.' } },
      errors: ['not_found', 'auth_expired', 'interrupt_already_resolved', 'input_invalid'],
    },
  },
];

async function completeSignIn(call: Call, { engine, signIns, ...surface }: AuthSurface): Promise<string> {
  const given = parseShape(completeAuth, call.request.body, 'The sign-in');
  const asked = await openSignIn(call, surface);
  const value = 'denied' in given ? DENIED : await storedKey(call, { given, asked, signIns });
  const { runId, authId } = asked;
  const { tenant, principal = null } = call.caller;
  return recordedCommand<InterruptAnswered>(call, {
    status: 202,
    body: () => JSON.stringify({ authId, taskId: runId }),
    command: (idempotency) => complete(engine, { tenant, principal, runId, authId, value, idempotency }),
  });
}

interface SentKey {
  readonly given: Extract<CompleteAuth, { readonly credential: string }>;
  readonly asked: OpenSignIn;
  readonly signIns: SignIns;
}

function storedKey({ caller }: Call, { given, asked, signIns }: SentKey) {
  const { tenant, principal = null } = caller;
  return signIns.storeKey({ tenant, principal, provider: asked.provider }, asked, given.credential);
}

async function authorize(call: Call, { signIns, baseUrl, ...surface }: AuthSurface): Promise<undefined> {
  const asked = await openSignIn(call, surface);
  if (asked.authType !== 'oauth2') throw noProvider(asked.authId);
  const { contextId, runId, authId, provider, scopes } = asked;
  const { tenant, principal = null } = call.caller;
  const { url, state, browser } = await signIns.start(
    { tenant, principal, contextId, runId, authId, provider },
    scopes,
  );
  keepPrivate(call);
  call.reply.header('set-cookie', browserCookie(baseUrl(), state, browser)).redirect(url, 302);
  return undefined;
}

const noProvider = (authId: string): TerminalError =>
  new TerminalError('input_invalid', {
    message: `The sign-in ${authId} has no provider to go to: it takes a credential.`,
    hint: 'POST the credential, encrypted to its encryptionKey.',
    details: { authId },
  });
