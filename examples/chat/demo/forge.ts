/** A service with accounts, for the demo: a small OAuth server with a page on which the user agrees. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Forge {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  close(): Promise<void>;
}

/** Users come back only here. */
const CALLBACK = '/api/sign-ins/callback';
const clientId = 'cairn-demo';

export async function openForge(): Promise<Forge> {
  const clientSecret = randomBytes(16).toString('hex');
  /** The challenge of each code that was given out, and the tokens that count. */
  const codes = new Map<string, string>();
  const tokens = new Set<string>();

  function consent(query: URLSearchParams, response: ServerResponse): void {
    const back = new URL(query.get('redirect_uri') ?? '');
    if (back.pathname !== CALLBACK || query.get('client_id') !== clientId) throw new Error('An unknown client.');
    const code = randomBytes(16).toString('hex');
    codes.set(code, query.get('code_challenge') ?? '');
    back.searchParams.set('state', query.get('state') ?? '');
    const refused = new URL(back);
    refused.searchParams.set('error', 'access_denied');
    back.searchParams.set('code', code);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page(back, refused));
  }

  function token(form: URLSearchParams, response: ServerResponse): void {
    const code = form.get('code') ?? '';
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isFit = form.get('client_secret') === clientSecret && codes.get(code) === challenge;
    codes.delete(code);
    if (!isFit) {
      json(response, 400, { error: 'invalid_grant' });
      return;
    }
    const access_token = randomBytes(16).toString('hex');
    tokens.add(access_token);
    json(response, 200, { access_token, token_type: 'Bearer', expires_in: 3600, scope: 'read:user' });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://forge');
    if (pathname === '/authorize') return consent(searchParams, response);
    if (pathname === '/token') return token(await formOf(request), response);
    const isKnown = tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''));
    json(response, isKnown ? 200 : 401, isKnown ? { login: 'ada' } : { error: 'invalid_token' });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => json(response, 400, { error: 'invalid_request' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    clientId,
    clientSecret,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return new URLSearchParams(text);
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** `URL` encodes what HTML would read. */
const page = (back: URL, refused: URL): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>The forge</title>
<body style="font: 16px/1.6 system-ui; max-width: 26rem; margin: 20vh auto; padding: 1rem">
<h1>The forge</h1><p>Cairn chat wants to read your profile.</p>
<p><a href="${back.href.replaceAll('&', '&amp;')}">Allow</a> · <a href="${refused.href.replaceAll('&', '&amp;')}">Refuse</a></p>
`;
