/** Routes that mint and revoke read-only tokens for pages. */
import { isoTime, mintReadToken, parseShape, readToken } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { visibleRun } from '../http/params.ts';
import { type Call, pathParam, type Route } from '../http/routes.ts';
import { keepPrivate } from '../inbox/interrupts.ts';
import type { ReadTokens } from './read-tokens.ts';

export interface ReadTokenSurface {
  readonly log: EventLog;
  readonly tokens: ReadTokens;
  readonly baseUrl: () => string;
}

export function readTokenRoutes(surface: ReadTokenSurface): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/runs/{runId}/tokens',
      scope: 'runs:read',
      // A token that an earlier response lost is never used, and ends by itself.
      repeatable: true,
      handle: (call) => mint(call, surface),
      doc: {
        id: 'mintReadToken',
        summary: 'Mint a read-only token for the streams of a run or of its context',
        body: mintReadToken.optional(),
        responses: { 201: { description: 'The token; send it as ?token= to the streams.', shape: readToken } },
        errors: ['not_found'],
      },
    },
    {
      method: 'DELETE',
      path: '/v1/runs/{runId}/tokens/{tokenId}',
      scope: 'runs:read',
      handle: (call) => revoke(call, surface),
      doc: {
        id: 'revokeReadToken',
        summary: 'Revoke a read-only token of a run or of its context',
        responses: { 204: { description: 'The token is not valid any more.' } },
        errors: ['not_found'],
      },
    },
  ];
}

async function mint(call: Call, { log, tokens, baseUrl }: ReadTokenSurface): Promise<string> {
  const { of = 'run', expiresInSeconds } = parseShape(mintReadToken, call.request.body ?? {}, 'The request');
  const { record } = await visibleRun(call, log);
  const { runId, contextId } = record;
  const grant = of === 'run' ? { runId } : { contextId };
  const lifeMs = expiresInSeconds === undefined ? undefined : expiresInSeconds * 1000;
  const { token, tokenId, expiresAt } = tokens.mint(call.caller, grant, lifeMs);
  keepPrivate(call);
  call.reply.code(201);
  const eventsUrl = `${baseUrl()}/v1/runs/${runId}/events?token=${token}`;
  return JSON.stringify({ token, tokenId, of, runId, contextId, expiresAt: isoTime(expiresAt), eventsUrl });
}

async function revoke(call: Call, { log, tokens }: ReadTokenSurface): Promise<undefined> {
  await visibleRun(call, log);
  await tokens.revoke(call.caller.tenant, pathParam(call, 'tokenId'));
  call.reply.code(204);
  call.reply.send();
  return undefined;
}
