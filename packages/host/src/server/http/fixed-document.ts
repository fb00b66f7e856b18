/** Serves a document that does not change while the host runs, with an ETag and 304 responses. */
import { hash } from 'node:crypto';
import { etagMatches } from './etag.ts';
import type { HttpCall } from './routes.ts';

export interface FixedDocument {
  readonly text: string;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The handler of an open route. The first request creates the document, and all wait for that one. */
export function serveFixed(make: () => FixedDocument | Promise<FixedDocument>): (call: HttpCall) => Promise<undefined> {
  let made: Promise<Tagged> | null = null;
  return async ({ request, reply }) => {
    made ??= tagged(make);
    const { text, contentType, headers, etag } = await made;
    reply.headers({ etag, 'cache-control': 'public, max-age=300', ...headers });
    if (etagMatches(request.headers['if-none-match'], etag)) await reply.code(304).send();
    else await reply.header('content-type', contentType).send(text);
    return undefined;
  };
}

type Tagged = FixedDocument & { readonly etag: string };

async function tagged(make: () => FixedDocument | Promise<FixedDocument>): Promise<Tagged> {
  const document = await make();
  return { ...document, etag: `"${hash('sha256', document.text, 'base64url').slice(0, 27)}"` };
}
