import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Json } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { payloadsOf } from '../../../test/kit/payloads-of.ts';
import { defineTool, type ToolOptions } from './define-tool.ts';
import type { Tool, ToolOutcome } from './tool.ts';
import { toolCaller } from './tool-caller.kit.ts';

type Run = ToolOptions<object>['run'];

const toolOf = (run: Run, timeoutMs = 60_000): Tool =>
  defineTool({ id: 'acme:do', description: 'Does it.', input: z.object({}), timeoutMs, run });

const failure = (code: string, message = '') => ({
  kind: 'failed',
  error: expect.objectContaining({ code, retryable: false, message: expect.stringContaining(message) }),
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a question without an answer ends the call at once; on the answer the function is entered again and goes on', async () => {
  const caller = toolCaller();
  const done: string[] = [];
  const tool = toolOf(async (_input, { ask, signIn, step }) => {
    done.push('enter');
    const who = await step('look up', async () => {
      done.push('look up');
      return 'Ann';
    });
    const yes = await ask({ prompt: `Refund ${who}?`, schema: { type: 'boolean' }, timeoutMs: 1_000 });
    const { credentialRef } = await signIn({ prompt: 'Sign in', provider: 'bank', scopes: ['pay'] });
    return { who, yes, credentialRef };
  });
  const first = await caller.call(tool);
  expect(first).toEqual({
    kind: 'suspended',
    ordinal: 1,
    question: {
      kind: 'ask',
      name: 'Refund Ann?',
      prompt: 'Refund Ann?',
      schema: { type: 'boolean' },
      timeoutMs: 1_000,
    },
  });
  expect(caller.waiting).toBe(0);
  caller.answer(first, true);
  const second = await caller.call(tool);
  expect(second).toEqual({
    kind: 'suspended',
    ordinal: 2,
    question: {
      kind: 'signIn',
      name: 'bank',
      prompt: 'Sign in',
      authType: 'api-key',
      provider: 'bank',
      scopes: ['pay'],
    },
  });
  caller.answer(second, { credentialRef: 'cred_1' });
  expect(await caller.call(tool)).toEqual({
    kind: 'result',
    value: { who: 'Ann', yes: true, credentialRef: 'cred_1' },
  });
  expect(done).toEqual(['enter', 'look up', 'enter', 'enter']);
  // Only the step wrote a row, and only once.
  expect(caller.rows).toEqual([
    {
      type: 'cairn.step.returned',
      payload: {
        nodeId: 'agent',
        callId: 'agent#0.0/t1.0.0',
        attempt: 1,
        of: 'agent#0.0/t1.0',
        ordinal: 0,
        name: 'look up',
        outcome: 'Ann',
      },
    },
  ]);
});

test('a zod schema of a question is shown as JSON Schema, and parses the answer', async () => {
  const caller = toolCaller();
  const tool = toolOf(async (_input, { ask }) => {
    const { day } = await ask({
      prompt: 'When?',
      schema: z.object({ day: z.string().transform((d) => Date.parse(d)) }),
    });
    return day + 1;
  });
  const first = await caller.call(tool);
  expect(first).toMatchObject({
    kind: 'suspended',
    question: { schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } },
  });
  caller.answer(first, { day: '1970-01-02' });
  expect(await caller.call(tool)).toEqual({ kind: 'result', value: 86_400_001 });
});

test('an answer that only the zod schema refuses is asked for again, with the reason, until one fits', async () => {
  const caller = toolCaller();
  const even = z.int().refine((n) => n % 2 === 0, 'must be even');
  const tool = toolOf(async (_input, { ask, step }) => {
    const count = await ask({ prompt: 'How many?', schema: even });
    return step('count', () => count);
  });
  const first = await caller.call(tool);
  expect(first).toMatchObject({ ordinal: 0, question: { prompt: 'How many?' } });
  caller.answer(first, 3);
  const second = await caller.call(tool);
  expect(second).toMatchObject({
    ordinal: 1,
    question: {
      name: 'How many?',
      prompt: 'How many?\n\nThe last answer does not fit: the value: must be even',
      schema: { type: 'integer' },
    },
  });
  caller.answer(second, 4);
  expect(await caller.call(tool)).toEqual({ kind: 'result', value: 4 });
  expect(payloadsOf(caller.rows, 'cairn.step.returned')).toMatchObject([{ ordinal: 2, outcome: 4 }]);
});

test('a question whose schema can check nothing fails the call instead of being asked for ever', async () => {
  const caller = toolCaller();
  const waits = toolOf((_input, { ask }) => ask({ prompt: 'A?', schema: z.string().refine(async () => true) }));
  const first = await caller.call(waits);
  caller.answer(first, 'yes');
  expect(await caller.call(waits)).toEqual(failure('tool_failed', 'cannot check an answer'));
  const odd = toolOf((_input, { ask }) => ask({ prompt: 'A?', schema: z.bigint() }));
  expect(await toolCaller().call(odd)).toEqual(failure('tool_failed', 'no JSON Schema can state'));
});

