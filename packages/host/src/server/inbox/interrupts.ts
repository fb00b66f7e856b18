/** Interrupts for callers with a key: lists, answers, and tokens for others. */
import {
  answerInterrupt,
  interruptAnswered,
  interruptToken,
  isJsonObject,
  isoTime,
  mintInterruptToken,
  openInterrupts,
  parseShape,
  pendingInterrupts,
} from '@cairn/protocol';
import { z } from 'zod';
import type { Engine, InterruptAnswered } from '../../engine/engine.ts';
import { answeringPeer } from '../access/auth.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { atSeqParam, atSeqQuery, integerParam, requireEvent, runIdParam, visibleRun } from '../http/params.ts';
import { type Call, type HttpCall, pathParam, queryParam, type Route } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import type { PastRuns } from '../runs/past-runs.ts';
import { interruptsFor, interruptsThen } from './deciders.ts';
import type { InterruptTokens } from './interrupt-tokens.ts';
import { type Interrupts, openInterruptOf } from './open-interrupt.ts';

export interface InterruptSurface extends Interrupts {
  readonly engine: Engine;
  readonly tokens: InterruptTokens;
  readonly now: () => number;
  /** The public address of this host, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly cursors: PageCursors;
  readonly past: PastRuns;
  /** Whether an answer may name its voter, as suites with one key do. Otherwise votes belong to principals. */
  readonly trustsVoter: boolean;
}

export function interruptRoutes(surface: InterruptSurface): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/runs/{runId}/interrupts/{nodeId}',
      scope: 'approvals:respond',
      handle: (call) => answer(call, surface),
      doc: {
        id: 'answerInterrupt',
        summary: 'Answer a node that waits',
        body: answerInterrupt,
        responses: { 200: { description: 'The answer counts.', shape: interruptAnswered } },
        errors: [
          'not_found',
          'interrupt_not_found',
          'conflict',
          'interrupt_already_resolved',
          'interrupt_expired',
          'interrupt_cancelled',
          'run_imported',
          'event_too_large',
          'run_state_too_large',
          'quota_exceeded',
        ],
      },
    },
    {
      method: 'GET',
      path: '/v1/runs/{runId}/interrupts',
      scope: 'runs:read',
      handle: (call) => ofRun(call, surface),
      doc: {
        id: 'listRunInterrupts',
        summary: 'List the open interrupts of a run, now or after one of its events',
        query: z.object({ atSeq: atSeqQuery }),
        responses: { 200: { description: 'Its open interrupts, the oldest first.', shape: openInterrupts } },
        errors: ['validation_error', 'not_found', 'conflict'],
      },
    },
    {
      method: 'GET',
      path: '/v1/host/cairn/interrupts',
      scope: 'runs:read',
      handle: (call) => ofTenant(call, surface),
      doc: {
        id: 'listPendingInterrupts',
        summary: 'List the open interrupts of all runs of the tenant',
        query: z.object({ limit: z.int().min(1).max(200).optional(), cursor: z.string().optional() }),
        responses: {
          200: {
            description: 'A page of open interrupts, the oldest first; it may be short.',
            shape: pendingInterrupts,
          },
        },
        errors: ['validation_error'],
      },
    },
    {
      method: 'POST',
      path: '/v1/host/cairn/runs/{runId}/interrupts/{nodeId}/token',
      scope: 'approvals:respond',
      repeatable: true,
      handle: (call) => mint(call, surface),
      doc: {
        id: 'mintInterruptToken',
        summary: 'Mint a token that lets somebody without a key answer',
        body: mintInterruptToken.optional(),
        responses: { 201: { description: 'The token; it is shown only now.', shape: interruptToken } },
        errors: ['not_found', 'interrupt_not_found', 'interrupt_already_resolved', 'interrupt_expired'],
      },
    },
  ];
}

/** Keeps tokens out of caches and of the `Referer` header. */
export function keepPrivate({ reply }: HttpCall): void {
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
}

async function answer(call: Call, { engine, trustsVoter }: InterruptSurface): Promise<string> {
  const runId = runIdParam(call);
  const { resumeValue } = parseShape(answerInterrupt, call.request.body, 'The answer');
  const { tenant } = call.caller;
  const peer = answeringPeer(call.caller);
  const voter = trustsVoter && isJsonObject(resumeValue) ? resumeValue.voter : undefined;
  const principal = typeof voter === 'string' && voter !== '' ? voter : call.caller.principal;
  // A node, or an interrupt by its id: then a repeated answer never meets the node's next question.
  const nodeId = pathParam(call, 'nodeId');
  const request = { tenant, runId, nodeId, value: resumeValue, principal, peer };
  return recordedCommand<InterruptAnswered>(call, {
    status: 200,
    body: (answered) => JSON.stringify({ runId, nodeId: answered.nodeId, status: answered.status }),
    command: (idempotency) => engine.answer({ ...request, idempotency }),
  });
}

async function ofRun(call: Call, { log, loadView, past }: InterruptSurface): Promise<string> {
  const atSeq = atSeqParam(call);
  const head = await visibleRun(call, log);
  const { runId, importedAt } = head.record;
  if (atSeq !== undefined) {
    requireEvent(head, atSeq);
    return JSON.stringify({ interrupts: interruptsThen(await past.view(head, atSeq)) });
  }
  const interrupts = importedAt === null ? interruptsFor(call.caller, await loadView(runId)) : [];
  return JSON.stringify({ interrupts });
}

async function ofTenant(call: Call, { runIndex, cursors }: InterruptSurface): Promise<string> {
  const { tenant } = call.caller;
  const page = await runIndex.pending({
    tenant,
    limit: integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: 200 }) ?? 50,
    cursor: cursors.placeOf(tenant, queryParam(call, 'cursor')),
  });
  const interrupts = page.interrupts.map(({ runId, workflowId, nodeId, interruptId, kind, requestedAt }) => ({
    runId,
    workflowId,
    nodeId,
    interruptId,
    kind,
    requestedAt: isoTime(requestedAt),
  }));
  return JSON.stringify({ interrupts, nextCursor: cursors.shown(tenant, page.nextCursor) });
}

async function mint(call: Call, surface: InterruptSurface): Promise<string> {
  const { intent = 'resolve', expiresInSeconds } = parseShape(
    mintInterruptToken,
    call.request.body ?? {},
    'The token request',
  );
  const { record } = await visibleRun(call, surface.log);
  const now = surface.now();
  const open = await openInterruptOf(surface, { runId: record.runId, name: pathParam(call, 'nodeId'), now });
  const { nodeId, interruptId } = open;
  const { token, expiresAt } = surface.tokens.mint(
    { runId: record.runId, nodeId, interruptId, intent, principal: call.caller.principal },
    {
      now,
      ...(expiresInSeconds === undefined ? {} : { ms: expiresInSeconds * 1_000 }),
      interruptEndsAt: open.expiresAt === undefined ? null : Date.parse(open.expiresAt),
    },
  );
  keepPrivate(call);
  call.reply.code(201);
  const url = `${surface.baseUrl()}/v1/interrupts/${token}`;
  return JSON.stringify({ token, url, intent, interruptId, expiresAt: isoTime(expiresAt) });
}
