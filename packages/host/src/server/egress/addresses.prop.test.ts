import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusedRange } from './addresses.ts';
import { parseTarget } from './target.ts';

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet);
const dotted = (parts: readonly number[]): string => parts.join('.');

/** The same decision, written down by hand from the registries of special addresses. */
function isSpecial([a, b, c, d]: readonly [number, number, number, number]): boolean {
  const value = ((a * 256 + b) * 256 + c) * 256 + d;
  const inside = (network: readonly [number, number, number, number], bits: number): boolean => {
    const start = ((network[0] * 256 + network[1]) * 256 + network[2]) * 256 + network[3];
    return value >= start && value < start + 2 ** (32 - bits);
  };
  return (
    inside([0, 0, 0, 0], 8) ||
    inside([10, 0, 0, 0], 8) ||
    inside([100, 64, 0, 0], 10) ||
    inside([127, 0, 0, 0], 8) ||
    inside([169, 254, 0, 0], 16) ||
    inside([172, 16, 0, 0], 12) ||
    inside([192, 0, 0, 0], 24) ||
    inside([192, 0, 2, 0], 24) ||
    inside([192, 31, 196, 0], 24) ||
    inside([192, 52, 193, 0], 24) ||
    inside([192, 88, 99, 0], 24) ||
    inside([192, 168, 0, 0], 16) ||
    inside([192, 175, 48, 0], 24) ||
    inside([198, 18, 0, 0], 15) ||
    inside([198, 51, 100, 0], 24) ||
    inside([203, 0, 113, 0], 24) ||
    inside([224, 0, 0, 0], 3) ||
    inside([168, 63, 129, 16], 32)
  );
}

/** Half of the addresses near a border of the table, where mistakes are. */
const interesting = fc.oneof(
  ipv4,
  fc.tuple(fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 255), octet, octet, octet),
  fc.tuple(
    fc.constantFrom(100, 169, 172, 192, 198),
    fc.constantFrom(15, 16, 31, 32, 63, 64, 127, 128, 168, 254),
    octet,
    octet,
  ),
);

test('an IPv4 address is refused exactly when a registry calls it special', () => {
  fc.assert(
    fc.property(interesting, (parts) => {
      expect(refusedRange(dotted(parts)) !== null).toBe(isSpecial(parts));
    }),
    { numRuns: 3_000 },
  );
});

test('wrapping an IPv4 address in IPv6 never makes it pass', () => {
  const hex = ([a, b, c, d]: readonly number[]): string =>
    `${((a ?? 0) * 256 + (b ?? 0)).toString(16)}:${((c ?? 0) * 256 + (d ?? 0)).toString(16)}`;
  fc.assert(
    fc.property(interesting, fc.constantFrom('::ffff:', '64:ff9b::', '::', '2002:', '::ffff:0:'), (parts, prefix) => {
      const wrapped = prefix === '2002:' ? `2002:${hex(parts)}::` : `${prefix}${hex(parts)}`;
      if (isSpecial(parts)) expect(refusedRange(wrapped), wrapped).not.toBeNull();
    }),
    { numRuns: 2_000 },
  );
});

test('an IPv6 address outside the public block never passes', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const address = fc.array(group, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(address, (groups) => {
      const isPublicBlock = (groups[0] ?? 0) >> 13 === 1;
      const isTranslated = groups[0] === 0x64 && groups[1] === 0xff9b;
      const isMapped = groups.slice(0, 5).every((part) => part === 0) && groups[5] === 0xffff;
      const text = groups.map((part) => part.toString(16)).join(':');
      if (!isPublicBlock && !isTranslated && !isMapped) expect(refusedRange(text), text).not.toBeNull();
    }),
    { numRuns: 2_000 },
  );
});

test('no spelling of a special IPv4 address passes as a URL', () => {
  const spellings: readonly ((parts: readonly number[]) => string)[] = [
    dotted,
    (parts) => String(parts.reduce((sum, part) => sum * 256 + part, 0)),
    (parts) => `0x${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`,
    (parts) => parts.map((part) => `0${part.toString(8)}`).join('.'),
    (parts) => parts.map((part) => `0x${part.toString(16)}`).join('.'),
    ([a, b, c, d]) => `${a}.${b}.${(c ?? 0) * 256 + (d ?? 0)}`,
    (parts) => `[::ffff:${dotted(parts)}]`,
  ];
  fc.assert(
    fc.property(interesting, fc.nat(spellings.length - 1), (parts, which) => {
      const url = `https://${spellings[which]?.(parts)}/`;
      const passes = () => parseTarget(url, new Set());
      if (isSpecial(parts)) expect(passes, url).toThrow();
      else expect(passes().isListed).toBe(false);
    }),
    { numRuns: 3_000 },
  );
});

test.each(['', 'localhost', '1.2.3', '8.8.8.8.8', 'fe80::1%eth0', '2606:4700::1%0', '0x8.8.8.8', '08.8.8.8'])(
  'what is not the plain form of an address is refused: %s',
  (text) => {
    expect(refusedRange(text)).toBe('not an address');
  },
);
