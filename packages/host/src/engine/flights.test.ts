import { TerminalError } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { Flights, type StepResult } from './flights.ts';
import type { Step, StepContext } from './ports.ts';
import type { OpenCall } from './state.ts';

const call: OpenCall = {
  callId: 'a#0',
  nodeId: 'a',
  step: 'local.step.odd',
  safety: 'read',
  attempt: 1,
  requestedSeq: 3,
};

/** What is recorded of a step that does this. */
function outcomeOf(run: (context: StepContext) => unknown): Promise<StepResult> {
  const step: Step = { typeId: call.step, safety: 'read', run: (_, context) => run(context) as Promise<never> };
  return new Promise((landed) => {
    const world = { tenant: 't', runId: 'run_1' as const, sha256: (text: string) => text } as never;
    new Flights(world, new Map([[step.typeId, step]]), (_, __, result) => landed(result)).start(call, {});
  });
}

describe('a step', () => {
  it.each([
    ['nothing', undefined, null],
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['what JSON has no number for', [Number.NaN, -0], [null, 0]],
    ['an undefined member', { a: 1, b: undefined }, { a: 1 }],
    ['a toJSON of its own', { toJSON: () => 'mine' }, 'mine'],
    ['a key like the prototype', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
    ['a large text', 'x'.repeat(100_000), 'x'.repeat(100_000)],
  ])('that returns %s is recorded as JSON has it', async (_, returned, recorded) => {
    expect(await outcomeOf(async () => returned)).toEqual({ outcome: recorded });
  });

  it.each([
    ['a big integer', { n: 1n }, /is not JSON/],
    [
      'itself',
      (() => {
        const loop: Record<string, unknown> = {};
        loop.self = loop;
        return loop;
      })(),
      /is not JSON/,
    ],
    ['a function', () => 1, /is a function, which is not JSON/],
    [
      'a member that throws',
      {
        get bad() {
          throw new Error('no');
        },
      },
      /is not JSON: Error: no/,
    ],
    ['more than fits in an event', 'x'.repeat(600_000), /Return a reference/],
  ])('that returns %s fails for good, and says why', async (_, returned, message) => {
    const result = await outcomeOf(async () => returned);
    expect(result).toMatchObject({ error: { message: expect.stringMatching(message), retryable: false } });
  });

  it('that throws at once, or later, fails and may be tried again', async () => {
    const thrown = await outcomeOf(() => {
      throw new Error('at once');
    });
    expect(thrown).toMatchObject({ error: { message: '"at once"', retryable: true } });
    const rejected = await outcomeOf(async () => {
      throw new TerminalError('forbidden', { message: 'Never.' });
    });
    expect(rejected).toEqual({ error: { code: 'forbidden', message: 'Never.', retryable: false } });
  });

  it('may answer without a promise', async () => {
    expect(await outcomeOf(() => ({ n: 1 }))).toEqual({ outcome: { n: 1 } });
  });

  it('cannot change what was recorded of it', async () => {
    const kept = { list: [1] };
    const result = await outcomeOf(async () => kept);
    kept.list.push(2);
    expect(result).toEqual({ outcome: { list: [1] } });
  });
});
