/** Every refusal and failure leaves as the closed error envelope, whoever raised it: us, the framework or a defect. */
import { STATUS_CODES } from 'node:http';
import {
  type CairnError,
  type ErrorCode,
  errorKinds,
  isCairnError,
  RetryableError,
  TerminalError,
  thrownText,
  toEnvelope,
} from '@cairn/protocol';
import type { FastifyReply } from 'fastify';
import type { Report, UniqueId } from '../../engine/ports.ts';
import type { HttpWatch } from '../../telemetry/http-watch.ts';
import { thrownCode } from '../../thrown-code.ts';
import { utf8Size } from '../../utf8.ts';

export interface ErrorPorts {
  readonly report: Report;
  readonly uniqueId: UniqueId;
  readonly maxRequestBodyBytes: number;
  readonly watch: Pick<HttpWatch, 'refused'>;
}

/** Answers a request with an error. What the caller cannot repair is reported under an id that the answer names. */
export function sendError(reply: FastifyReply, thrown: unknown, ports: ErrorPorts): void {
  const raised = isCairnError(thrown) ? thrown : frameworkError(thrown, ports);
  ports.watch.refused(raised.code, reply.request.caller?.tenant);
  const error = publicError(raised, reply, ports);
  const status = errorKinds[error.code].status;
  reply.code(status).header('content-type', 'application/json; charset=utf-8');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const seconds = retryAfterSeconds(error);
  if (seconds !== null) reply.header('retry-after', String(seconds));
  reply.send(JSON.stringify(toEnvelope(error)));
}

/** When to try again, in whole seconds: what the error knows, else a second for whatever may pass by itself. */
function retryAfterSeconds({ code, details }: CairnError): number | null {
  const { retryAfterMs, retryAfter } = details ?? {};
  if (typeof retryAfterMs === 'number') return Math.ceil(retryAfterMs / 1000);
  if (typeof retryAfter === 'number') return Math.ceil(retryAfter);
  return errorKinds[code].status === 503 ? 1 : null;
}

/** An envelope for a connection that never became a request (malformed HTTP): the whole response as text. */
export function rawErrorResponse(error: CairnError): string {
  const body = JSON.stringify(toEnvelope(error));
  const status = errorKinds[error.code].status;
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${utf8Size(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Failures of the host keep their particulars (paths, invariants) in its log; the caller gets an id to ask by. */
function publicError(error: CairnError, reply: FastifyReply, ports: ErrorPorts): CairnError {
  const status = errorKinds[error.code].status;
  // Under its own name it was said on purpose, for callers to read.
  if ((status !== 500 && status !== 503) || error.code === 'service_unavailable') return error;
  const correlationId = traceIdOf(reply) ?? ports.uniqueId();
  const facts = { correlationId, code: error.code };
  ports.report({ level: 'error', event: 'request.failed', message: error.message, facts, error });
  if (status === 503) {
    return new RetryableError('service_unavailable', {
      message: `The host cannot do this at the moment (${error.code}).`,
      hint: 'Try again in a moment.',
      details: { correlationId, reason: error.code },
    });
  }
  return new TerminalError('internal_error', {
    message: 'The host failed while it handled this request.',
    hint: 'Ask its operator with the correlation id.',
    details: { correlationId },
  });
}

/** The trace the answer is in, so that the caller's traces and the host's log meet; none when it failed before that was known. */
function traceIdOf(reply: FastifyReply): string | undefined {
  const traceparent = reply.getHeader('traceparent');
  return typeof traceparent === 'string' ? traceparent.split('-')[1] : undefined;
}

/** The framework's refusals by their own codes; anything else that is thrown is a defect. */
const frameworkCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'validation_error',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'validation_error',
  FST_ERR_BAD_URL: 'validation_error',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'validation_error',
};

function frameworkError(thrown: unknown, ports: ErrorPorts): CairnError {
  const name = thrownCode(thrown);
  const code = typeof name === 'string' ? frameworkCodes[name] : undefined;
  if (isAbort(thrown)) return new TerminalError('validation_error', { message: 'The body broke off before its end.' });
  switch (code) {
    case undefined:
      return new TerminalError('internal_error', { message: thrownText(thrown), cause: thrown });
    case 'payload_too_large':
      return new TerminalError(code, {
        message: `The body is larger than ${ports.maxRequestBodyBytes} bytes.`,
        details: { maxRequestBodyBytes: ports.maxRequestBodyBytes },
      });
    case 'unsupported_media_type':
      return new TerminalError(code, {
        message: 'The body has a media type this host does not read.',
        hint: 'Send JSON with the header "Content-Type: application/json".',
      });
    default:
      return new TerminalError(code, { message: `${thrownText(thrown)}.` });
  }
}

/** The client went away, or sent nonsense, in the middle of a body: the framework marks that as the client's doing. */
const isAbort = (thrown: unknown): boolean =>
  thrown instanceof Error && thrownCode(thrown) === 'ECONNRESET' && 'statusCode' in thrown && thrown.statusCode === 400;
