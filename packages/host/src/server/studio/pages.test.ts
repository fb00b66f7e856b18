import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawConnection } from '../http/raw-http.kit.ts';
import { served } from '../served.kit.ts';

let folder: string;
const PAGE = '<!doctype html><title>Studio</title>';
const SCRIPT = 'export const a = 1;'.repeat(100);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-studio-'));
  mkdirSync(join(folder, 'studio/assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.js'), '"secret"');
  writeFileSync(join(folder, 'studio/index.html'), PAGE);
  writeFileSync(join(folder, 'studio/assets/index-abc.js'), SCRIPT);
  writeFileSync(join(folder, 'studio/assets/notes.txt'), '"secret"');
  symlinkSync(folder, join(folder, 'studio/assets/up'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const html = { accept: 'text/html,application/xhtml+xml' };
const serving = () => served({ studioFolder: join(folder, 'studio') });

test.each(['/', '/runs', '/runs/run_1', '/inbox?question=1', '/sign-in'])(
  '%s is the page, for anybody',
  async (path) => {
    const host = await serving();
    const { status, headers, text } = await host.ask('GET', path, { key: null, headers: html });
    expect([status, text]).toEqual([200, PAGE]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  },
);

test('the page may run its own files, call its own host, and nothing else', async () => {
  const host = await serving();
  const { headers } = await host.ask('GET', '/', { key: null, headers: html });
  const policy = new Map(
    headers
      .get('content-security-policy')
      ?.split('; ')
      .map((rule) => {
        const [name = '', ...sources] = rule.split(' ');
        return [name, sources.join(' ')];
      }),
  );
  expect(policy.get('default-src')).toBe("'none'");
  expect(policy.get('script-src')).toBe("'self'");
  expect(policy.get('connect-src')).toBe("'self'");
  expect(policy.get('frame-ancestors')).toBe("'none'");
  expect(policy.get('base-uri')).toBe("'none'");
  expect(policy.get('require-trusted-types-for')).toBe("'script'");
  expect([...policy.values()].join(' ')).not.toMatch(/unsafe|https?:|\*/);
});

test('a file whose name changes with its content is kept by browsers, and sent compressed to those that ask', async () => {
  const host = await serving();
  const plain = await host.ask('GET', '/assets/index-abc.js', {
    key: null,
    headers: { 'accept-encoding': 'identity' },
  });
  expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  const packed = await host.ask('GET', '/assets/index-abc.js', {
    key: null,
    headers: { 'accept-encoding': 'br, gzip' },
  });
  expect([packed.headers.get('content-encoding'), packed.text]).toEqual(['gzip', SCRIPT]);
  expect(Number(packed.headers.get('content-length'))).toBeLessThan(SCRIPT.length);
});

test('a browser that has the page learns that nothing changed; HEAD tells the size and sends nothing', async () => {
  const host = await serving();
  const page = await host.ask('GET', '/', { key: null, headers: { ...html, 'accept-encoding': 'identity' } });
  const etag = page.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{27}"$/);
  const known = await host.ask('GET', '/', { key: null, headers: { ...html, 'if-none-match': etag } });
  expect([known.status, known.text]).toEqual([304, '']);
  const head = await host.ask('HEAD', '/', { key: null, headers: { ...html, 'accept-encoding': 'identity' } });
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(PAGE.length)]);
});

test.each([
  '/assets/../index.html',
  '/assets/..%2fsecret.js',
  '/assets/%2e%2e/%2e%2e/secret.js',
  '/assets/../../secret.js',
  '/assets//index-abc.js',
  '/assets/up/secret.js',
  '/assets/notes.txt',
  '/assets/',
  '/assets/..\\..\\secret.js',
  '/assets/index-abc.js%00.txt',
])('%s leads to no file', async (path) => {
  const host = await serving();
  const { status = 0, body = '' } = (await RawConnection.get(host.port, path)) ?? {};
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body).not.toContain('"secret"');
  expect(body).not.toContain(PAGE);
});

test('a program that leaves out the version still learns so, and no method but GET and HEAD is a page', async () => {
  const host = await serving();
  expect((await host.ask('GET', '/runs', { headers: { accept: 'application/json' } })).body.error).toBe(
    'validation_error',
  );
  expect((await host.ask('POST', '/', { key: null, headers: html })).status).toBe(400);
  expect((await host.ask('GET', '/unknown', { key: null, headers: html })).status).toBe(400);
});

test('a host without the built files says how to build them, and finds them once they are there', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'cairn-studio-'));
  const host = await served({ studioFolder: empty });
  const page = await host.ask('GET', '/', { key: null, headers: html });
  expect([page.status, page.text]).toEqual([404, expect.stringContaining('npm run studio:build')]);
  writeFileSync(join(empty, 'index.html'), PAGE);
  expect((await host.ask('GET', '/', { key: null, headers: html })).status).toBe(200);
  rmSync(empty, { recursive: true });
});
