import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBuckets } from './token-buckets.ts';

test('in any span no more pass than the burst and the rate allow, and who waits as told passes', () => {
  const spans = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 })), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), spans, (perSecond, burst, waits) => {
      let at = 0;
      const buckets = new TokenBuckets({ perSecond, burst, now: () => at });
      let passed = 0;
      for (const wait of waits) {
        at += wait;
        const told = buckets.take('a');
        if (told === 0) passed += 1;
        else {
          at += told;
          expect(buckets.take('a')).toBe(0);
          passed += 1;
        }
        expect(passed).toBeLessThanOrEqual(burst + (at / 1000) * perSecond + 1e-6);
      }
    }),
  );
});
