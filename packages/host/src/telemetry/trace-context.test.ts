import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { randomHexSupply } from '../server/compose.ts';
import { answerTraceparent, formatTraceparent, inboundTrace, isSampled, parseTraceparent } from './trace-context.ts';

const randomHex = randomHexSupply();

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it.each([
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-03`, true],
    [`cc-${traceId}-${spanId}-01`, true],
    [`cc-${traceId}-${spanId}-01-what-comes-later`, true],
  ])('is read: %s', (text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId, spanId, sampled });
  });

  it.each([
    undefined,
    7,
    ['00'],
    '',
    'garbage',
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}x-${spanId}-01`,
    `00-${traceId}-${spanId}-01\n`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(1000)}`,
  ])('that is malformed is as if there were none: %s', (text) => {
    expect(parseTraceparent(text)).toBeNull();
    expect(inboundTrace({ traceparent: text })).toBeUndefined();
  });

  test('comes back from its text as it was', () => {
    const hex = (length: number) => fc.stringMatching(new RegExp(`^[1-9a-f][0-9a-f]{${length - 1}}$`));
    fc.assert(
      fc.property(hex(32), hex(16), fc.boolean(), (trace, span, sampled) => {
        const parent = { traceId: trace, spanId: span, sampled };
        expect(parseTraceparent(formatTraceparent(parent))).toEqual(parent);
      }),
    );
  });
});

describe('what is recorded with a run', () => {
  const traceparent = `00-${traceId}-${spanId}-01`;

  it('is the traceparent, and the tracestate when it is well-formed', () => {
    expect(inboundTrace({ traceparent, tracestate: 'vendor=1, other@x=a b' })).toEqual({
      traceparent,
      tracestate: 'vendor=1, other@x=a b',
    });
    for (const tracestate of ['', 'novalue', 'a=b=c', `a=${'x'.repeat(600)}`, 'A=1', ['a=1'], 'a=é']) {
      expect(inboundTrace({ traceparent, tracestate })).toEqual({ traceparent });
    }
    expect(inboundTrace({ tracestate: 'a=1' })).toBeUndefined();
  });
});

describe('the traceparent of an answer', () => {
  it("is in the caller's trace, under a span of its own", () => {
    const answer = parseTraceparent(answerTraceparent({ traceparent: `00-${traceId}-${spanId}-01` }, randomHex));
    expect(answer).toMatchObject({ traceId, sampled: true });
    expect(answer?.spanId).not.toBe(spanId);
  });

  it('is in a new trace otherwise, another each time', () => {
    const [a, b] = [answerTraceparent({}, randomHex), answerTraceparent({ traceparent: 'garbage' }, randomHex)].map(
      parseTraceparent,
    );
    expect(a).not.toBeNull();
    expect(b?.traceId).not.toBe(a?.traceId);
  });
});

describe('sampling', () => {
  it("keeps to the caller's decision, whatever the share", () => {
    expect(isSampled('run_a', `00-${traceId}-${spanId}-01`, 0)).toBe(true);
    expect(isSampled('run_a', `00-${traceId}-${spanId}-00`, 1)).toBe(false);
  });

  it('takes about the share of the traces that begin here, and every one or none at the ends', () => {
    const ids = Array.from({ length: 5_000 }, (_, i) => `run_${i}`);
    const taken = (share: number) => ids.filter((id) => isSampled(id, undefined, share)).length;
    expect(taken(1)).toBe(5_000);
    expect(taken(0)).toBe(0);
    expect(taken(0.1)).toBeGreaterThan(400);
    expect(taken(0.1)).toBeLessThan(600);
  });
});
