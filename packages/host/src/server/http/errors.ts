/** Converts every error into the closed error envelope, whether the host, the framework or a defect raised it. */
import { STATUS_CODES } from 'node:http';
import {
  type CairnError,
  type ErrorCode,
  type ErrorEnvelope,
  errorKinds,
  isCairnError,
  RetryableError,
  TerminalError,
  thrownText,
  toEnvelope,
} from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Redactor, Report, UniqueId } from '../../engine/ports.ts';
import type { HttpWatch } from '../../telemetry/http-watch.ts';
import { thrownCode } from '../../thrown-code.ts';
import { utf8Size } from '../../utf8.ts';
import type { Gate } from '../access/gate.ts';
import type { SafetyHeaders } from './http-server.ts';

export interface ErrorPorts {
  readonly report: Report;
  readonly uniqueId: UniqueId;
  readonly maxRequestBodyBytes: number;
  readonly watch: Pick<HttpWatch, 'refused'>;
  readonly redactor: Pick<Redactor, 'text' | 'secretIn'> | null;
  readonly gate: Pick<Gate, 'guessed'>;
}

/** Sends an error response. Host faults are reported under a correlation id that the response contains. */
export function sendError(reply: FastifyReply, thrown: unknown, ports: ErrorPorts): void {
  const raised = isCairnError(thrown) ? thrown : frameworkError(thrown, bodyLimitOf(reply, ports));
  ports.watch.refused(raised.code, reply.request.caller?.tenant);
  const error = publicError(raised, reply, ports);
  const status = errorKinds[error.code].status;
  reply.code(status).headers({ 'content-type': 'application/json; charset=utf-8', link: helpLink(error.code) });
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const seconds = retryAfterSeconds(error);
  if (seconds !== null) reply.header('retry-after', String(seconds));
  if (error.code === 'payload_too_large') keepReading(reply);
  const envelope = toEnvelope(error);
  reply.send(JSON.stringify(status === 404 ? withoutSecrets(envelope, reply.request, ports) : envelope));
}

/** The page of the code, which this host serves. The envelope is closed, so a header names it. */
export const helpLink = (code: ErrorCode): string => `</docs/errors/${code}>; rel="help"`;

/** An id that holds a secret is not repeated. Its absence confirms a guess, so the request counts as one. */
function withoutSecrets(envelope: ErrorEnvelope, request: FastifyRequest, ports: ErrorPorts): ErrorEnvelope {
  const { redactor, gate } = ports;
  if (redactor === null || redactor.secretIn(envelope) === null) return envelope;
  gate.guessed(request);
  const details = Object.entries(envelope.details ?? {}).filter((entry) => redactor.secretIn(entry) === null);
  return { ...envelope, message: redactor.text(envelope.message), details: Object.fromEntries(details) };
}

/** Of a body that is too large, as much is read and thrown away. */
const MAX_DISCARDED_BYTES = 67_108_864;

/** A connection that closes while its client still sends takes the response with it: the client sees a broken pipe. */
function keepReading(reply: FastifyReply): void {
  if (Number(reply.request.headers['content-length']) <= MAX_DISCARDED_BYTES) reply.removeHeader('connection');
}

/** Retry-After in whole seconds: from the error's details, else one second for any 503. */
function retryAfterSeconds({ code, details }: CairnError): number | null {
  const { retryAfterMs, retryAfter } = details ?? {};
  if (typeof retryAfterMs === 'number') return Math.ceil(retryAfterMs / 1000);
  if (typeof retryAfter === 'number') return Math.ceil(retryAfter);
  return errorKinds[code].status === 503 ? 1 : null;
}

/** An error response as raw text, for a connection without a valid request (malformed HTTP). */
export function rawErrorResponse(error: CairnError, headers: SafetyHeaders): string {
  const body = JSON.stringify(toEnvelope(error));
  const status = errorKinds[error.code].status;
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${utf8Size(body)}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}

const DISK_FULL = 'The disk of the host is full. Try again when its operator has made room; runs go on then, too.';

/** Details of host faults (paths, invariants) stay in the host's log. The caller gets a correlation id. */
function publicError(error: CairnError, reply: FastifyReply, ports: ErrorPorts): CairnError {
  const status = errorKinds[error.code].status;
  // `service_unavailable` is raised on purpose, and its message is meant for callers.
  if ((status !== 500 && status !== 503) || error.code === 'service_unavailable') return error;
  const correlationId = traceIdOf(reply) ?? ports.uniqueId();
  const facts = { correlationId, code: error.code };
  ports.report({ level: 'error', event: 'request.failed', message: error.message, facts, error });
  if (status === 503) {
    return new RetryableError('service_unavailable', {
      message: `The host cannot do this at the moment (${error.code}).`,
      hint: error.code === 'store_full' ? DISK_FULL : 'Try again in a moment.',
      details: { correlationId, reason: error.code },
    });
  }
  return new TerminalError('internal_error', {
    message: 'The host failed while it handled this request.',
    hint: 'Ask its operator with the correlation id.',
    details: { correlationId },
  });
}

/**
 * The trace id of the response, which links the caller's traces to the host's log. Undefined if the request failed
 * earlier.
 */
function traceIdOf(reply: FastifyReply): string | undefined {
  const traceparent = reply.getHeader('traceparent');
  return typeof traceparent === 'string' ? traceparent.split('-')[1] : undefined;
}

/** Framework errors by their codes; any other thrown value is a defect. */
const frameworkCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'validation_error',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'validation_error',
  FST_ERR_BAD_URL: 'validation_error',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'validation_error',
};

/** A route may take less than the host. */
const bodyLimitOf = ({ request }: FastifyReply, { maxRequestBodyBytes }: ErrorPorts): number =>
  request.routeOptions.bodyLimit ?? maxRequestBodyBytes;

function frameworkError(thrown: unknown, maxRequestBodyBytes: number): CairnError {
  const name = thrownCode(thrown);
  const code = typeof name === 'string' ? frameworkCodes[name] : undefined;
  if (isAbort(thrown)) return new TerminalError('validation_error', { message: 'The body broke off before its end.' });
  switch (code) {
    case undefined:
      return new TerminalError('internal_error', { message: thrownText(thrown), cause: thrown });
    case 'payload_too_large':
      return new TerminalError(code, {
        message: `The body is larger than ${maxRequestBodyBytes} bytes.`,
        details: { maxRequestBodyBytes },
      });
    case 'unsupported_media_type':
      return new TerminalError(code, {
        message: 'The body has a media type this host does not read.',
        hint: 'Send JSON with the header "Content-Type: application/json".',
      });
    // The framework's own texts repeat the path.
    case 'not_found':
      return new TerminalError(code, { message: 'There is nothing at this path: a part of it is too long.' });
    case 'validation_error':
      if (name === 'FST_ERR_BAD_URL') {
        return new TerminalError(code, {
          message: 'The path is not well-formed.',
          hint: 'Percent-encode what is not a letter, a digit or one of - _ . ~ as UTF-8.',
        });
      }
      return new TerminalError(code, { message: `${thrownText(thrown)}.` });
    default:
      return new TerminalError(code, { message: `${thrownText(thrown)}.` });
  }
}

/** The client disconnected or sent invalid data in the middle of a body. The framework marks this as a client error. */
const isAbort = (thrown: unknown): boolean =>
  thrown instanceof Error && thrownCode(thrown) === 'ECONNRESET' && 'statusCode' in thrown && thrown.statusCode === 400;
