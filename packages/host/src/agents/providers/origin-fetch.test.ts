import { expect, test } from 'vitest';
import { originFetch } from './origin-fetch.ts';

const origin = 'https://models.example.org';

test('calls its origin, and no other by any spelling', async () => {
  const called: string[] = [];
  const fetch = originFetch(origin, (input) => {
    called.push(String(input));
    return Promise.resolve(new Response('ok'));
  });
  expect(await (await fetch(`${origin}/v1/chat`)).text()).toBe('ok');
  const others = [
    'http://models.example.org/v1',
    'https://models.example.org:444/v1',
    'https://models.example.org.evil.example/v1',
    'https://models.example.org@evil.example/v1',
    new Request('https://evil.example/v1'),
    new URL('https://evil.example/v1'),
  ];
  for (const other of others) await expect(fetch(other)).rejects.toMatchObject({ class: 'invalid_request' });
  expect(called).toEqual([`${origin}/v1/chat`]);
});

test.each([301, 302, 303, 307, 308])('a redirect (%i) is an error, and is not asked to be followed', async (status) => {
  const wishes: unknown[] = [];
  const fetch = originFetch(origin, (_, init) => {
    wishes.push(init?.redirect);
    return Promise.resolve(new Response(null, { status, headers: { location: 'https://evil.example/' } }));
  });
  await expect(fetch(`${origin}/v1`, { redirect: 'follow' })).rejects.toMatchObject({
    class: 'network',
    retryable: false,
  });
  expect(wishes).toEqual(['manual']);
});

test('an answer without end is cut off', async () => {
  const piece = new Uint8Array(1024 * 1024);
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
  const fetch = originFetch(origin, () => Promise.resolve(new Response(endless)));
  const response = await fetch(`${origin}/v1`);
  await expect(response.arrayBuffer()).rejects.toMatchObject({ class: 'bad_stream', retryable: false });
});
