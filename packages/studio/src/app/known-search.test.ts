import { expect, test } from 'vitest';
import { parseRunSearch } from '../run/run-search.ts';
import { parseSearch } from '../runs/filter.ts';
import { knownSearch } from './known-search.ts';

/** As the router does: what a screen reads, over the query as it came. */
const shown = (raw: Record<string, unknown>, read: (raw: Record<string, unknown>) => object) => ({
  ...raw,
  ...read(raw),
});

test('what a screen cannot read of an address is not there', () => {
  const run = knownSearch(['tab', 'event', 'at'], parseRunSearch);
  expect(shown({ tab: 'bogus', event: 'abc', at: 1.5 }, run)).toEqual({});
  expect(shown({ tab: 'log', event: -5, at: 7 }, run)).toEqual({ tab: 'log', at: 7 });
  const runs = knownSearch(['status', 'workflow', 'tag', 'parent'], parseSearch);
  expect(shown({ status: 'broken', tag: 7 }, runs)).toEqual({ tag: '7' });
  expect(shown({ status: 'failed', parent: 'any' }, runs)).toEqual({ status: 'failed' });
});