test('what the function does after a question that ended its call changes nothing', async () => {
  const caller = toolCaller();
  const tool = toolOf(async (_input, { ask, step, progress, signal }) => {
    void ask({ prompt: 'A?' });
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    progress(1);
    void step('late', () => 1);
    void ask({ prompt: 'B?' });
    return 'late';
  });
  expect(await caller.call(tool)).toMatchObject({ kind: 'suspended', ordinal: 0, question: { prompt: 'A?' } });
  await settled();
  expect([caller.rows, caller.waiting]).toEqual([[], 0]);
});

test('nothing of a suspended call stays in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const caller = toolCaller();
  let kept: WeakRef<object> | undefined;
  const tool = toolOf(async (_input, { ask }) => {
    const big = { bytes: new Uint8Array(1_000_000) };
    kept = new WeakRef(big);
    await ask({ prompt: 'Go on?' });
    return big.bytes.length;
  });
  await caller.call(tool);
  for (let i = 0; i < 10 && kept?.deref() !== undefined; i++) {
    await settled();
    collect();
  }
  expect(kept?.deref()).toBeUndefined();
});

test('the error of a step is the same on every entry, and its function is not called again', async () => {
  const caller = toolCaller();
  let tried = 0;
  const seen: unknown[] = [];
  const tool = toolOf(async (_input, { ask, step }) => {
    const pay = step('pay', () => {
      tried += 1;
      throw Object.assign(new Error('declined'), { code: 'E_CARD' });
    });
    seen.push(await pay.catch(({ name, code, message }) => ({ name, code, message })));
    return ask({ prompt: 'Another card?' });
  });
  caller.answer(await caller.call(tool), 'no');
  expect(await caller.call(tool)).toEqual({ kind: 'result', value: 'no' });
  expect(tried).toBe(1);
  expect(seen).toEqual([seen[0], seen[0]]);
  expect(seen[0]).toEqual({ name: 'TerminalError', code: 'tool_failed', message: 'The tool threw "declined".' });
});

test('steps side by side are recorded before a question ends the call, so that none happens twice', async () => {
  const caller = toolCaller();
  const done: string[] = [];
  let release: () => void = () => undefined;
  const tool = toolOf(async (_input, { ask, step }) => {
    const slow = step('slow', async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      done.push('slow');
      return 1;
    });
    const quick = step('quick', () => {
      done.push('quick');
      return 2;
    });
    const after = slow.then((value) => {
      done.push('after slow');
      return value;
    });
    return Promise.all([after, ask({ prompt: 'And?' }), quick]);
  });
  const called = caller.call(tool);
  let isOver = false;
  void called.then(() => {
    isOver = true;
  });
  await settled();
  expect([done, isOver]).toEqual([['quick'], false]);
  release();
  caller.answer(await called, 'yes');
  await settled();
  // Nothing that follows the step is done by an entry that has ended.
  expect(done).toEqual(['quick', 'slow']);
  expect(await caller.call(tool)).toEqual({ kind: 'result', value: [1, 'yes', 2] });
  expect(done).toEqual(['quick', 'slow', 'after slow']);
});

test('a step whose row will never be durable gives nothing to its function', async () => {
  const caller = toolCaller();
  let isPast = false;
  const called = caller.call(
    toolOf(async (_input, { step }) => {
      await step('write', () => 1);
      isPast = true;
    }, 100),
    {},
    { isLost: true },
  );
  await settled();
  caller.pass(100);
  expect([await called, isPast]).toEqual([
    { kind: 'failed', error: expect.objectContaining({ code: 'tool_timeout' }) },
    false,
  ]);
});

const steps =
  (...calls: readonly string[]): Run =>
  async (_input, { ask, signIn, step }) => {
    const kinds: Record<string, (name: string) => Promise<unknown>> = {
      step: (name) => step(name, () => name),
      ask: (name) => ask({ prompt: name }),
      signIn: (name) => signIn({ provider: name }),
    };
    for (const call of calls) {
      const [kind, name] = call.split(' ') as [string, string];
      await kinds[kind]?.(name);
    }
    return 'done';
  };

test.each<[string, readonly string[], string]>([
  ['another order', ['step b', 'step a', 'ask c'], 'ctx call 0 was ctx.step "a", and now it called ctx.step "b"'],
  ['another name', ['step a', 'step x', 'ask c'], 'ctx call 1 was ctx.step "b", and now it called ctx.step "x"'],
  ['another kind', ['step a', 'ask b', 'ask c'], 'ctx call 1 was ctx.step "b", and now it called ctx.ask "b"'],
  ['another question', ['step a', 'step b', 'ask x'], 'ctx call 2 was ctx.ask "c", and now it called ctx.ask "x"'],
  ['a sign-in for a question', ['step a', 'step b', 'signIn c'], 'and now it called ctx.signIn "c"'],
  ['an early return', ['step a'], 'ctx call 1 was ctx.step "b", and now it returned before it'],
])('a function that is entered again and does %s has diverged', async (_what, calls, message) => {
  const caller = toolCaller();
  caller.answer(await caller.call(toolOf(steps('step a', 'step b', 'ask c'))), 'yes');
  const before = caller.rows.length;
  expect(await caller.call(toolOf(steps(...calls)))).toEqual(failure('tool_diverged', message));
  expect([caller.rows.length, caller.waiting]).toEqual([before, 0]);
});

