/**
 * HTTP fetch for agents. It uses the egress guard and reaches only origins on the operator's list, including redirects.
 */
import { quoted, RetryableError, TerminalError } from '@cairn/protocol';
import type { HttpFetch, HttpFetched, HttpPort } from '../../agents/builtin-tools/http-tool.ts';
import type { CallTraces } from '../../telemetry/call-traces.ts';
import { createEgress, type Egress, type EgressPorts, type OutboundResponse } from './egress.ts';

const MAX_REDIRECTS = 5;

/** `allow` holds origins, or `*` for every public https address. Returns null when it is empty. */
export function createToolFetch(
  allow: readonly string[],
  ports: Pick<EgressPorts, 'resolve' | 'timers'> & {
    readonly now: () => number;
    readonly traces: Pick<CallTraces, 'headers'>;
  },
): HttpPort | null {
  if (allow.length === 0) return null;
  const origins = allow.filter((origin) => origin !== '*');
  const egress = createEgress({ ...ports, allow: origins });
  const list = { origins: new Set(origins), isOpen: origins.length < allow.length };
  return { fetch: (request) => follow(request, { ...ports, egress, list }) };
}

interface Fetching {
  readonly egress: Egress;
  readonly list: { readonly origins: ReadonlySet<string>; readonly isOpen: boolean };
  readonly now: () => number;
  readonly traces: Pick<CallTraces, 'headers'>;
}

async function follow(request: HttpFetch, { egress, list, now, traces }: Fetching): Promise<HttpFetched> {
  const { method, maxBytes, signal } = request;
  const deadline = now() + request.timeoutMs;
  const trace = await traces.headers();
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    refuseUnlisted(url, list);
    const answer = await egress.send({
      url,
      method,
      headers: { 'user-agent': 'cairn', ...request.headers, ...trace },
      ...(request.body === undefined ? {} : { body: request.body }),
      timeoutMs: Math.max(1, deadline - now()),
      maxBodyBytes: maxBytes,
      signal,
    });
    const next = method === 'GET' || method === 'HEAD' ? redirectOf(answer, url) : null;
    if (next === null) return fetched(answer, url);
    if (redirects === MAX_REDIRECTS) throw endless(request.url);
    url = next;
  }
}

function refuseUnlisted(url: string, { origins, isOpen }: Fetching['list']): void {
  if (isOpen || (URL.canParse(url) && origins.has(new URL(url).origin))) return;
  throw new TerminalError('http_url_rejected', {
    message: `${quoted(URL.canParse(url) ? new URL(url).origin : url, 120)} may not be called: it is not in tools.http.allow.`,
    hint: 'Ask the operator to add its origin to tools.http.allow.',
  });
}

/** The target of a redirect; null when the response is not a redirect. */
function redirectOf({ status, headers }: OutboundResponse, from: string): string | null {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null;
  return URL.canParse(location, from) ? new URL(location, from).href : null;
}

const fetched = ({ status, headers, body, isCut }: OutboundResponse, url: string): HttpFetched => ({
  status,
  url,
  contentType: headers['content-type'] ?? null,
  location: headers.location ?? null,
  body,
  isCut,
});

const endless = (url: string): RetryableError =>
  new RetryableError('http_network_error', {
    message: `${quoted(URL.canParse(url) ? new URL(url).origin : url, 120)} redirected more than ${MAX_REDIRECTS} times.`,
    hint: 'Call the final address instead of one that redirects.',
  });
