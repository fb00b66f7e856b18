/**
 * The requests of one exchange with an MCP server: only to its configured origin, without redirects, and with a limit on
 * the total size of the responses. A violation ends the exchange.
 */
import { type CairnError, TerminalError } from '@cairn/protocol';
import { countedResponse } from '../peers/counted-response.ts';
import { MAX_JSON_VALUES } from '../peers/json-values.ts';
import type { HttpServerSettings } from './server-settings.ts';

export interface GuardedFetchPorts {
  /** Carries the trace of the call in progress. */
  readonly fetch: typeof globalThis.fetch;
  /** Ends the exchange with the reason, because the SDK does not always pass it on. */
  readonly end: (why: CairnError) => void;
}

/** A fetch for one exchange. Its responses share one limit of bytes, counted after decompression. */
export function guardedFetch(server: HttpServerSettings, { fetch, end }: GuardedFetchPorts): typeof globalThis.fetch {
  const { origin } = new URL(server.url);
  const own = Object.entries(server.headers);
  let room = server.maxResponseBytes;
  const refuse = (why: CairnError): CairnError => {
    end(why);
    return why;
  };
  const spend = (bytes: number) => {
    room -= bytes;
    if (room < 0) throw refuse(tooLarge(server));
  };
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
    return countedResponse(response, { spend, tooManyValues: () => refuse(tooManyValues(server)) });
  };
}

const elsewhere = ({ id, url }: HttpServerSettings): TerminalError =>
  new TerminalError('http_url_rejected', {
    message: `The MCP server ${id} leads to another address, which is not followed.`,
    hint: `Have the operator set the address that answers itself, instead of ${new URL(url).origin}.`,
  });

const tooManyValues = ({ id }: HttpServerSettings): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${id} sent more than ${MAX_JSON_VALUES} values in one message.`,
    hint: 'Ask for less, or for text instead of data.',
  });

const tooLarge = ({ id, maxResponseBytes }: HttpServerSettings): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${id} sent more than ${maxResponseBytes} bytes in one call.`,
    hint: 'Ask for less, or have the operator raise maxResponseBytes.',
  });
