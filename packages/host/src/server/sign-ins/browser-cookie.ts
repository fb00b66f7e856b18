/** Binds a sign-in at a provider to the browser that began it. Otherwise one user could have another one finish it. */
import { hash } from 'node:crypto';
import { ATTEMPT_MS, CALLBACK_PATH } from './sign-ins.ts';

/** One for each sign-in, so that two of them in one browser do not disturb each other. */
const nameOf = (state: string): string => `cairn_sign_in_${hash('sha256', state, 'hex').slice(0, 16)}`;

/** `Lax`, because the provider sends the browser back from another site. */
export function browserCookie(baseUrl: string, state: string, secret: string): string {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${nameOf(state)}=${secret}; Path=${CALLBACK_PATH}; Max-Age=${ATTEMPT_MS / 1000}; HttpOnly; SameSite=Lax${secure}`;
}

/** The secret of the browser for this state; null if it has none. */
export function secretIn(cookies: string | undefined, state: string): string | null {
  const name = `${nameOf(state)}=`;
  const found = (cookies ?? '').split(';').find((cookie) => cookie.trimStart().startsWith(name));
  return found === undefined ? null : found.trim().slice(name.length);
}
