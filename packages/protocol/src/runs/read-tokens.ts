/** Read-only tokens for pages: good for the streams of one run or of one context, in the query of a URL. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { text } from '../fields.ts';

/** Maximum lifetime of a token in seconds: one day. */
export const MAX_READ_TOKEN_SECONDS = 86_400;

const readTokenScopes = ['run', 'context'] as const;

/** `POST /v1/runs/{runId}/tokens` (closed). */
export const mintReadToken = z
  .strictObject({
    /** What the token may read: this run, or every run of its context. Default `run`. */
    of: z.enum(readTokenScopes).optional(),
    /** Default 3600; never beyond the credential that asks for it. */
    expiresInSeconds: z.int().min(1).max(MAX_READ_TOKEN_SECONDS).optional(),
  })
  .meta({ id: 'MintReadToken' });

export const readToken = z
  .looseObject({
    token: text,
    /** Names the token where it is revoked. */
    tokenId: text,
    of: z.enum(readTokenScopes),
    runId: text,
    contextId: text,
    expiresAt: text,
    /** The stream of the run, with the token. */
    eventsUrl: text,
  })
  .meta({ id: 'ReadToken' });

export type MintReadToken = DataOf<typeof mintReadToken>;
export type ReadToken = DataOf<typeof readToken>;
