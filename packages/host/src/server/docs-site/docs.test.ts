import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawConnection } from '../http/raw-http.kit.ts';
import { served } from '../served.kit.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-docs-'));
  mkdirSync(join(folder, 'docs/errors'), { recursive: true });
  writeFileSync(join(folder, 'secret.html'), 'secret');
  writeFileSync(join(folder, 'docs/index.html'), 'first page');
  writeFileSync(join(folder, 'docs/404.html'), 'no such page');
  writeFileSync(join(folder, 'docs/errors/index.html'), 'all errors');
  writeFileSync(join(folder, 'docs/errors/not_found.html'), 'page of not_found');
  writeFileSync(join(folder, 'docs/errors/picture.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, 'docs/notes.txt'), 'secret');
});
afterAll(() => rmSync(folder, { recursive: true }));

const serving = () => served({ docsFolder: join(folder, 'docs') });

test.each([
  ['/docs/', 'first page'],
  ['/docs/index.html', 'first page'],
  ['/docs/errors/', 'all errors'],
  ['/docs/errors/not_found', 'page of not_found'],
  ['/docs/errors/not_found.html?from=mail', 'page of not_found'],
])('%s is a page, for anybody, under a policy that allows only the files of the site', async (path, text) => {
  const host = await serving();
  const page = await host.ask('GET', path, { key: null });
  expect([page.status, page.text]).toEqual([200, text]);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const head = await host.ask('HEAD', path, { key: null });
  expect([head.status, head.text]).toEqual([200, '']);
});

test('the folder without its slash leads to the first page, because links of the pages are relative', async () => {
  const host = await serving();
  expect((await RawConnection.get(host.port, '/docs'))?.status).toBe(308);
});

test('a picture may have colours of its own, and nothing else', async () => {
  const host = await serving();
  const { status, headers } = await host.ask('GET', '/docs/errors/picture.svg', { key: null });
  expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
});

test.each([
  '/docs/none',
  '/docs/../secret.html',
  '/docs/..%2fsecret.html',
  '/docs/errors/../../secret.html',
  '/docs//secret',
  '/docs/notes.txt',
  '/docs/errors',
])('%s leads to no file', async (path) => {
  const host = await serving();
  const { status = 0, body = '' } = (await RawConnection.get(host.port, path)) ?? {};
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body).not.toContain('secret');
});

test('an error names its page, which the host serves', async () => {
  const host = await serving();
  const { status, headers } = await host.ask('GET', '/v1/runs/run_unknown');
  expect(status).toBe(404);
  const [, path = ''] = /^<([^>]+)>; rel="help"$/.exec(headers.get('link') ?? '') ?? [];
  expect((await host.ask('GET', path, { key: null })).text).toBe('page of not_found');
});

test('a host without the built pages says how to build them, and finds them once they are there', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'cairn-docs-'));
  const host = await served({ docsFolder: empty });
  const page = await host.ask('GET', '/docs/', { key: null });
  expect([page.status, page.text]).toEqual([404, expect.stringContaining('npm run docs:site')]);
  writeFileSync(join(empty, '404.html'), 'no such page');
  writeFileSync(join(empty, 'index.html'), 'first page');
  expect((await host.ask('GET', '/docs/', { key: null })).text).toBe('first page');
  rmSync(empty, { recursive: true });
});
