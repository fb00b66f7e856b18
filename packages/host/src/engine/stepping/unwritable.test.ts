import { hash } from 'node:crypto';
import { type Json, type JsonObject, RetryableError, type RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, settled } from '../../../test/kit/engine-bench.ts';
import { present } from '../../../test/kit/present.ts';
import { relayNode } from '../../../test/kit/relay-node.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Append } from '../../log/ports/event-log.ts';
import type { CallContext, Emission } from '../ports.ts';
import type { NodeDriver, NodeType } from '../workflow/node-type.ts';
import { createEngine } from './runtime.ts';

const progress = (message: string): Emission => ({
  type: 'cairn.tool.progress',
  payload: { callId: 'c', progress: 0.5, message },
});

/** Few characters, and too many bytes for an event. */
const wide = 'か'.repeat(200_000);

/** A host with one relay call at a time, which does this. */
function world(run: (context: CallContext) => Promise<Json>, type: NodeType = relayNode) {
  const memory = inMemoryStore();
  const clock = new VirtualClock(1_000_000);
  const failures: (() => Promise<void>)[] = [];
  const append = async (request: Append) => {
    await failures.shift()?.();
    return memory.log.append(request);
  };
  const reports: string[] = [];
  let ids = 0;
  const engine = createEngine({
    store: { ...memory, log: { ...memory.log, append } },
    clock,
    uniqueId: () => String(++ids),
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: 'a',
    steps: [],
    nodeTypes: [type],
    performers: [{ typeId: 'cairn.tool', run: (_, context) => run(context) }],
    limits: { maxNodeExecutions: 100, maxRunDurationMs: null },
    report: ({ level, event }) => void reports.push(`${level}: ${event}`),
  });
  const rows = (runId: RunId) => rowsOf(memory, runId);
  return {
    clock,
    reports,
    /** What the next append waits for before it is done; it fails if that does. */
    before: (wait: () => Promise<void>) => void failures.push(wait),
    rows,
    payloads: async (runId: RunId, rowType: string) =>
      (await rows(runId)).filter((row) => row.type === rowType).map((row) => JSON.parse(row.payload) as JsonObject),
    async begin() {
      const relay = chain({ typeId: type.typeId, config: { rounds: 1, width: 1, safety: 'read' } });
      await engine.register('t', relay);
      return (await engine.start({ tenant: 't', workflowId: relay.id, inputs: {}, options: {} })).runId;
    },
    async until(runId: RunId, rowType: string) {
      for (let i = 0; !(await rows(runId)).some((row) => row.type === rowType); i++) {
        if (i === 500) throw new Error(`no ${rowType}`);
        await settled();
      }
    },
  };
}

test('what a call emits keeps its order when the store fails in the middle of it', async () => {
  const started = Promise.withResolvers<CallContext>();
  const end = Promise.withResolvers<Json>();
  const { begin, before, clock, payloads, until } = world((context) => {
    started.resolve(context);
    return end.promise;
  });
  const runId = await begin();
  const call = await started.promise;
  await settled();
  const broken = Promise.withResolvers<void>();
  before(() => broken.promise);
  call.emit([progress('1')]);
  call.emit([progress('2')]);
  await settled();
  call.emit([progress('3')]);
  end.resolve('done');
  await settled();
  broken.reject(new RetryableError('store_failed', { message: 'no' }));
  await settled();
  clock.advanceTo(1_010_000);
  await until(runId, 'run.completed');
  expect((await payloads(runId, 'cairn.tool.progress')).map(({ message }) => message)).toEqual(['1', '2', '3']);
});

test('the result of a call that does not fit in an event fails the call, and nobody waits for ever', async () => {
  const { begin, payloads, until } = world(async () => wide);
  const runId = await begin();
  await until(runId, 'run.completed');
  expect((await payloads(runId, 'agent.toolReturned'))[0]).toMatchObject({ error: { code: 'event_too_large' } });
});

test('the result of a step that does not fit in an event fails the step', async () => {
  const { node, begin, seen, rows } = bench();
  const step = { typeId: 'local.step.wide', safety: 'read' as const, run: async () => wide };
  const runId = await begin(node('a', [step]), chain('local.step.wide'));
  await seen(runId, 'run.failed');
  const failed = (await rows(runId)).find((row) => row.type === 'run.failed');
  expect(JSON.parse(failed?.payload ?? 'null')).toMatchObject({ error: { code: 'event_too_large', retryable: false } });
});

test('a row that a call emits and that does not fit is not called recorded', async () => {
  const outcomes: string[] = [];
  const { begin, until } = world(async (context) => {
    context.emit([progress(wide)]);
    await context.recorded().catch((error: Error) => outcomes.push(error.message));
    context.emit([progress('small')]);
    await context.recorded();
    return null;
  });
  const runId = await begin();
  await until(runId, 'run.completed');
  expect(outcomes).toEqual([expect.stringContaining('would hold')]);
});

test('a driver that breaks on a result stops its run, and says so', async () => {
  const driver: NodeDriver = {
    ...present(relayNode.driver),
    returned: () => {
      throw new TypeError('nothing there');
    },
  };
  const broken = { ...relayNode, typeId: 'local.test.broken', driver };
  const { begin, payloads, reports, until } = world(async () => null, broken);
  const runId = await begin();
  await until(runId, 'run.failed');
  expect((await payloads(runId, 'run.failed'))[0]?.error).toMatchObject({ code: 'internal_error' });
  expect(reports).toContain('error: run.stopped');
});
