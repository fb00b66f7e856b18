import { type Json, RetryableError, TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { payloadsOf } from '../../../test/kit/payloads-of.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { defineTool, type ToolOptions } from './define-tool.ts';
import type { Tool, ToolContext } from './tool.ts';
import { toolCaller } from './tool-caller.kit.ts';

type Run = ToolOptions<Record<string, Json>>['run'];

const toolOf = (run: Run, more: Partial<ToolOptions<Record<string, Json>>> = {}): Tool =>
  defineTool({
    id: 'acme:do',
    description: 'Does it.',
    input: z.looseObject({}) as z.ZodType<Record<string, Json>>,
    ...more,
    run,
  });

const failure = (code: string, message = '') => ({
  kind: 'failed',
  error: expect.objectContaining({ code, message: expect.stringContaining(message) }),
});

/** Everything that can happen without time passing has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a call gives what the function returns, and the function knows whose call it is', async () => {
  const tool = toolOf((input, { runId, nodeId, agentId, callId, idempotencyKey, attempt, signal }) => {
    return { input, runId, nodeId, agentId, callId, idempotencyKey, attempt, isAborted: signal.aborted };
  });
  expect(await toolCaller().call(tool, { a: 1 }, { attempt: 3 })).toEqual({
    kind: 'result',
    value: {
      input: { a: 1 },
      runId: 'run_1',
      nodeId: 'agent',
      agentId: 'core.a.b.c',
      callId: 'agent#0.0/t1.0',
      idempotencyKey: 'key',
      attempt: 3,
      isAborted: false,
    },
  });
});

test('arguments off schema fail the call before the function is entered', async () => {
  let entered = 0;
  const tool = toolOf(
    () => {
      entered += 1;
    },
    { input: z.strictObject({ n: z.int() }) as never },
  );
  const caller = toolCaller();
  for (const input of [{}, { n: 'x' }, { n: 1, m: 2 }, 'n', JSON.parse('{"n":1,"__proto__":{"m":1}}') as Json]) {
    expect(await caller.call(tool, input)).toEqual(failure('tool_invalid_arguments', 'acme:do'));
  }
  expect(entered).toBe(0);
});

test('a tool that the host does not have is not found', async () => {
  let entered = false;
  const tool = toolOf(() => {
    entered = true;
  });
  expect(await toolCaller().call(tool, {}, { isOffered: false })).toEqual(failure('tool_not_found', 'acme:do'));
  expect(entered).toBe(false);
});

test.each<[string, () => unknown, string, string]>([
  ['an error', () => new Error('the disk is full'), 'tool_failed', 'the disk is full'],
  ['text', () => 'no', 'tool_failed', '"no"'],
  ['nothing', () => undefined, 'tool_failed', 'undefined'],
  ['an object without a text form', () => Object.create(null), 'tool_failed', 'cannot be shown'],
  ['a proxy that is closed', closed, 'tool_failed', 'cannot be shown'],
  [
    'a terminal error',
    () => new TerminalError('not_found', { message: 'No customer 7.' }),
    'not_found',
    'No customer 7.',
  ],
  [
    'a retryable error',
    () => new RetryableError('http_timeout', { message: 'Too slow.' }),
    'http_timeout',
    'Too slow.',
  ],
])('a function that throws %s fails its call with a code and a message', async (_what, thrown, code, message) => {
  const sync = toolOf(() => {
    throw thrown();
  });
  const later = toolOf(async () => {
    await settled();
    throw thrown();
  });
  for (const tool of [sync, later]) expect(await toolCaller().call(tool)).toEqual(failure(code, message));
});

test('ctx calls that fail and that nobody waits for end neither the call nor the process', async () => {
  const unheard: unknown[] = [];
  const note = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', note);
  const tool = toolOf(async (_input, { ask, signIn, step }) => {
    void ask(undefined as never);
    void signIn({ prompt: '' } as never);
    void step('', () => 1);
    await step('fine', () => 1);
    void step('fails', () => Promise.reject(new Error('no')));
    return 'done';
  });
  expect(await toolCaller().call(tool)).toEqual({ kind: 'result', value: 'done' });
  await settled();
  process.off('unhandledRejection', note);
  expect(unheard).toEqual([]);
});

test('an error message is not cut within a character', async () => {
  const tool = toolOf(() => {
    throw new TerminalError('not_found', { message: `x${'😀'.repeat(2_000)}` });
  });
  const outcome = await toolCaller().call(tool);
  expect(outcome.kind === 'failed' && outcome.error.message.isWellFormed()).toBe(true);
});

test('an error message of a megabyte is cut', async () => {
  const tool = toolOf(() => {
    throw new Error('x'.repeat(1_000_000));
  });
  const outcome = await toolCaller().call(tool);
  expect(JSON.stringify(outcome).length).toBeLessThan(3_000);
});

test.each<[string, unknown, string]>([
  ['100 MB', 'x'.repeat(100_000_000), 'larger than 2000 KB'],
  ['a BigInt', { n: 1n }, 'bigint'],
  ['a function', () => 1, 'function'],
  ['a Map', new Map([[1, 2]]), 'Map'],
  ['a proxy that is closed', closed(), 'cannot be shown'],
  ['a member that throws what has no text', badMember(), 'cannot be read'],
])('a result of %s fails the call', async (_what, result, message) => {
  expect(await toolCaller().call(toolOf(() => result))).toEqual(failure('tool_failed', message));
});

function badMember(): object {
  return {
    get bad() {
      throw Object.create(null);
    },
  };
}

function closed(): object {
  const no = () => {
    throw Object.create(null);
  };
  return new Proxy({}, { get: no, has: no, getPrototypeOf: no, ownKeys: no });
}

test.each<[string, z.ZodType]>([
  [
    'throws',
    z.looseObject({}).refine(() => {
      throw new Error('broken check');
    }),
  ],
  ['has to wait', z.looseObject({}).refine(async () => true)],
])('a result whose schema %s fails the call, and nothing else', async (_what, output) => {
  expect(await toolCaller().call(toolOf(() => ({}), { output }))).toEqual(failure('tool_failed', 'cannot check it'));
});

test('a result that breaks the schema of the tool fails the call', async () => {
  const tool = toolOf(() => ({ n: 'x' }), { output: z.object({ n: z.number() }) });
  expect(await toolCaller().call(tool)).toEqual(failure('tool_failed', 'breaks its own schema: n:'));
});

test('a function that hangs is given up in time, told so, and ignored from then on', async () => {
  const caller = toolCaller();
  let told: unknown;
  let finish: (value: string) => void = () => undefined;
  const tool = toolOf(
    (_input, { signal, progress }) => {
      signal.addEventListener('abort', () => {
        told = signal.reason;
      });
      return new Promise((resolve) => {
        finish = (value) => {
          progress(1);
          resolve(value);
        };
      });
    },
    { timeoutMs: 5_000 },
  );
  const called = caller.call(tool);
  caller.pass(4_999);
  await settled();
  expect(told).toBeUndefined();
  caller.pass(1);
  expect(await called).toEqual({
    kind: 'failed',
    error: { code: 'tool_timeout', message: 'The tool acme:do did not finish within 5000 ms.', retryable: true },
  });
  expect(told).toBeInstanceOf(Error);
  finish('late');
  await settled();
  expect([caller.rows, caller.waiting]).toEqual([[], 0]);
});

test('a cancelled call ends at once, whether or not the function listens', async () => {
  const caller = toolCaller();
  let isTold = false;
  const called = caller.call(
    toolOf((_input, { signal }) => {
      signal.addEventListener('abort', () => {
        isTold = true;
      });
      return new Promise(() => undefined);
    }),
  );
  await settled();
  caller.cancel.abort();
  expect(await called).toEqual(failure('tool_canceled'));
  expect([isTold, caller.waiting]).toEqual([true, 0]);
  let entered = false;
  const again = caller.call(
    toolOf(() => {
      entered = true;
    }),
  );
  expect([await again, entered]).toEqual([failure('tool_canceled'), false]);
});

test('what a function left running is told when the call is over', async () => {
  let signal: AbortSignal | undefined;
  const tool = toolOf((_input, context) => {
    signal = context.signal;
  });
  await toolCaller().call(tool);
  expect(signal?.aborted).toBe(true);
});

test('progress may name its steps and the time that is left; odd values are left out', async () => {
  const secret = 'c0ffee-c0ffee';
  const caller = toolCaller({ redactor: createRedactor([{ name: 'crm', value: secret }]) });
  const odd = {
    step: 7 as never,
    stepsTotal: -1,
    stepsCompleted: 0.5,
    etaMs: Number.NaN,
    indeterminate: 'yes' as never,
  };
  const tool = toolOf(async (_input, { progress }) => {
    progress(0.4, 'two of five', { step: `copy ${secret}`, stepsCompleted: 2, stepsTotal: 5, etaMs: 9_000 });
    caller.pass(250);
    progress(0.4, 'waits', { indeterminate: true });
    caller.pass(250);
    progress(1, 'odd', odd);
  });
  await caller.call(tool);
  const told = payloadsOf(caller.rows, 'cairn.tool.progress').map(({ callId, toolName, agentId, ...rest }) => rest);
  expect(told).toEqual([
    { progress: 0.4, message: 'two of five', step: 'copy [REDACTED]', stepsCompleted: 2, stepsTotal: 5, etaMs: 9_000 },
    { progress: 0.4, message: 'waits', indeterminate: true },
    { progress: 1, message: 'odd' },
  ]);
});

test('progress is written a few times a second, never goes back, and the last word is never lost', async () => {
  const caller = toolCaller();
  const tool = toolOf(async (_input, { progress }) => {
    for (let i = 0; i <= 10_000; i++) progress(i / 20_000, `part ${i}`);
    caller.pass(250);
    progress(0.2, 'back');
    caller.pass(250);
    for (const odd of [Number.NaN, -1, '0.9' as never, undefined as never]) progress(odd);
    caller.pass(250);
    progress(7, 'all');
    progress(1, 'done');
  });
  await caller.call(tool);
  const told = payloadsOf(caller.rows, 'cairn.tool.progress').map(({ progress, message }) => [progress, message]);
  expect(told).toEqual([
    [0, 'part 0'],
    [0.5, 'part 10000'],
    [0.5, 'back'],
    [0.5, undefined],
    [1, 'done'],
  ]);
  expect(caller.rows[0]).toEqual({
    type: 'cairn.tool.progress',
    payload: {
      callId: 'agent#0.0/t1.0',
      toolName: 'acme:do',
      agentId: 'core.a.b.c',
      progress: 0,
      message: 'part 0',
    },
  });
  expect(caller.waiting).toBe(0);
});

test('calls of one principal may run out; a call that goes on or is made again was let in before', async () => {
  const taken: unknown[] = [];
  const caller = toolCaller({
    takeCall: (...who) => {
      taken.push(who);
      return taken.length > 1 ? 1500 : 0;
    },
  });
  const tool = toolOf((_input, { ask }) => ask({ prompt: 'Really?' }));
  const first = await caller.call(tool);
  caller.answer(first, 'yes');
  expect(await caller.call(tool)).toEqual({ kind: 'result', value: 'yes' });
  expect(await caller.call(tool, {}, { attempt: 2 })).toEqual({ kind: 'result', value: 'yes' });
  caller.records.length = 0;
  expect(await caller.call(tool, {}, { principal: null })).toEqual({
    kind: 'failed',
    error: { code: 'rate_limited', message: 'The tool acme:do may be called again in 1500 ms.', retryable: true },
  });
  expect(taken).toEqual([
    ['acme', 'ann', 'acme:do'],
    ['acme', null, 'acme:do'],
  ]);
});

test('a secret is given to a tool that declares it, and to no other', async () => {
  const caller = toolCaller({ secrets: { crm: 'c0ffee-c0ffee' } });
  const reads =
    (name: string) =>
    (_input: unknown, { secret }: ToolContext) =>
      secret(name).length;
  expect(await caller.call(toolOf(reads('crm'), { secrets: ['crm'] }))).toEqual({ kind: 'result', value: 13 });
  expect(await caller.call(toolOf(reads('crm')))).toEqual(failure('credential_forbidden', 'does not declare it'));
  const absent = toolOf(reads('erp'), { secrets: ['erp'] });
  expect(await caller.call(absent)).toEqual(failure('credential_forbidden', 'no such secret'));
});

test('a secret is in no result, error, progress, step or question', async () => {
  const secret = 'c0ffee-c0ffee';
  const caller = toolCaller({ redactor: createRedactor([{ name: 'crm', value: secret }]) });
  const seen: unknown[] = [];
  const tool = toolOf(async (_input, { step, progress, ask }) => {
    progress(0.5, `with ${secret}`);
    seen.push(await step(`use ${secret}`, () => `it is ${secret}`));
    seen.push(await step('throw', () => Promise.reject(new Error(secret))).catch(({ message }: Error) => message));
    await ask({ prompt: `Is ${secret} right?` });
    return { [secret]: secret };
  });
  const first = await caller.call(tool);
  // The engine redacts what a performer gives, before it is recorded.
  const question = { kind: 'ask', name: 'Is [REDACTED] right?', prompt: 'Is [REDACTED] right?' } as const;
  expect(first).toMatchObject({ kind: 'suspended', ordinal: 2 });
  caller.answer({ kind: 'suspended', ordinal: 2, question }, 'yes');
  const second = await caller.call(tool);
  expect(second).toEqual({ kind: 'result', value: { '[REDACTED]': '[REDACTED]' } });
  expect(seen[0]).toBe('it is [REDACTED]');
  // The function goes on with the same as on the entry before.
  expect(seen.slice(0, 2)).toEqual(seen.slice(2));
  expect(JSON.stringify([caller.rows, seen])).not.toContain(secret);
});

test('a result that grows too large by what stands for its secrets fails the call', async () => {
  const caller = toolCaller({ redactor: createRedactor([{ name: 'short', value: 'c0ffee-c' }]) });
  const tool = toolOf(() => 'c0ffee-c'.repeat(249_000));
  expect(await caller.call(tool)).toEqual(failure('tool_failed', 'larger than 2000 KB'));
});
