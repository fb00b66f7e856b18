/** Serves a document that does not change while the host runs, with an ETag and 304 responses. */
import { hash } from 'node:crypto';
import { etagMatches } from './etag.ts';
import type { OpenCall } from './routes.ts';

export interface FixedDocument {
  readonly text: string;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The handler of an open route. The first request creates the document. */
export function serveFixed(make: () => FixedDocument): (call: OpenCall) => Promise<undefined> {
  let made: (FixedDocument & { readonly etag: string }) | null = null;
  return async ({ request, reply }) => {
    if (made === null) {
      const document = make();
      made = { ...document, etag: `"${hash('sha256', document.text, 'base64url').slice(0, 27)}"` };
    }
    reply.headers({ etag: made.etag, 'cache-control': 'public, max-age=300', ...made.headers });
    if (etagMatches(request.headers['if-none-match'], made.etag)) await reply.code(304).send();
    else await reply.header('content-type', made.contentType).send(made.text);
    return undefined;
  };
}
