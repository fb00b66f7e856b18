/** A strict OAuth server on a loopback address, whose user agrees or refuses at once; not shipped. */
import { hash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly scope: string;
}

export class OAuthServer {
  /** What the user does. */
  agrees = true;
  /** What the browser comes back with if not. */
  refusal = 'access_denied';
  /** Seconds that a token lasts. */
  lasts = 3600;
  /** Whether it gives no tokens for now. */
  isDown = false;
  /** Whether refresh tokens count. */
  refreshes = true;
  /** What happens while it looks at a refresh token. */
  meanwhile: (() => Promise<unknown>) | null = null;
  /** Whether its tokens come with null for everything else. */
  isBare = false;
  readonly secrets: string[] = [];
  readonly requests: URLSearchParams[] = [];
  readonly #codes = new Map<string, Code>();
  readonly #access = new Set<string>();
  readonly #refresh = new Set<string>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async open(): Promise<OAuthServer> {
    const server = new OAuthServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Every token ends now. */
  revoke(): void {
    this.#access.clear();
  }

  #secret(kind: string): string {
    const secret = `${kind}-${randomBytes(12).toString('hex')}`;
    this.secrets.push(secret);
    return secret;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (pathname === '/authorize') return this.#authorize(searchParams, response);
    if (pathname === '/me') {
      const token = (request.headers.authorization ?? '').replace('Bearer ', '');
      const isKnown = this.#access.has(token);
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isKnown ? { login: 'ann-at-forge', echoed: token } : { error: 'invalid_token' }));
      return;
    }
    let body = '';
    for await (const piece of request) body += String(piece);
    const form = new URLSearchParams(body);
    this.requests.push(form);
    if (form.get('grant_type') === 'refresh_token') await this.meanwhile?.();
    const given = form.get('client_secret') === 'the-client-secret-of-cairn' ? this.#token(form) : null;
    response.writeHead(this.isDown ? 503 : given === null ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(given ?? { error: 'invalid_grant', error_description: `no: ${form.get('code')}` }));
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const back = new URL(query.get('redirect_uri') ?? '');
    const isFit = query.get('response_type') === 'code' && query.get('code_challenge_method') === 'S256';
    if (!isFit || query.get('client_id') !== 'cairn' || back.pathname !== '/api/sign-ins/callback') {
      response.writeHead(400).end();
      return;
    }
    back.searchParams.set('state', query.get('state') ?? '');
    if (this.agrees) {
      const code = this.#secret('code');
      this.#codes.set(code, {
        challenge: query.get('code_challenge') ?? '',
        redirectUri: query.get('redirect_uri') ?? '',
        scope: query.get('scope') ?? '',
      });
      back.searchParams.set('code', code);
    } else back.searchParams.set('error', this.refusal);
    response.writeHead(302, { location: back.href }).end();
  }

  #token(form: URLSearchParams): object | null {
    const code = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const isCode =
      form.get('grant_type') === 'authorization_code' &&
      code?.redirectUri === form.get('redirect_uri') &&
      code?.challenge === hash('sha256', form.get('code_verifier') ?? '', 'base64url');
    const isRefresh =
      form.get('grant_type') === 'refresh_token' &&
      this.refreshes &&
      this.#refresh.delete(form.get('refresh_token') ?? '');
    if (!isCode && !isRefresh) return null;
    const [access_token, refresh_token] = [this.#secret('access'), this.#secret('refresh')];
    this.#access.add(access_token);
    this.#refresh.add(refresh_token);
    if (this.isBare) return { access_token, refresh_token: null, token_type: null, expires_in: null, scope: null };
    const scope = isCode ? { scope: code.scope } : {};
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: this.lasts, ...scope };
  }
}
