/** Completes a sign-in in the run that waits for it. */
import { isCairnError, type Json, type RunId } from '@cairn/protocol';
import type { Engine, IdempotentRequest, InterruptAnswered } from '../../engine/engine.ts';
import { alreadyDone, expired } from './open-sign-in.ts';

export interface Completion {
  readonly tenant: string;
  readonly principal: string | null;
  readonly runId: RunId;
  readonly authId: string;
  /** What the log says of the credential, or that the user refused. */
  readonly value: Json;
  readonly idempotency?: IdempotentRequest<InterruptAnswered> | undefined;
}

/** Another completion, or the end of its time, may have come first. */
export async function complete(
  engine: Engine,
  { authId, principal, ...request }: Completion,
): Promise<InterruptAnswered> {
  try {
    const answer = { ...request, interruptId: authId, completesSignIn: true };
    return await engine.answer({ ...answer, principal: principal ?? undefined });
  } catch (error) {
    if (isCairnError(error, 'interrupt_expired')) throw expired(authId);
    if (closed.some((code) => isCairnError(error, code))) throw alreadyDone(authId);
    throw error;
  }
}

const closed = ['interrupt_not_found', 'interrupt_cancelled', 'run_terminal'] as const;

export const DENIED = { denied: true };
