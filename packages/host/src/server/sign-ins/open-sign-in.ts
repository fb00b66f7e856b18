/** Finds the sign-in of a context that a request means, and refuses every caller but the user whom it is for. */
import {
  type InterruptView,
  isHostSignIn,
  isJsonObject,
  type Json,
  type JsonObject,
  type RunId,
  type RunView,
  TerminalError,
} from '@cairn/protocol';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import { visibleContext } from '../contexts/context-params.ts';
import { type Call, pathParam } from '../http/routes.ts';
import { contextHasNo, isPlainId } from '../http/unknown-id.ts';

export interface OpenSignIns {
  readonly contexts: Contexts;
  readonly loadView: LoadView;
  readonly now: () => number;
}

/** An open sign-in. Its fields come from the configuration and from the tool that asked. */
export interface OpenSignIn {
  readonly contextId: string;
  readonly runId: RunId;
  readonly authId: string;
  readonly authType: string;
  readonly provider: string;
  readonly scopes: readonly string[];
  readonly encryptionKey: Json | undefined;
}

/** Throws 404 for what is no sign-in of the context, 403 for other users, 409 when it does not wait any more. */
export async function openSignIn(call: Call, { contexts, loadView, now }: OpenSignIns): Promise<OpenSignIn> {
  const contextId = await visibleContext(call, contexts);
  const authId = pathParam(call, 'authId');
  const [asked] = await contexts.interrupts(contextId, authId);
  if (asked === undefined) throw unknown(authId);
  const { runId } = asked;
  const view = await loadView(runId);
  const interrupt = Object.hasOwn(view.interrupts, authId) ? view.interrupts[authId] : undefined;
  if (interrupt !== undefined && !isHostSignIn(interrupt)) throw unknown(authId);
  if (call.caller.peer !== undefined) throw notAUser(authId, call.caller.peer);
  if ((call.caller.principal ?? null) !== (view.owner?.principal ?? null)) throw notYours(authId);
  if (interrupt === undefined) throw closed(view, authId);
  if (interrupt.expiresAt !== null && now() >= interrupt.expiresAt) throw expired(authId);
  return { contextId, runId, authId, ...fieldsOf(interrupt) };
}

function fieldsOf({ data }: InterruptView): Pick<OpenSignIn, 'authType' | 'provider' | 'scopes' | 'encryptionKey'> {
  const correlation: JsonObject = isJsonObject(data.correlation) ? data.correlation : {};
  const { authType, provider, scopes, encryptionKey } = correlation;
  return {
    authType: typeof authType === 'string' ? authType : '',
    provider: typeof provider === 'string' ? provider : '',
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
    encryptionKey,
  };
}

const unknown = (authId: string): TerminalError =>
  new TerminalError('not_found', {
    message: contextHasNo('sign-in', authId, isPlainId(authId)),
    hint: 'The tasks of the context list what they wait for.',
  });

/** A host that calls may hold a key of the principal that owns the run. It is still no user who can sign in. */
const notAUser = (authId: string, hostId: string): TerminalError =>
  new TerminalError('forbidden', {
    message: `The host ${hostId} cannot complete the sign-in ${authId}: only a user of this host can sign in.`,
    hint: 'Let a user start the run with a key or token of their own.',
    details: { authId, hostId },
  });

const notYours = (authId: string): TerminalError =>
  new TerminalError('forbidden', {
    message: `Only the user who started the run may complete the sign-in ${authId}.`,
    hint: 'Sign in with a key or token of that user.',
    details: { authId },
  });

const closed = ({ resolvedInterrupts }: RunView, authId: string): TerminalError =>
  Object.hasOwn(resolvedInterrupts, authId) && resolvedInterrupts[authId] === 'expired'
    ? expired(authId)
    : alreadyDone(authId);

export const alreadyDone = (authId: string): TerminalError =>
  new TerminalError('interrupt_already_resolved', {
    message: `The sign-in ${authId} does not wait any more.`,
    hint: 'It counts once. The events of the context say how it ended.',
    details: { authId },
  });

export const expired = (authId: string): TerminalError =>
  new TerminalError('auth_expired', {
    message: `The sign-in ${authId} came too late.`,
    hint: 'The task goes on without it, or asks again.',
    details: { authId },
  });
