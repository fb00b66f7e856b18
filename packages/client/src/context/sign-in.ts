/** Completes a sign-in that a task asks for: sends a credential, refuses, or sends the user to the service. */
import { type AuthCompletion, type TaskEventOf, type TaskEventPage, TerminalError } from '@cairn/protocol';
import { type ChangeOptions, change, asked as limits, query, segment } from '../calls.ts';
import type { Connection } from '../connection.ts';
import { encryptTo } from './jwe.ts';
import { type ReadToken, tokenNow } from './read-token.ts';

/** The `auth-required` event, or as much of it as counts. */
export type SignInRequest = Pick<TaskEventOf<'auth-required'>, 'authId' | 'authUrl' | 'encryptionKey'>;

/** What the user does. */
export type SignInStep =
  /** Types in a key, a token or a password. It is encrypted before it leaves the page. */
  | { readonly credential: string }
  /** Refuses. */
  | { readonly denied: true }
  /**
   * Goes to the service (OAuth). `open` gets the address at once, before anything is awaited: browsers open windows only
   * right after a click. `auth-completed` follows when the user comes back.
   */
  | { readonly open: (url: string) => unknown };

export interface SignInCall {
  readonly connection: Connection;
  /** `/api/contexts/{contextId}`. */
  readonly path: string;
  readonly token: ReadToken | undefined;
  readonly options: ChangeOptions | undefined;
}

export async function signIn(
  call: SignInCall,
  given: SignInRequest | string,
  step: SignInStep,
): Promise<AuthCompletion | null> {
  const asked = typeof given === 'string' ? await found(call, given) : given;
  const { connection, path, options } = call;
  if ('open' in step) {
    step.open(addressOf(asked));
    return null;
  }
  const body = 'denied' in step ? { denied: true } : { credential: await encrypted(asked, step.credential) };
  return change(connection, { path: `${path}/auths/${segment(asked.authId)}`, body }, options);
}

/** The event of an id. */
async function found({ connection, path, token, options }: SignInCall, authId: string): Promise<SignInRequest> {
  for (let after = 0; ; ) {
    const place = `${path}/events${query({ after, kinds: 'auth-required', token: await tokenNow(token) })}`;
    const page = await connection.json<TaskEventPage>({ method: 'GET', path: place, ...limits(options) });
    for (const event of page.events) if (event.kind === 'auth-required' && event.authId === authId) return event;
    if (page.next >= page.head) throw unknown(authId);
    after = page.next;
  }
}

const unknown = (authId: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The context has no sign-in ${authId}.`,
    hint: 'Pass the auth-required event, or its authId.',
  });

function encrypted({ authId, encryptionKey }: SignInRequest, credential: string): Promise<string> {
  if (encryptionKey !== undefined) return encryptTo(encryptionKey, credential);
  throw new TerminalError('validation_error', {
    message: `The sign-in ${authId} takes no credential.`,
    hint: 'Open its authUrl: signIn(asked, { open: (url) => window.open(url) }).',
  });
}

/** An address of another scheme could run a script in the page. */
function addressOf({ authId, authUrl }: SignInRequest): string {
  if (authUrl !== undefined && URL.canParse(authUrl) && /^https?:$/.test(new URL(authUrl).protocol)) return authUrl;
  throw new TerminalError('validation_error', {
    message: `The sign-in ${authId} has no web address to open.`,
    hint: 'Ask the user for a credential: signIn(asked, { credential }).',
  });
}
