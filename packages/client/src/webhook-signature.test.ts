import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SignedDelivery, verifyCallback, verifyWebhook } from './webhook-signature.ts';

const secret = 'a-secret-of-this-test';
const event = { eventId: 'run_a:3', type: 'run.completed', sequence: 3, payload: { text: 'ünïcode 🪨' } };
const body = JSON.stringify({ runId: 'run_a', workspaceId: 'acme', event });
const at = 1_800_000_000_000;

const signature = (timestamp: string, text: string | Buffer, key = secret): string =>
  `sha256=${createHmac('sha256', key).update(`${timestamp}.`).update(text).digest('hex')}`;

const headersOf = (timestamp: string, prefix = 'x-openwop-'): Record<string, string> => ({
  [`${prefix}webhook-id`]: 'wh_a',
  [`${prefix}event-type`]: 'run.completed',
  [`${prefix}timestamp`]: timestamp,
  [`${prefix}signature`]: signature(timestamp, body),
  [`${prefix}signature-algorithm`]: 'v1',
});

const signed = (over: Partial<SignedDelivery> = {}): SignedDelivery => ({
  secret,
  headers: headersOf('1800000000'),
  body,
  at,
  ...over,
});

const delivery = { webhookId: 'wh_a', eventType: 'run.completed', runId: 'run_a', workspaceId: 'acme', event };

test.each([
  ['text', body],
  ['bytes', Buffer.from(body)],
])('gives a delivery whose body came as %s', async (_name, came) => {
  expect(await verifyWebhook(signed({ body: came }))).toEqual(delivery);
});

test.each([
  ['of a fetch request', new Headers(headersOf('1800000000'))],
  ['of a Node request', headersOf('1800000000')],
  ['of the newer family', headersOf('1800000000', 'openwop-')],
  ['as lists', Object.fromEntries(Object.entries(headersOf('1800000000')).map(([name, value]) => [name, [value]]))],
])('reads the headers %s', async (_name, headers) => {
  expect(await verifyWebhook(signed({ headers }))).toEqual(delivery);
});

test.each([
  ['another secret', { secret: 'another-secret-here' }, 'not that of the secret'],
  ['another body', { body: `${body} ` }, 'not that of the secret'],
  ['an age of more than five minutes', { at: at + 301_000 }, '301 seconds old, and 300 are tolerated'],
  ['a time ahead', { at: at - 301_000 }, '301 seconds ahead'],
  ['an age beyond the tolerance', { at: at + 11_000, toleranceSeconds: 10 }, '11 seconds old'],
  ['no headers', { headers: {} }, 'no header X-openwop-timestamp'],
])('refuses %s', async (_name, over, why) => {
  await expect(verifyWebhook(signed(over))).rejects.toMatchObject({
    code: 'unauthenticated',
    message: expect.stringContaining(why),
  });
});

test.each([
  ['signature', 'sha256=beef', 'not sha256= and 64 hex digits'],
  ['signature', signature('1800000000', body).toUpperCase(), 'not sha256='],
  ['signature-algorithm', 'v0', 'its algorithm is "v0"'],
  ['timestamp', '1800000001', 'not that of the secret'],
  ['timestamp', '1.8e9', 'not a number of seconds'],
  ['timestamp', '', 'not a number of seconds'],
])('refuses a delivery whose %s is %j', async (name, value, why) => {
  const headers = { ...headersOf('1800000000'), [`x-openwop-${name}`]: value };
  await expect(verifyWebhook(signed({ headers }))).rejects.toThrow(why);
});

test('gives a callback as it was posted, and refuses it like a delivery', async () => {
  const callback = JSON.stringify({ runId: 'run_a', token: 't', url: 'http://host/v1/interrupts/t' });
  const headers = { ...headersOf('1800000000'), 'x-openwop-signature': signature('1800000000', callback) };
  expect(await verifyCallback(signed({ headers, body: callback }))).toEqual(JSON.parse(callback));
  await expect(verifyCallback(signed({ headers, body }))).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('refuses a signed body that is no JSON', async () => {
  const headers = { ...headersOf('1800000000'), 'x-openwop-signature': signature('1800000000', 'text') };
  await expect(verifyWebhook(signed({ headers, body: 'text' }))).rejects.toThrow('its body is not JSON');
});

test('takes a delivery up to the edge of the tolerance, by the clock of the machine when none is given', async () => {
  expect(await verifyWebhook(signed({ at: at + 300_000 }))).toEqual(delivery);
  const now = String(Math.floor(Date.now() / 1000));
  expect(await verifyWebhook({ secret, body, headers: headersOf(now) })).toEqual(delivery);
});

test('refuses every body and signature of which one bit was turned', async () => {
  const bytes = Buffer.from(body);
  const bits = fc.integer({ min: 0, max: bytes.length * 8 - 1 });
  await fc.assert(
    fc.asyncProperty(bits, async (bit) => {
      const other = Buffer.from(bytes);
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expect(verifyWebhook(signed({ body: other }))).rejects.toMatchObject({ code: 'unauthenticated' });
    }),
    { numRuns: 50 },
  );
});
