/** What goes wrong with an A2A peer, as errors of the host. The words of a peer are untrusted: they are quoted and cut. */
import { type CairnError, isCairnError, quoted, RetryableError, TerminalError, thrownText } from '@cairn/protocol';
import { thrownCode } from '../../thrown-code.ts';
import { MAX_JSON_VALUES } from '../peers/json-values.ts';
import type { PeerSettings } from './peer-settings.ts';

/** The characters of a peer's own words in a message. */
const MAX_WORDS = 300;

/** An error that the peer returned for a request. */
export class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, words: string) {
    super(words);
    this.code = code;
  }
}

/** The errors of the protocol that the client acts on. */
export const rpcCodes = {
  params: -32602,
  noMethod: -32601,
  taskNotFound: -32001,
  notCancelable: -32002,
  unsupported: -32004,
  version: -32009,
} as const;

/** A request that failed. `isUnsent`: the peer cannot have taken it. */
export class RequestFailure extends Error {
  readonly error: CairnError;
  readonly isUnsent: boolean;

  constructor(error: CairnError, isUnsent: boolean) {
    super(error.message);
    this.error = error;
    this.isUnsent = isUnsent;
  }
}

export function peerError(peer: string, error: unknown): CairnError {
  if (isCairnError(error)) return error;
  if (error instanceof RequestFailure) return error.error;
  if (error instanceof RpcFailure) return ofRpc(peer, error);
  return unreachable(peer, error);
}

function ofRpc(peer: string, { code, message: words }: RpcFailure): CairnError {
  if (code === rpcCodes.version) return wrongVersion(peer, 'it refuses the version that its card names');
  const message = `The peer ${peer} refused the request (${code}): ${quoted(words, MAX_WORDS)}.`;
  return new TerminalError('external_call_failed', { message, hint: 'The peer says why.' });
}

export function ofStatus(peer: string, status: number): RequestFailure {
  const message = `The peer ${peer} answered with the HTTP status ${status}.`;
  if (status === 429 || status >= 500) {
    const error = new RetryableError('external_call_failed', { message, hint: 'Try again later.' });
    return new RequestFailure(error, status === 429 || status === 503);
  }
  const what =
    status === 401 || status === 403
      ? 'headers of the peer (a key needs its prefix, such as "Bearer "), and what its key may do there'
      : 'address';
  return new RequestFailure(
    new TerminalError('external_call_failed', { message, hint: `Have the operator check the ${what}.` }),
    true,
  );
}

/** Codes of sockets that were never connected. */
const neverConnected: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

export function requestFailure(peer: string, error: unknown): RequestFailure {
  const code = causeCode(error);
  return new RequestFailure(unreachable(peer, error), code !== null && neverConnected.has(code));
}

/** The cause of a failed fetch has the code of the socket. */
function causeCode(error: unknown): string | null {
  const code = thrownCode(error instanceof Error && error.cause !== undefined ? error.cause : error);
  return typeof code === 'string' ? code : null;
}

const unreachable = (peer: string, error: unknown): RetryableError =>
  new RetryableError('external_call_failed', {
    message: `The peer ${peer} could not be reached (${causeCode(error) ?? quoted(thrownText(error), 120)}).`,
    hint: 'Check that it runs, and that its address is right.',
  });

/** The stream or the response ended too early. */
export const unanswered = (peer: string): RetryableError =>
  new RetryableError('external_call_failed', {
    message: `The peer ${peer} ended the response without an answer.`,
    hint: 'Try again; if it stays so, the peer is at fault.',
  });

export const malformed = (peer: string, what: string): TerminalError =>
  new TerminalError('external_call_failed', {
    message: `The peer ${peer} does not speak A2A: ${what}.`,
    hint: 'Check that the address is that of an A2A agent card, and tell the operator of the peer.',
  });

export const wrongVersion = (peer: string, what: string): TerminalError =>
  new TerminalError('interop_version_unsupported', {
    message: `The peer ${peer} cannot be called: ${what}. This host speaks A2A 1.0 and 0.3 over JSON-RPC.`,
    hint: 'Have its operator serve one of these versions.',
    details: { protocol: 'a2a', supported: ['1.0', '0.3'] },
  });

export const elsewhere = ({ name, url }: PeerSettings, to: string): TerminalError =>
  new TerminalError('http_url_rejected', {
    message: `The peer ${name} leads to ${quoted(to, 120)}, which is not followed.`,
    hint: `Ask the operator to add its origin to a2a.peers, or set an address that answers itself, instead of ${new URL(url).origin}.`,
  });

export const tooManyValues = ({ name }: PeerSettings, where: string): TerminalError =>
  new TerminalError('external_call_failed', {
    message: `The peer ${name} sent more than ${MAX_JSON_VALUES} values in ${where}.`,
    hint: 'Ask for less, or for text or a file instead of data.',
  });

export const tooMuch = ({ name }: PeerSettings, what: string, setting: string): TerminalError =>
  new TerminalError('external_call_failed', {
    message: `The peer ${name} sent more than ${what} in one call.`,
    hint: `Ask for less, or have the operator raise ${setting}.`,
  });
