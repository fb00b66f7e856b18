/** Converts failures of MCP servers into errors of the host. Text of a server is untrusted, so it is quoted and cut. */

import { type CairnError, isCairnError, quoted, RetryableError, TerminalError, thrownText } from '@cairn/protocol';
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { thrownCode } from '../../thrown-code.ts';
import { mcpRevisions } from '../mcp/versions.ts';

/** Maximum characters of a server's text in a message. */
const MAX_WORDS = 300;

export function mcpError(serverId: string, error: unknown): CairnError {
  if (isCairnError(error)) return error;
  if (isOtherVersion(error)) return otherVersion(serverId, error);
  if (error instanceof SdkHttpError) return ofStatus(serverId, error.status);
  if (error instanceof ProtocolError) return ofProtocol(serverId, error);
  if (error instanceof SdkError) return ofSdk(serverId, error);
  if (error instanceof SyntaxError) return malformed(serverId);
  return unreachable(serverId, error);
}

/** The SDK gives the error of the handshake of 2025 no code. */
const isOtherVersion = (error: unknown): error is Error =>
  error instanceof ProtocolError
    ? error.code === ProtocolErrorCode.UnsupportedProtocolVersion
    : error instanceof Error && error.message.startsWith("Server's protocol version is not supported");

function otherVersion(serverId: string, { message: words }: Error): TerminalError {
  return new TerminalError('interop_version_unsupported', {
    message: `The MCP server ${serverId} speaks no revision that this host speaks: ${quoted(words, MAX_WORDS)}.`,
    hint: `Have its operator serve one of ${mcpRevisions.join(', ')}.`,
    details: { protocol: 'mcp', supported: mcpRevisions },
  });
}

/** The stream of a request ended, or the server answered another request than the one that was made. */
export const unanswered = (serverId: string): RetryableError =>
  new RetryableError('http_network_error', {
    message: `The MCP server ${serverId} ended the request without an answer to it.`,
    hint: 'Try again; if it stays so, the server is at fault.',
  });

function ofStatus(serverId: string, status: number): CairnError {
  const message = `The MCP server ${serverId} answered with the status ${status}.`;
  if (status === 429 || status >= 500) {
    return new RetryableError('http_network_error', { message, hint: 'Try again later.' });
  }
  const hint =
    status === 401 || status === 403
      ? 'Have the operator check the headers of the server: a key needs its prefix, such as "Bearer ".'
      : 'Have the operator check the address of the server.';
  return new TerminalError('tool_failed', { message, hint });
}

function ofProtocol(serverId: string, { code, message: words }: ProtocolError): TerminalError {
  const isInput = code === ProtocolErrorCode.InvalidParams;
  return new TerminalError(isInput ? 'tool_invalid_arguments' : 'tool_failed', {
    message: `The MCP server ${serverId} refused the call (${code}): ${quoted(words, MAX_WORDS)}.`,
    hint: isInput ? 'Change the arguments.' : 'The server says why.',
  });
}

function ofSdk(serverId: string, error: SdkError): CairnError {
  if (error.code === SdkErrorCode.RequestTimeout) {
    return new RetryableError('tool_timeout', {
      message: `The MCP server ${serverId} did not answer in time.`,
      hint: 'Try again, or have the operator raise timeoutMs.',
    });
  }
  if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed) {
    return unreachable(serverId, error.cause ?? error);
  }
  if (error.code === SdkErrorCode.EraNegotiationFailed && error.cause !== undefined) {
    return mcpError(serverId, error.cause);
  }
  return malformed(serverId, thrownText(error));
}

const malformed = (serverId: string, words = 'it sent no JSON'): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The MCP server ${serverId} does not speak the protocol: ${quoted(words, MAX_WORDS)}.`,
    hint: 'Check that the address is that of an MCP server over streamable HTTP.',
  });

/** The cause of a failed fetch has the code of the socket. */
function unreachable(serverId: string, error: unknown): RetryableError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = thrownCode(cause);
  return new RetryableError('http_network_error', {
    message: `The MCP server ${serverId} could not be reached (${typeof code === 'string' ? code : quoted(thrownText(error), 120)}).`,
    hint: 'Check that it runs, and that its address is right.',
  });
}
