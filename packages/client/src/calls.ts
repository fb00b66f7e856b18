/** Options and helpers that all calls share. */
import type { Connection, HostRequest } from './connection.ts';
import { freshKey } from './timers.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For the whole answer, in milliseconds. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number;
}

/** For views of a run that can show the past. */
export interface PastOptions extends CallOptions {
  /** As it was after the event with this sequence. Default: as it is. */
  readonly atSeq?: number;
}

export interface ChangeOptions extends CallOptions {
  /**
   * Sent again with the same key, the same request is carried out once. At most 255 characters. Default: a fresh one for
   * each call, which is why a call can be repeated when its answer was lost. Give your own to repeat it after a crash.
   */
  readonly idempotencyKey?: string;
}

export const asked = ({ signal, timeoutMs }: CallOptions = {}): Pick<HostRequest, 'signal' | 'timeoutMs'> => ({
  signal,
  timeoutMs,
});

/** A path with a query takes no `atSeq`. */
export function read<Body>(connection: Connection, path: string, options: PastOptions = {}): Promise<Body> {
  return connection.json({ method: 'GET', path: path + query({ atSeq: options.atSeq }), ...asked(options) });
}

/** A request that changes state. Its idempotency key makes it safe to retry. */
export function change<Body>(
  connection: Connection,
  request: Pick<HostRequest, 'path' | 'body' | 'headers'> & { readonly method?: HostRequest['method'] },
  options: ChangeOptions = {},
): Promise<Body> {
  return connection.json({
    method: 'POST',
    ...request,
    ...asked(options),
    headers: { 'idempotency-key': options.idempotencyKey ?? freshKey(), ...request.headers },
    repeatable: true,
  });
}

/** A query string without the undefined values. */
export function query(values: Readonly<Record<string, string | number | boolean | undefined>> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

export const segment = (text: string): string => encodeURIComponent(text);

export const runPath = (runId: string): string => `/v1/runs/${segment(runId)}`;
