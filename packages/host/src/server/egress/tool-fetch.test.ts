import { expect, test } from 'vitest';
import { testServer } from '../../../test/kit/test-server.ts';
import type { HttpFetch } from '../../agents/builtin-tools/http-tool.ts';
import { systemClock, systemTimers } from '../compose.ts';
import type { Resolve } from './egress.ts';
import { createToolFetch } from './tool-fetch.ts';

const nowhere: Resolve = async () => {
  throw new Error('nothing should be resolved');
};

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const traces = { headers: async () => ({ traceparent }) };

const fetching = (allow: readonly string[], resolve: Resolve = nowhere) => {
  const port = createToolFetch(allow, { resolve, timers: systemTimers, now: systemClock.now, traces });
  if (port === null) throw new Error('nothing may be fetched');
  return (url: string, change: Partial<HttpFetch> = {}) =>
    port.fetch({
      url,
      method: 'GET',
      headers: {},
      maxBytes: 1_000,
      timeoutMs: 2_000,
      signal: new AbortController().signal,
      ...change,
    });
};

const rejected = { code: 'http_url_rejected', retryable: false };

test('without a list nothing can be fetched', () => {
  expect(createToolFetch([], { resolve: nowhere, timers: systemTimers, now: systemClock.now, traces })).toBeNull();
});

test('an origin of the list is called as asked, and its answer is bounded', async () => {
  const seen: unknown[] = [];
  const origin = await testServer((request, response) => {
    seen.push(request.method, request.url, request.headers['user-agent'], request.headers.accept);
    expect(request.headers.traceparent).toBe(traceparent);
    response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(5_000));
  });
  const { body, ...rest } = await fetching([origin])(`${origin}/a?b`, { headers: { accept: 'text/plain' } });
  expect(seen).toEqual(['GET', '/a?b', 'cairn', 'text/plain']);
  expect(body).toHaveLength(1_000);
  expect(rest).toEqual({ status: 200, url: `${origin}/a?b`, contentType: 'text/plain', location: null, isCut: true });
});

test('an origin that is not on the list is not called, nor a neighbour of one that is', async () => {
  let asked = 0;
  const origin = await testServer((_request, response) => {
    asked += 1;
    response.end();
  });
  const fetch = fetching(['https://a.example', 'http://127.0.0.1:1']);
  const wrong = [
    origin,
    'https://b.example/',
    'http://a.example/',
    'https://a.example:444/',
    'https://a.example.evil.example/',
    'https://a.example@evil.example/',
    'ftp://a.example/',
    'file:///etc/passwd',
    'data:text/plain,hi',
    'nonsense',
  ];
  for (const url of wrong) await expect(fetch(url), url).rejects.toMatchObject(rejected);
  expect(asked).toBe(0);
});

test('with a star only public https addresses are called', async () => {
  const origin = await testServer((_request, response) => void response.end('private'));
  const fetch = fetching(['*'], async () => ['10.0.0.7']);
  const wrong = [
    origin,
    'https://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'https://2130706433/',
    'https://169.254.169.254/latest/meta-data/',
    'https://metadata.internal/',
    // Public by its name, private by its address.
    'https://rebound.example/',
  ];
  for (const url of wrong) await expect(fetch(url), url).rejects.toMatchObject(rejected);
});

test('a redirect is followed only where the list leads', async () => {
  const inside = await testServer((_request, response) => void response.end('internal'));
  const origin = await testServer((request, response) => {
    const to = {
      '/own': '/end',
      '/away': `${inside}/secret`,
      '/file': 'file:///etc/passwd',
      '/public': 'https://b.example/',
      '/loop': '/loop',
    };
    const location = to[request.url as keyof typeof to];
    if (location === undefined) response.end('end');
    else response.writeHead(302, { location }).end();
  });
  const fetch = fetching([origin]);
  const followed = await fetch(`${origin}/own`);
  expect([followed.url, Buffer.from(followed.body).toString()]).toEqual([`${origin}/end`, 'end']);
  await expect(fetch(`${origin}/away`)).rejects.toMatchObject(rejected);
  await expect(fetch(`${origin}/file`)).rejects.toMatchObject(rejected);
  // Nobody even asks where such a name leads.
  await expect(fetch(`${origin}/public`)).rejects.toMatchObject(rejected);
  await expect(fetch(`${origin}/loop`)).rejects.toMatchObject({ code: 'http_network_error' });
  // The star of the list does not let a redirect into the private network either.
  const open = fetching([origin, '*'], async () => ['10.0.0.7']);
  await expect(open(`${origin}/away`)).rejects.toMatchObject(rejected);
});

test('a write that is answered by a redirect goes nowhere else', async () => {
  const seen: string[] = [];
  const origin = await testServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  const fetched = await fetching([origin])(`${origin}/a`, { method: 'POST', body: 'x' });
  expect([fetched.status, fetched.location, seen]).toEqual([307, '/elsewhere', ['POST /a']]);
});

test('the time limit is for all of it, redirects too', async () => {
  let hops = 0;
  const origin = await testServer((_request, response) => {
    hops += 1;
    if (hops < 3) response.writeHead(302, { location: `/${hops}` }).end();
  });
  const spans: number[] = [];
  let clock = 0;
  const port = createToolFetch([origin], {
    traces,
    resolve: nowhere,
    timers: {
      after(ms, wake) {
        spans.push(ms);
        return systemTimers.after(Math.min(ms, 50), wake);
      },
    },
    now: () => {
      clock += 100;
      return clock;
    },
  });
  const { signal } = new AbortController();
  const request = { url: `${origin}/`, method: 'GET', headers: {}, maxBytes: 10, timeoutMs: 1_000, signal } as const;
  await expect(port?.fetch(request)).rejects.toMatchObject({ code: 'http_timeout', retryable: true });
  expect([hops, spans]).toEqual([3, [900, 800, 700]]);
});

test('who no longer waits for the answer hangs up', async () => {
  const origin = await testServer(() => undefined);
  const stop = new AbortController();
  const fetched = fetching([origin])(`${origin}/`, { signal: stop.signal });
  stop.abort();
  await expect(fetched).rejects.toMatchObject({ code: 'http_network_error' });
});