test('progress of a part that is only gone through again is not told again', async () => {
  const caller = toolCaller();
  const tool = toolOf(async (_input, { ask, progress, step }) => {
    progress(0.1, 'begin');
    await step('look', () => 1);
    caller.pass(1_000);
    progress(0.5, 'asking');
    await ask({ prompt: 'Go on?' });
    caller.pass(1_000);
    progress(0.9, 'going on');
  });
  caller.answer(await caller.call(tool), 'yes');
  await caller.call(tool);
  const told = payloadsOf(caller.rows, 'cairn.tool.progress').map(({ message }) => message);
  expect(told).toEqual(['begin', 'asking', 'going on']);
});

test('a question with a name may change its words', async () => {
  const caller = toolCaller();
  let count = 0;
  const tool = toolOf((_input, { ask }) => ask({ name: 'sure', prompt: `Sure? (${count++})` }));
  caller.answer(await caller.call(tool), 'yes');
  expect(await caller.call(tool)).toEqual({ kind: 'result', value: 'yes' });
});

test.each<[string, Run, string]>([
  ['without a prompt', (_input, { ask }) => ask({ prompt: '' }), 'no prompt'],
  ['of 5,000 characters', (_input, { ask }) => ask({ prompt: 'x'.repeat(5_000) }), '5000 characters'],
  ['with a schema that is none', (_input, { ask }) => ask({ prompt: 'x', schema: { type: 'odd' } }), 'schema'],
  ['that waits for NaN', (_input, { ask }) => ask({ prompt: 'x', timeoutMs: Number.NaN }), 'timeoutMs'],
  ['that names no provider', (_input, { signIn }) => signIn({ provider: '' }), 'no provider'],
  ['for scopes that are none', (_input, { signIn }) => signIn({ provider: 'x', scopes: ['a b'] }), 'scopes'],
  ['without options', (_input, { ask }) => ask({ prompt: 'x', options: [] }), '0 options'],
])('a question %s fails the call instead of asking anybody', async (_what, run, message) => {
  expect(await toolCaller().call(toolOf(run))).toEqual(failure('tool_failed', message));
});

test('a step needs a name, and a call may not make steps without end', async () => {
  const unnamed = toolOf((_input, { step }) => step('', () => 1));
  expect(await toolCaller().call(unnamed)).toEqual(failure('tool_failed', 'needs a name'));
  const endless = toolOf(async (_input, { step }) => {
    for (;;) await step('again', () => 1);
  });
  const caller = toolCaller();
  expect(await caller.call(endless)).toEqual(failure('tool_failed', '1000 ctx calls'));
  expect(caller.rows).toHaveLength(1000);
});

test('a step that gives what cannot be recorded throws that, now and on every entry', async () => {
  const caller = toolCaller();
  const tool = toolOf(async (_input, { ask, step }) => {
    const message = await step('count', () => 1n as never).catch((error: Error) => error.message);
    return [message, await ask({ prompt: 'Well?' })];
  });
  caller.answer(await caller.call(tool), 'yes');
  expect(await caller.call(tool)).toEqual({
    kind: 'result',
    value: ['The result of the step "count" cannot be recorded: it is a bigint, which is not JSON.', 'yes'],
  });
});

test('however often it is cut short, a call ends as if it had run through, and each step happened once', async () => {
  const call = fc.constantFrom('step', 'ask', 'signIn');
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 12 }),
      fc.array(fc.boolean(), { maxLength: 30 }),
      async (calls, cuts) => {
        const caller = toolCaller();
        const happened: number[] = [];
        const tool = toolOf(async (_input, { ask, signIn, step }) => {
          const got: Json[] = [];
          for (const [i, kind] of calls.entries()) {
            if (kind === 'ask') got.push(await ask({ prompt: `q${i}` }));
            else if (kind === 'signIn') got.push(Number((await signIn({ provider: `q${i}` })).credentialRef));
            else
              got.push(
                await step(`s${i}`, () => {
                  happened.push(i);
                  return i;
                }),
              );
          }
          return got;
        });
        let outcome: ToolOutcome = await caller.call(tool);
        for (let entry = 0; outcome.kind === 'suspended'; entry++) {
          // A crash before the answer: the same question comes again.
          if (cuts[entry] === true) expect(await caller.call(tool, {}, { attempt: 2 })).toEqual(outcome);
          const { ordinal, question } = outcome;
          caller.answer(outcome, question.kind === 'signIn' ? { credentialRef: String(ordinal) } : ordinal);
          outcome = await caller.call(tool);
        }
        expect(outcome).toEqual({ kind: 'result', value: calls.map((_kind, i) => i) });
        expect(happened).toEqual(calls.flatMap((kind, i) => (kind === 'step' ? [i] : [])));
      },
    ),
    { numRuns: 150 },
  );
});
