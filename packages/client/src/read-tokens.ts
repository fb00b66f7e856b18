/** Read-only tokens for the streams of one run or one context, for pages that have no key. */
import type { MintReadToken, ReadToken } from '@cairn/protocol';
import { asked, type CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';

export interface ReadTokens {
  /** `eventsUrl` of the answer is an address for `new EventSource(…)`. */
  create(runId: string, request?: MintReadToken, options?: CallOptions): Promise<ReadToken>;
  /** No error if the token has expired. */
  revoke(runId: string, tokenId: string, options?: CallOptions): Promise<void>;
}

const pathOf = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}/tokens`;

export function readTokenCalls(connection: Connection): ReadTokens {
  return {
    create: (runId, request = {}, options) =>
      connection.json({ method: 'POST', path: pathOf(runId), body: request, ...asked(options) }),
    async revoke(runId, tokenId, options) {
      const path = `${pathOf(runId)}/${encodeURIComponent(tokenId)}`;
      await connection.call({ method: 'DELETE', path, repeatable: true, ...asked(options) });
    },
  };
}
