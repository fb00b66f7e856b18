import { expect, test } from 'vitest';
import type { OperatorNotice } from '../../engine/ports.ts';
import { createKeyRing, keyHash } from './auth.ts';

const weak = 'a-word-or-two-more';
const strong = 'kX3vQ9mZ2pL7tR4wY8nB1s';

function ringOf(isReachable: boolean) {
  const reports: OperatorNotice[] = [];
  const keys = [weak, strong].map((key) => ({ sha256: keyHash(key), tenant: 't', isOnlyHash: true }));
  const ring = createKeyRing(keys, { isReachable, report: (notice) => void reports.push(notice) });
  return { ring, reports };
}

test('a weak key that is configured by its hash is refused on first use if others can reach the host', () => {
  const { ring, reports } = ringOf(true);
  expect([ring(weak), ring(weak), ring(strong)?.tenant]).toEqual([null, null, 't']);
  expect(reports).toMatchObject([{ event: 'config.weak_secret', facts: { place: 'keys[0]', refused: true } }]);
});

test('on a loopback address it works, and the operator is told once', () => {
  const { ring, reports } = ringOf(false);
  expect([ring(weak)?.tenant, ring(weak)?.tenant, ring(strong)?.tenant]).toEqual(['t', 't', 't']);
  expect(reports).toMatchObject([{ event: 'config.weak_secret', facts: { place: 'keys[0]', refused: false } }]);
});
