import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { isCairnError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { ManualTimers } from '../manual-timers.kit.ts';
import { UnreadBytes } from './unread-bytes.ts';

/** A response that only counts whether it was cut. */
class Response extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const response = () => new Response() as Response & ServerResponse;

const opened = (perTenant = 100, total = 250) => {
  const timers = new ManualTimers();
  return { timers, unread: new UnreadBytes({ maxUnreadBytesPerTenant: perTenant, maxUnreadBytes: total }, timers) };
};

const codeOf = (refused: () => void): unknown => {
  try {
    refused();
    return null;
  } catch (error) {
    return isCairnError(error) ? error.code : error;
  }
};

test('a response is counted until it closes', () => {
  const { unread } = opened();
  const one = response();
  unread.admit('a', one, 60);
  expect(unread.total).toBe(60);
  one.emit('close');
  expect(unread.total).toBe(0);
});

test('a tenant over its limit gets no further large response, and another tenant does', () => {
  const { unread } = opened();
  const first = response();
  unread.admit('a', first, 60);
  expect(codeOf(() => unread.admit('a', response(), 60))).toBe('rate_limited');
  expect(codeOf(() => unread.admit('b', response(), 60))).toBeNull();
  first.emit('close');
  expect(codeOf(() => unread.admit('a', response(), 60))).toBeNull();
});

test('a response larger than the limit passes while nothing else of the tenant waits', () => {
  const { unread } = opened();
  expect(codeOf(() => unread.admit('a', response(), 150))).toBeNull();
  expect(codeOf(() => unread.admit('a', response(), 1))).toBe('rate_limited');
});

test('when the total is reached, the tenant with the most pays', () => {
  const { unread } = opened(100, 150);
  const oldest = response();
  const newer = response();
  unread.wait('greedy', oldest, { bytes: 50 });
  unread.wait('greedy', newer, { bytes: 50 });
  unread.admit('small', response(), 40);
  unread.admit('other', response(), 40);
  expect([oldest.destroyed, newer.destroyed]).toEqual([true, false]);
  expect(codeOf(() => unread.admit('greedy', response(), 50))).toBe('service_unavailable');
  expect(unread.total).toBe(130);
});

test('a tenant over its limit loses the stream that waits longest', () => {
  const { unread } = opened();
  const [first, second, third] = [response(), response(), response()];
  unread.wait('a', first, { bytes: 40 });
  unread.wait('a', second, { bytes: 40 });
  unread.wait('a', third, { bytes: 40 });
  expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  expect(unread.total).toBe(80);
});

test('a stream is counted with what waits now, and not once it is read', () => {
  const { unread } = opened();
  const one = response();
  unread.wait('a', one, { bytes: 40 });
  unread.wait('a', one, { bytes: 70 });
  expect(unread.total).toBe(70);
  unread.read('a', one);
  unread.read('a', one);
  expect(unread.total).toBe(0);
});

test('a client that takes too long for a large response is cut', () => {
  const { unread, timers } = opened(1_000_000, 1_000_000);
  const one = response();
  unread.admit('a', one, 655_360);
  timers.pass(40_000);
  expect(one.destroyed).toBe(true);
  expect(unread.total).toBe(0);
});

test('a document that several responses are rendered from counts once, until the last of them is read', () => {
  const { unread } = opened();
  const kept = { bytes: 60 };
  const [first, second, third] = [response(), response(), response()];
  unread.wait('a', first, { bytes: 10, kept });
  unread.wait('a', second, { bytes: 10, kept });
  expect(unread.total).toBe(80);
  unread.read('a', first);
  expect(unread.total).toBe(70);
  // Another document does not fit beside it: the response that waits longest is cut, and the document goes with it.
  unread.wait('a', third, { bytes: 10, kept: { bytes: 50 } });
  expect([second.destroyed, third.destroyed]).toEqual([true, false]);
  expect(unread.total).toBe(60);
  unread.read('a', third);
  expect(unread.total).toBe(0);
});
