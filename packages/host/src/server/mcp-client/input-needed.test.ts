import { expect, test } from 'vitest';
import { inputNeeded } from './input-needed.ts';

const asking = (message: string) => ({
  result: {
    resultType: 'input_required' as const,
    inputRequests: {
      answer: {
        method: 'elicitation/create' as const,
        params: { mode: 'form' as const, message, requestedSchema: { type: 'object' as const, properties: {} } },
      },
    },
  },
  isHeld: false,
});

test('a long question is asked with its beginning, and a short one as it is', () => {
  const messageOf = (message: string) => inputNeeded('other', asking(message), 'run_a').questions[0]?.message;
  expect(messageOf('x'.repeat(3_000))).toBe('x'.repeat(3_000));
  expect(messageOf(`${'x'.repeat(2_999)}\u{1f600} and more`)).toBe(`${'x'.repeat(2_999)}\ufffd…`);
});

test('a question without words is not asked', () => {
  expect(() => inputNeeded('other', asking(''), 'run_a')).toThrow('asks for input that this host does not give');
});
