import { runInNewContext } from 'node:vm';
import { contextId, runId, TerminalError } from '@cairn/protocol';
import { describe, expect, it, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { OpenCall } from '../core/state.ts';
import { RecordedResults } from '../fork/recorded-results.ts';
import type { Redactor, Step, StepContext } from '../ports.ts';
import { TenantShares } from '../shares/tenant-shares.ts';
import type { CallResult } from '../workflow/driven-calls.ts';
import { Attempt } from './attempt.ts';
import { Attempts } from './attempts.ts';

const call: OpenCall = {
  callId: 'a#0',
  nodeId: 'a',
  step: 'local.step.odd',
  safety: 'read',
  attempt: 1,
  requestedSeq: 3,
  requestedAt: 0,
  recoveries: 0,
};

const clock = { now: () => 0, wakeAt: () => () => undefined };

/** What is recorded of a step that does this. */
function outcomeOf(run: (context: StepContext) => unknown, redactor: Redactor | null = null): Promise<CallResult> {
  const step: Step = { typeId: call.step, safety: 'read', run: (_, context) => run(context) as Promise<never> };
  return new Promise((returned) => {
    const ids = { tenant: 't', runId: runId('1'), contextId: contextId('c') };
    const ports = {
      ...ids,
      clock,
      sha256: (text: string) => text,
      redactor,
      secretsOf: () => null,
      sealing: { vault: null, uniqueId: () => 'u', sha256: (text: string) => text },
      post: () => undefined,
      shares: new TenantShares({}, () => 0),
      isReplay: false,
    };
    new Attempt(call, { ports, secrets: null }, returned).run(step, {});
  });
}

test('an attempt for a replay is a defect, and nothing is performed', () => {
  let performed = 0;
  const step: Step = { typeId: call.step, safety: 'read', run: async () => (performed += 1) };
  const ids = { tenant: 't', runId: runId('1'), contextId: contextId('c') };
  const sealing = { vault: null, uniqueId: () => 'u', sha256: (text: string) => text };
  const shares = new TenantShares({}, () => 0);
  const hands = { clock, redactor: null, secretsOf: () => null, sealing, sha256: sealing.sha256, shares };
  const recorded = new RecordedResults(inMemoryStore().log, sealing.sha256);
  const ports = { ...ids, ...hands, recorded, post: () => undefined, isReplay: true };
  expect(() => new Attempt(call, { ports, secrets: null }, () => undefined).run(step, {})).toThrow(
    /replay-performs-nothing/,
  );
  const attempts = new Attempts({ nodes: new Map() } as never, new Map([[step.typeId, step]]), ports);
  expect(() => attempts.start({ ...newRunState(runId('1')), calls: new Map([[call.callId, call]]) }, call)).toThrow(
    /replay-performs-nothing/,
  );
  expect(performed).toBe(0);
});

describe('a step', () => {
  it.each([
    ['nothing', undefined, null],
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['a negative zero', [-0], [0]],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['an object of another realm', runInNewContext('({ a: [1] })'), { a: [1] }],
    ['an undefined member', { a: 1, b: undefined }, { a: 1 }],
    ['a toJSON of its own', { toJSON: () => 'mine' }, 'mine'],
    ['a key like the prototype', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
    ['a large text', 'x'.repeat(100_000), 'x'.repeat(100_000)],
  ])('that returns %s is recorded as JSON has it', async (_, returned, recorded) => {
    expect(await outcomeOf(async () => returned)).toEqual({ outcome: recorded });
  });

  it.each([
    ['a big integer', { n: 1n }, /is not JSON: .*BigInt/],
    [
      'itself',
      (() => {
        const loop: Record<string, unknown> = {};
        loop.self = loop;
        return loop;
      })(),
      /is not JSON: Converting circular structure to JSON --> /,
    ],
    ['a function', () => 1, /cannot be recorded: it is a function, which is not JSON\.$/],
    ['a function in a list', [() => 1], /its part "0" is a function, which is not JSON/],
    ['what JSON has no number for', { a: [Number.NaN] }, /its part "a.0" is NaN, which JSON cannot say/],
    ['a Map', { by: new Map([[1, 2]]) }, /its part "by" is a Map, which is not plain JSON/],
    ['an error', new Error('no'), /it is an Error, which is not plain JSON/],
    ['a promise', { rows: Promise.resolve(1) }, /its part "rows" is a Promise, which is not plain JSON; await it\.$/],
    ['bytes', { file: Buffer.from('x') }, /its part "file" is binary data/],
    ['what becomes a Map', { toJSON: () => ({ inner: new Set() }) }, /its part "inner" is a Set/],
    [
      'a member that throws what has no text',
      {
        get bad() {
          throw Object.create(null);
        },
      },
      /is not JSON: something that cannot be shown/,
    ],
    [
      'a member that throws',
      {
        get bad() {
          throw new Error('no');
        },
      },
      /is not JSON: no/,
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

  it.each<[string, unknown]>([
    ['has no text', Object.create(null)],
    ['does not let itself be looked at', closed()],
  ])('that throws what %s fails all the same', async (_, thrown) => {
    const result = await outcomeOf(async () => {
      throw thrown;
    });
    expect(result).toMatchObject({ error: { code: 'node_execution_failed', message: expect.stringMatching(/shown/) } });
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

describe('what a step brings', () => {
  const secret = 'sk-0123456789abcdef';
  const redactor = createRedactor([{ name: 'key', value: secret }]);
  const failed = (error: unknown) =>
    outcomeOf(async () => {
      throw error;
    }, redactor);

  it.each([
    ['small', { text: `a ${secret}`, [secret]: [secret] }],
    ['large', { text: `a ${secret}`, [secret]: [secret], more: 'x'.repeat(50_000) }],
    ['not plain', { text: `a ${secret}`, [secret]: [secret], at: new Date(0) }],
  ])('loses its secrets: a result that is %s', async (_, returned) => {
    const result = await outcomeOf(async () => returned, redactor);
    expect(result).toMatchObject({ outcome: { text: 'a [REDACTED]', '[REDACTED]': ['[REDACTED]'] } });
  });

  it('is measured with the markers in it', async () => {
    const many = createRedactor([{ name: 'a-long-name-for-a-short-secret', value: '12345678' }]);
    const result = await outcomeOf(async () => '12345678'.repeat(50_000), many);
    expect(result).toMatchObject({ error: { code: 'event_too_large' } });
  });

  it('loses its secrets before an error is cut, so that no part of one stays', async () => {
    const result = await failed(new Error(`${'x'.repeat(1_990)}${secret}`));
    expect(JSON.stringify(result)).toContain('xx[REDACTED');
    expect(JSON.stringify(result)).not.toContain('sk-0');
  });

  it.each([
    ['an error of its own', new TerminalError('http_timeout', { message: `no answer to ${secret}` })],
    ['a text', `thrown ${secret}`],
    ['the code of an error', Object.assign(new Error('e'), { code: secret })],
  ])('loses its secrets: %s', async (_, thrown) => {
    const text = JSON.stringify(await failed(thrown));
    expect(text).toContain('[REDACTED]');
    expect(text).not.toContain(secret);
  });

  it('loses its secrets: why a result could not be recorded', async () => {
    const toJSON = () => {
      throw new Error(secret);
    };
    expect(JSON.stringify(await outcomeOf(async () => ({ toJSON }), redactor))).toContain('is not JSON: [REDACTED]');
  });
});

function closed(): object {
  const no = () => {
    throw new Error('no');
  };
  return new Proxy({}, { get: no, has: no, getPrototypeOf: no });
}

it('records large results that arrive together over several turns of the event loop', async () => {
  const turns: (() => void)[] = [];
  let ms = 0;
  const loop = { elapsedMs: () => (ms += 3), nextTurn: (go: () => void) => void turns.push(go) };
  const shares = new TenantShares({}, () => 0, loop);
  const recorded: CallResult[] = [];
  const text = 'x'.repeat(100_000);
  for (let i = 0; i < 6; i += 1) {
    const ids = { tenant: 't', runId: runId('1'), contextId: contextId('c') };
    const sha256 = (s: string) => s;
    const sealing = { vault: null, uniqueId: () => 'u', sha256 };
    const ports = {
      ...ids,
      clock,
      sha256,
      redactor: null,
      secretsOf: () => null,
      sealing,
      post: () => undefined,
      shares,
      isReplay: false,
    };
    const step: Step = { typeId: call.step, safety: 'read', run: async () => ({ text }) };
    new Attempt(call, { ports, secrets: null }, (result) => void recorded.push(result)).run(step, {});
  }
  const counts: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    for (let i = 0; i < 20; i += 1) await null;
    counts.push(recorded.length);
    for (const go of turns.splice(0)) go();
  }
  expect(counts[0]).toBeLessThan(4);
  expect(counts.at(-1)).toBe(6);
  expect(recorded[5]).toEqual({ outcome: { text } });
});
