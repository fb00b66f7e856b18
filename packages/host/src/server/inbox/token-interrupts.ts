/** Interrupts for bearers of a token: inspect one, or answer it. */
import {
  answerInterrupt,
  foldEventOf,
  interruptResolved,
  isCairnError,
  openInterrupt,
  parseShape,
  type RunId,
  TerminalError,
} from '@cairn/protocol';
import type { RunHead } from '../../log/ports/event-log.ts';
import { type HttpCall, pathParam, type Route } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import type { VerifiedToken } from './interrupt-tokens.ts';
import { type InterruptSurface, keepPrivate } from './interrupts.ts';
import { openInterruptOf } from './open-interrupt.ts';

const errors = ['unauthenticated', 'interrupt_not_found', 'interrupt_already_resolved', 'interrupt_expired'] as const;

export function tokenInterruptRoutes(surface: InterruptSurface): readonly Route[] {
  const admit = async (call: HttpCall): Promise<void> => void grantOf(call, surface);
  return [
    {
      method: 'GET',
      path: '/v1/interrupts/{token}',
      scope: null,
      admit,
      handle: (call) => inspect(call, surface),
      doc: {
        id: 'inspectInterrupt',
        summary: 'Read the interrupt that a token grants',
        responses: { 200: { description: 'The open interrupt.', shape: openInterrupt } },
        errors,
      },
    },
    {
      method: 'POST',
      path: '/v1/interrupts/{token}',
      scope: null,
      admit,
      handle: (call) => resolve(call, surface),
      doc: {
        id: 'resolveInterrupt',
        summary: 'Answer with a token instead of a key',
        body: answerInterrupt,
        responses: { 200: { description: 'The answer counts.', shape: interruptResolved } },
        errors: [...errors, 'forbidden', 'conflict', 'event_too_large', 'run_state_too_large', 'quota_exceeded'],
      },
    },
  ];
}

async function inspect(call: HttpCall, surface: InterruptSurface): Promise<string> {
  const { grant, head } = await granted(call, surface);
  const { runId, interruptId } = grant;
  try {
    return JSON.stringify(await openInterruptOf(surface, { runId, name: interruptId, now: surface.now() }));
  } catch (error) {
    throw await seenByBearer(error, head, surface);
  }
}

async function resolve(call: HttpCall, surface: InterruptSurface): Promise<string> {
  const { grant, head } = await granted(call, surface);
  if (grant.intent !== 'resolve') {
    throw new TerminalError('forbidden', {
      message: 'This token is for looking, not for answering.',
      hint: 'Ask for a token with the intent resolve.',
    });
  }
  const { resumeValue } = parseShape(answerInterrupt, call.request.body, 'The answer');
  const { runId, interruptId, principal, tokenId } = grant;
  const request = { tenant: head.record.tenant, runId, interruptId, value: resumeValue, principal, tokenId };
  try {
    return await recordedCommand(call, {
      status: 200,
      body: () => '{}',
      command: (idempotency) => surface.engine.answer({ ...request, idempotency }),
    });
  } catch (error) {
    throw await seenByBearer(error, head, surface);
  }
}

interface Granted {
  readonly grant: VerifiedToken;
  readonly head: RunHead;
}

/** The token is the credential: it is verified before the rest of the request is read. */
function grantOf(call: HttpCall, { tokens, now }: InterruptSurface): VerifiedToken {
  keepPrivate(call);
  return tokens.verify(pathParam(call, 'token'), now());
}

async function granted(call: HttpCall, surface: InterruptSurface): Promise<Granted> {
  const grant = grantOf(call, surface);
  const head = await surface.log.head(grant.runId);
  if (head !== null) return { grant, head };
  throw new TerminalError('interrupt_not_found', {
    message: 'The run of this token is not here any more.',
    hint: 'Ask for a new token.',
  });
}

/** For the bearer of a token, a cancelled run has resolved its questions; in a run cancelled with its parent they have expired. */
async function seenByBearer(error: unknown, { record }: RunHead, { log }: InterruptSurface): Promise<unknown> {
  const isCancelled = isCairnError(error, 'interrupt_cancelled');
  if (!isCancelled && !isCairnError(error, 'interrupt_already_resolved')) return error;
  const hint = 'Nothing is left to answer.';
  if (await wentWithItsParent(record.runId, log)) {
    const message = 'The run was cancelled with the run that started it; its questions are gone.';
    return new TerminalError('interrupt_expired', { message, hint, cause: error });
  }
  if (!isCancelled) return error;
  const message = 'The run was cancelled; its questions are settled.';
  return new TerminalError('interrupt_already_resolved', { message, hint, cause: error });
}

async function wentWithItsParent(runId: RunId, log: InterruptSurface['log']): Promise<boolean> {
  const head = await log.head(runId);
  const [last] = head === null ? [] : await log.read({ runId, after: head.seq - 1, limit: 1 });
  const event = last === undefined ? null : foldEventOf(last);
  return event?.type === 'run.cancelled' && event.payload.parentRunId !== undefined;
}
