import { hash } from 'node:crypto';
import { type Json, type JsonObject, RetryableError, type RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chain, settled } from '../../../test/kit/engine-bench.ts';
import { relayNode } from '../../../test/kit/relay-node.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Append, EventLog } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { CallContext, Emission, Redactor } from '../ports.ts';
import { createEngine } from './runtime.ts';

const progress = (message: string): Emission => ({
  type: 'cairn.tool.progress',
  payload: { callId: 'c', progress: 0.5, message },
});

const relay = chain({ typeId: 'local.test.relay', config: { rounds: 1, width: 1, safety: 'read' } });

/** A host whose relay calls do this, and a store whose appends can be held up. */
function world(
  run: (context: CallContext, input: JsonObject) => Promise<Json>,
  redactor: Redactor | null = null,
  maxTenantLogBytes?: number,
) {
  const memory = inMemoryStore();
  let held: Promise<void> = Promise.resolve();
  let isAway = false;
  const away = () => new RetryableError('store_failed', { message: 'The store is away.' });
  const append = async (request: Append) => {
    await held;
    const appended = await memory.log.append(request);
    if (isAway) throw away();
    return appended;
  };
  const head: EventLog['head'] = (runId) => (isAway ? Promise.reject(away()) : memory.log.head(runId));
  const clock = new VirtualClock(1_000_000);
  const store: Store = { ...memory, log: { ...memory.log, append, head } };
  let ids = 0;
  const engine = createEngine({
    store,
    clock,
    uniqueId: () => String(++ids),
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: 'a',
    steps: [],
    nodeTypes: [relayNode],
    performers: [{ typeId: 'cairn.tool', run: (input, context) => run(context, input) }],
    limits: { maxNodeExecutions: 100, maxRunDurationMs: null, maxTenantLogBytes },
    report: () => undefined,
    redactor,
  });
  const rows = (runId: RunId) => rowsOf(memory, runId);
  return {
    engine,
    clock,
    /** Appends are written, but neither their answers nor reads of heads come back. */
    setAway(away: boolean) {
      isAway = away;
    },
    /** Appends wait until the function it gives is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async begin() {
      await engine.register('t', relay);
      return (await engine.start({ tenant: 't', workflowId: relay.id, inputs: {}, options: {} })).runId;
    },
    rows,
    messages: async (runId: RunId) =>
      (await rows(runId))
        .filter(({ type }) => type === 'cairn.tool.progress')
        .map(({ payload }) => (JSON.parse(payload) as { message: string }).message),
    async until(runId: RunId, type: string) {
      while (!(await rows(runId)).some((row) => row.type === type)) await settled();
    },
  };
}

test('what a call emits is in the log in order, before its result, and caused by its request', async () => {
  const { begin, rows, messages, until } = world(async (context) => {
    for (let i = 0; i < 5; i++) context.emit([progress(`${i}`)]);
    return 'done';
  });
  const runId = await begin();
  await until(runId, 'run.completed');
  expect(await messages(runId)).toEqual(['0', '1', '2', '3', '4']);
  const all = await rows(runId);
  const types = all.map(({ type }) => type);
  expect(types.lastIndexOf('cairn.tool.progress')).toBeLessThan(types.indexOf('agent.toolReturned'));
  const request = types.indexOf('agent.toolCalled');
  expect(all.filter(({ type }) => type === 'cairn.tool.progress').map(({ cause, nodeId }) => [cause, nodeId])).toEqual(
    Array.from({ length: 5 }, () => [request, 'n1']),
  );
});

test('a call that emits faster than the log takes is held up, and goes on once there is room', async () => {
  const reached = Promise.withResolvers<void>();
  let waits = 0;
  const { begin, hold, messages, until } = world(async (context) => {
    await reached.promise;
    for (let i = 0; i < 2_000; i++) {
      const room = context.emit([progress(`${i}`)]);
      if (room === undefined) continue;
      waits += 1;
      await room;
    }
    return 'done';
  });
  const runId = await begin();
  const letGo = hold();
  reached.resolve();
  await settled();
  expect(waits).toBe(1);
  letGo();
  await until(runId, 'run.completed');
  expect(await messages(runId)).toHaveLength(2_000);
});

test('recorded resolves once all that was emitted is durable', async () => {
  const seen: number[] = [];
  const started = Promise.withResolvers<void>();
  const { begin, hold, messages, until } = world(async (context) => {
    await started.promise;
    context.emit([progress('a'), progress('b')]);
    await context.recorded();
    seen.push((await messages(context.runId)).length);
    await context.recorded();
    return 'done';
  });
  const runId = await begin();
  const letGo = hold();
  started.resolve();
  await settled();
  expect(seen).toEqual([]);
  letGo();
  await until(runId, 'run.completed');
  expect(seen).toEqual([2]);
});

test('a call that the run no longer waits for emits nothing, and learns that it never will', async () => {
  const context = Promise.withResolvers<CallContext>();
  const end = Promise.withResolvers<Json>();
  const { begin, engine, messages, until } = world(async (given) => {
    context.resolve(given);
    return end.promise;
  });
  const runId = await begin();
  const call = await context.promise;
  await engine.cancel({ tenant: 't', runId });
  await until(runId, 'run.cancelled');
  expect(call.signal.aborted).toBe(true);
  expect(call.emit([progress('late')])).toBeUndefined();
  await expect(call.recorded()).rejects.toThrow('over');
  end.resolve('late');
  await settled();
  expect(await messages(runId)).toEqual([]);
});

test('who waits for room or for the record is let go when the run no longer waits for the call', async () => {
  const outcomes: string[] = [];
  const { begin, engine, hold, until } = world(async (context) => {
    const letGo = hold();
    let room: Promise<void> | undefined;
    for (let i = 0; room === undefined; i++) room = context.emit([progress(`${i}`)]);
    const recorded = context.recorded().catch((error: Error) => outcomes.push(`recorded: ${error.message}`));
    const cancelled = engine.cancel({ tenant: 't', runId: context.runId });
    letGo();
    await Promise.all([room, recorded, cancelled]);
    outcomes.push('room');
    return null;
  });
  const runId = await begin();
  await until(runId, 'run.cancelled');
  await settled();
  expect(outcomes).toContain('room');
});

test('a cancel goes before what a call has emitted and the log has not taken yet', async () => {
  const [reached, full] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { engine, begin, hold, messages, until } = world(async (context) => {
    await reached.promise;
    while (context.emit(Array.from({ length: 64 }, () => progress('x'))) === undefined);
    full.resolve();
    return new Promise(() => {});
  });
  const runId = await begin();
  const letGo = hold();
  reached.resolve();
  await full.promise;
  const cancelled = engine.cancel({ tenant: 't', runId });
  await settled();
  letGo();
  await cancelled;
  await until(runId, 'run.cancelled');
  // What an append had taken before, and what fits into that of the cancel. 8,192 rows were emitted.
  expect((await messages(runId)).length).toBeLessThan(4_096);
});

test('a secret in what a call emits is taken out', async () => {
  const redactor = createRedactor([{ name: 'key', value: 'sk-0123456789' }]);
  const { begin, messages, until } = world(async (context) => {
    context.emit([progress('the key is sk-0123456789')]);
    return null;
  }, redactor);
  const runId = await begin();
  await until(runId, 'run.completed');
  expect(await messages(runId)).toEqual(['the key is [REDACTED]']);
});

test('a call knows whose it is, and where it was asked for', async () => {
  const seen: JsonObject[] = [];
  const { begin, rows, until } = world(async ({ tenant, contextId, requestedSeq, callId, attempt }, input) => {
    seen.push({ tenant, contextId, requestedSeq, callId, attempt, input });
    return null;
  });
  const runId = await begin();
  await until(runId, 'run.completed');
  const request = (await rows(runId)).find(({ type }) => type === 'agent.toolCalled');
  const callId = 'n1#0.0/0.0';
  const { contextId, seq } = request ?? {};
  expect(seen).toEqual([{ tenant: 't', contextId, requestedSeq: seq, callId, attempt: 1, input: { callId } }]);
});

test('a run whose call emits more than the quota of its tenant has room for fails at once, however large the row', async () => {
  let refusal: unknown;
  const { engine, begin, rows, messages, until } = world(
    async (context) => {
      await context.emit([progress('before')]);
      await context.recorded();
      // Fills an append by itself.
      context.emit([progress('x'.repeat(140_000))]);
      await context.recorded().catch((error) => {
        refusal = error;
      });
      return null;
    },
    null,
    100_000,
  );
  const runId = await begin();
  await until(runId, 'run.failed');
  expect(JSON.parse((await rows(runId)).at(-1)?.payload ?? '')).toMatchObject({ error: { code: 'quota_exceeded' } });
  expect(await messages(runId)).toEqual(['before']);
  expect(refusal).toMatchObject({ code: 'quota_exceeded' });
  await engine.close();
});

test('what a call emitted is recorded once, although the log could not be read when the answer to its append was lost', async () => {
  const started = Promise.withResolvers<CallContext>();
  const end = Promise.withResolvers<Json>();
  const { begin, clock, messages, setAway, until } = world((context) => {
    started.resolve(context);
    return end.promise;
  });
  const runId = await begin();
  const call = await started.promise;
  await settled();
  setAway(true);
  call.emit([progress('1')]);
  for (let tries = 0; tries < 4; tries += 1) {
    await settled();
    clock.advance(5_000);
  }
  setAway(false);
  await settled();
  clock.advance(5_000);
  await call.recorded();
  call.emit([progress('2')]);
  end.resolve('done');
  await until(runId, 'run.completed');
  expect(await messages(runId)).toEqual(['1', '2']);
});
