/**
 * The requests of one exchange with an MCP server: only to its configured origin, without redirects, and with a limit
 * on all that it sends back. What breaks a rule ends the exchange.
 */
import { type CairnError, TerminalError } from '@cairn/protocol';
import type { McpServerSettings } from './server-settings.ts';

export interface GuardedFetchPorts {
  /** Carries the trace of the call in progress. */
  readonly fetch: typeof globalThis.fetch;
  /** Ends the exchange. The SDK does not always pass on why a request failed. */
  readonly end: (why: CairnError) => void;
}

/** A fetch for one exchange. Its responses share one limit of bytes, counted after decompression. */
export function guardedFetch(server: McpServerSettings, { fetch, end }: GuardedFetchPorts): typeof globalThis.fetch {
  const { origin } = new URL(server.url);
  const own = Object.entries(server.headers);
  let room = server.maxResponseBytes;
  const refuse = (why: CairnError): CairnError => {
    end(why);
    return why;
  };
  const counted = (): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> =>
    new TransformStream({
      transform(piece, controller) {
        room -= piece.byteLength;
        if (room >= 0) controller.enqueue(piece);
        else controller.error(refuse(tooLarge(server)));
      },
    });
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw refuse(elsewhere(server));
    const headers = new Headers(init?.headers);
    for (const [name, value] of own) headers.set(name, value.reveal());
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    const { status, body } = response;
    if (status >= 300 && status < 400) {
      await body?.cancel();
      throw refuse(elsewhere(server));
    }
    if (body === null) return response;
    return new Response(body.pipeThrough(counted()), { status, headers: response.headers });
  };
}

const elsewhere = ({ id, url }: McpServerSettings): TerminalError =>
  new TerminalError('http_url_rejected', {
    message: `The MCP server ${id} leads to another address, which is not followed.`,
    hint: `Have the operator set the address that answers itself, instead of ${new URL(url).origin}.`,
  });

const tooLarge = ({ id, maxResponseBytes }: McpServerSettings): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${id} sent more than ${maxResponseBytes} bytes in one call.`,
    hint: 'Ask for less, or have the operator raise maxResponseBytes.',
  });
