/** Serves Studio: the page at `/` and at the address of each screen, and the files that it loads. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendStaticFile } from '../http/static-file.ts';
import { INDEX, readStudio, type StudioFiles } from './files.ts';

/** Answers a request that no route serves; false if it is not one of Studio. */
export type ServePage = (path: string, request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/** The first parts of the addresses of screens. The page itself finds the rest. */
const screens: ReadonlySet<string> = new Set([
  '',
  'sign-in',
  'runs',
  'compare',
  'inbox',
  'chat',
  'agents',
  'artifacts',
  'hosts',
  'system',
]);

/** Only the page's own files, no address but the host's, no text as code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
};

/** The files are read at the first request for one. */
export function createPages(folder: string): ServePage {
  let reading: Promise<StudioFiles | null> | null = null;
  return async (path, request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const name = path.startsWith('/assets/') ? path.slice(1) : isScreen(path, request) ? INDEX : null;
    if (name === null) return false;
    reading ??= readStudio(folder);
    const files = await reading;
    const file = files?.get(name);
    // The name of every other file changes with its content.
    const caching = name === INDEX ? 'no-cache' : 'public, max-age=31536000, immutable';
    if (file !== undefined) sendStaticFile(file, { request, reply }, { ...pageHeaders, 'cache-control': caching });
    else if (name === INDEX) {
      // A build may follow; the next request looks again.
      reading = null;
      sendUnbuilt(request, reply);
    } else return false;
    return true;
  };
}

/** A program that leaves the version out of a path gets the error that says so, not a page. */
function isScreen(path: string, { headers }: FastifyRequest): boolean {
  const isForPeople = headers.accept?.includes('text/html') ?? false;
  return isForPeople && screens.has(path.split('/', 2)[1] ?? '');
}

const UNBUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Cairn</title>
<h1>This host serves its API, but Studio is not built.</h1>
<p>In a checkout, run <code>npm run studio:build</code>, then load this page again. The host can keep running.</p>
<p><a href="/v1/docs">The API of this host</a></p></html>
`;

function sendUnbuilt(request: FastifyRequest, reply: FastifyReply): void {
  reply.code(404).headers({ ...pageHeaders, 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' });
  reply.send(request.method === 'HEAD' ? '' : UNBUILT);
}
