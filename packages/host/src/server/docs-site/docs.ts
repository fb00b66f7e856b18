/** Serves the documentation at `/docs`: the pages that `npm run docs:site` writes, without a key and without a third party. */
import { readdir } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import { readStaticFile, type StaticFile, sendStaticFile } from '../http/static-file.ts';
import type { ServePage } from '../studio/pages.ts';

/** Next to both `src` and `dist` of this package: the build writes it there. */
export const DOCS_FOLDER: string = join(import.meta.dirname, '../../../dist/docs');

const ROOT = '/docs';
/** Shown for an address without a page. */
const MISSING = '404.html';

/** Only the site's own files. Its script adds one more: the index of the search, by a policy of this name. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types docs',
].join('; ');

const siteHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** A picture has its colours in itself, and nothing else. */
const pictureHeaders: Readonly<Record<string, string>> = {
  ...siteHeaders,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

/**
 * The names of the files are read once, at the first request, and each file when it is first asked for. A request finds a
 * file by its exact name in this list, so that no path can lead anywhere else. Requests for anything else are those of the next.
 */
export function createDocs(folder: string, next: ServePage): ServePage {
  const files = new Map<string, Promise<StaticFile | null>>();
  let names: Promise<ReadonlySet<string>> | null = null;
  const fileOf = (name: string): Promise<StaticFile | null> => {
    const known = files.get(name) ?? readStaticFile(join(folder, name));
    files.set(name, known);
    return known;
  };
  return async (path, request, reply) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || (path !== ROOT && !path.startsWith(`${ROOT}/`))) return next(path, request, reply);
    names ??= namesIn(folder);
    const known = await names;
    // A build may follow; the next request looks again.
    if (!known.has(MISSING)) names = null;
    // Links of the pages are relative to the folder.
    if (path === ROOT) {
      reply.code(308).header('location', `${ROOT}/`).send();
      return true;
    }
    const name = nameOf(path.slice(ROOT.length + 1), known);
    const file = name === null && !known.has(MISSING) ? null : await fileOf(name ?? MISSING);
    if (file === null) {
      reply.code(404).headers({ ...siteHeaders, 'content-type': 'text/html; charset=utf-8' });
      reply.send(request.method === 'HEAD' ? '' : UNBUILT);
      return true;
    }
    reply.code(name === null ? 404 : 200);
    sendStaticFile(file, { request, reply }, file.contentType.startsWith('image/svg') ? pictureHeaders : siteHeaders);
    return true;
  };
}

/** The file of an address: the folder's own page, the page with or without its ending, or a file as it is. */
function nameOf(path: string, known: ReadonlySet<string>): string | null {
  const wanted = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  return [wanted, `${wanted}.html`].find((name) => known.has(name)) ?? null;
}

async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return new Set(names.map((name) => name.split(sep).join(posix.sep)));
}

const UNBUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Cairn</title>
<h1>The documentation is not built.</h1>
<p>In a checkout, run <code>npm run docs:site</code>, then load this page again. The host can keep running.</p>
<p><a href="/v1/docs">The API of this host</a></p></html>
`;
