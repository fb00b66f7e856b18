/** Every published fixture that runs here is replayed: the replays equal the record, and a record that stops is named. */
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';
import { gated, postponed, registeredOnly } from './fixture-table.ts';
import type { OpenwopData } from './openwop-data.ts';
import { comparedFields } from './replay-scenarios.ts';
import { type Run, type RunView, WireHost } from './wire-host.ts';
import { wireSchemas } from './wire-schemas.ts';
import { withOpenwop } from './with-openwop.ts';

/** What a run of a fixture needs to start, or to end soon. */
const bodies: Readonly<Record<string, JsonObject>> = {
  'conformance-delay': { inputs: { delayMs: 20 } },
  'conformance-idempotent': { inputs: { nonce: 'n' } },
  'conformance-identity': { inputs: { payload: { deep: [1, null] } } },
  'conformance-run-duration-breach': { configurable: { runTimeoutMs: 20 } },
  'conformance-stream-text': { configurable: { mockProvider: { id: 'stream-text' } } },
};

/** Runs of these wait for a long time, and are cancelled: the replay is too. */
const cancelled = ['conformance-cancellable', 'conformance-dispatch-cancellable-child'];

withOpenwop('replays of the published fixtures', (data) => {
  const ids = replayed(data);
  let host: WireHost;
  beforeAll(async () => {
    host = await WireHost.open(wireSchemas(data));
    await host.registerFixtures(ids);
  });
  afterAll(() => host?.[Symbol.asyncDispose]());

  test.each(ids)('%s', async (id) => {
    const run = await host.start(id, bodies[id]);
    if (cancelled.includes(id)) await run.cancel();
    const view = await run.settled();
    const hasEnded = ['completed', 'failed', 'cancelled'].includes(view.status);
    await (hasEnded ? repeats(host, run, view) : stopsWhereTheRecordStops(host, run, view));
    expect((await run.settled()).events).toEqual(view.events);
  });

  describe('a diff', () => {
    test('of a replay and its source names nothing, and one of two fixtures fits its schema', async () => {
      const [a, b] = [await host.start('conformance-noop'), await host.start('conformance-multi-node')];
      await Promise.all([a.ended(), b.ended()]);
      const replay = await host.fork(a, { mode: 'replay' });
      await replay.ended();
      expect(await host.diff(a, replay)).toMatchObject({ divergedAtSeq: null, eventDiffs: [] });
      expect(await host.diff(a, b)).toMatchObject({ divergedAtSeq: 0 });
    });
  });
});

function replayed({ fixtures }: OpenwopData): string[] {
  const others = [gated, postponed].flatMap((table) => Object.values(table).flat());
  return [...fixtures.keys()].filter((id) => !others.includes(id) && !registeredOnly.includes(id));
}

/** Two replays, of the whole run and of its second half, are equal to the record. */
async function repeats(host: WireHost, run: Run, view: RunView): Promise<void> {
  for (const fromSeq of [0, Math.ceil(view.events.length / 2)]) {
    const fork = await host.fork(run, { mode: 'replay', fromSeq });
    const replay = await fork.ended();
    expect(comparedFields(replay)).toEqual(comparedFields(view));
    const { status, variables, channels, error, outputs } = view.snapshot;
    expect(JSON.stringify(replay.snapshot.channels)).toBe(JSON.stringify(channels));
    expect(replay.snapshot).toMatchObject(JSON.parse(JSON.stringify({ status, variables, error, outputs })));
    checkEnvelopes(fork, replay);
  }
}

/** Nobody answers a replay, so a question without a recorded answer fails its node. */
async function stopsWhereTheRecordStops(host: WireHost, run: Run, view: RunView): Promise<void> {
  const fork = await host.fork(run, { mode: 'replay' });
  const replay = await fork.ended();
  expect(replay.snapshot).toMatchObject({ status: 'failed', error: { code: 'replay_source_missing' } });
  expect(comparedFields(replay).slice(0, view.events.length)).toEqual(comparedFields(view));
  expect(present(replay.payloads('node.failed').at(-1)).error).toMatchObject({ code: 'replay_source_missing' });
  expect((await host.call('GET', `/v1/runs/${fork.runId}/interrupts`)).body.interrupts).toEqual([]);
  checkEnvelopes(fork, replay);
}

/** Ids of envelopes are the fork's own, and every cause is an earlier event of the fork. */
function checkEnvelopes({ runId }: Run, { events }: RunView): void {
  const seen = new Set<string>();
  for (const event of events) {
    expect([event.runId, event.sequence]).toEqual([runId, seen.size]);
    if (event.causationId !== undefined) expect(seen).toContain(event.causationId);
    seen.add(event.eventId);
  }
  expect(seen.size).toBe(events.length);
}
