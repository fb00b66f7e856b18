/** A file of Studio or of the documentation, kept in memory, and how it is sent. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagMatches } from './etag.ts';
import { varyBy } from './vary.ts';

export interface StaticFile {
  readonly bytes: Buffer;
  /** The same, compressed. */
  readonly gzipped: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Null if the file cannot be read, or is of another type. */
export async function readStaticFile(path: string): Promise<StaticFile | null> {
  const contentType = types[extname(path)];
  const bytes = contentType === undefined ? null : await readFile(path).catch(() => null);
  if (contentType === undefined || bytes === null) return null;
  const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
  return { bytes, gzipped: await promisify(gzip)(bytes), contentType, etag };
}

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Sends the file, or the news that nothing changed. */
export function sendStaticFile(
  { bytes, gzipped, contentType, etag }: StaticFile,
  { request, reply }: Exchange,
  headers: Readonly<Record<string, string>>,
): void {
  reply.headers({ ...headers, etag });
  varyBy(reply, 'Accept-Encoding');
  if (reply.statusCode === 200 && etagMatches(request.headers['if-none-match'], etag)) {
    reply.code(304).send();
    return;
  }
  const isGzip = acceptsGzip(request);
  const body = isGzip ? gzipped : bytes;
  if (isGzip) reply.header('content-encoding', 'gzip');
  reply.headers({ 'content-type': contentType, 'content-length': body.length });
  reply.send(request.method === 'HEAD' ? '' : body);
}

const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0?\.\d*[1-9]))?\s*(?:,|$)/i.test(headers['accept-encoding']?.toString() ?? '');
