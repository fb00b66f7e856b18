/** How long the card of a peer is kept, and how it is asked for again. */
import { expect, test } from 'vitest';
import { KeptCard } from './kept-card.ts';
import { plainCard } from './other-peer.kit.ts';
import type { PeerFetch } from './peer-fetch.ts';
import type { PeerSettings } from './peer-settings.ts';

const settings = { name: 'p', url: 'https://peer.example.org/' } as PeerSettings;
const signal = new AbortController().signal;

/** A peer that serves its card with these headers, and what it was asked. */
function served(headers: Readonly<Record<string, string>>) {
  const asked: (string | null)[] = [];
  const fetch: PeerFetch = async (url, init) => {
    expect(url).toBe('https://peer.example.org/.well-known/agent-card.json');
    const known = new Headers(init.headers).get('if-none-match');
    asked.push(known);
    const isSame = known !== null && known === headers.etag;
    const body = JSON.stringify(plainCard('https://peer.example.org'));
    return new Response(isSame ? null : body, { status: isSame ? 304 : 200, headers });
  };
  return { asked, fetch };
}

test('a card is kept as long as the peer says, then asked for by its ETag', async () => {
  let now = 0;
  const card = new KeptCard(settings, () => now);
  const { asked, fetch } = served({ 'cache-control': 'public, max-age=60', etag: '"1"' });
  const first = await card.read(fetch, signal);
  now = 59_999;
  expect(await card.read(fetch, signal)).toBe(first);
  now = 60_000;
  expect(await card.read(fetch, signal)).toBe(first);
  expect(asked).toEqual([null, '"1"']);
  now = 119_999;
  await card.read(fetch, signal);
  expect(asked).toHaveLength(2);
});

test('a card in doubt is asked for by its ETag at the next use', async () => {
  const card = new KeptCard(settings, () => 0);
  const { asked, fetch } = served({ 'cache-control': 'public, max-age=60', etag: '"1"' });
  card.doubt();
  const first = await card.read(fetch, signal);
  card.doubt();
  expect(await card.read(fetch, signal)).toBe(first);
  expect(await card.read(fetch, signal)).toBe(first);
  expect(asked).toEqual([null, '"1"']);
});

test.for<[string, Readonly<Record<string, string>>, number]>([
  ['no-store', { 'cache-control': 'no-store' }, 0],
  ['nothing', {}, 300_000],
  ['a year', { 'cache-control': 'max-age=31536000' }, 3_600_000],
])('a card whose peer says %s is kept for a bounded time', async ([, headers, ms]) => {
  let now = 0;
  const card = new KeptCard(settings, () => now);
  const { asked, fetch } = served(headers);
  await card.read(fetch, signal);
  now = Math.max(0, ms - 1);
  await card.read(fetch, signal);
  const within = asked.length;
  now = ms;
  await card.read(fetch, signal);
  expect([within, asked.length]).toEqual(ms === 0 ? [2, 3] : [1, 2]);
});
