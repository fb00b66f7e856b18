import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { CallContext, Performer } from '../engine/ports.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { CallTraces } from './call-traces.ts';

const place = { runId: 'run_a' as RunId, requestedSeq: 4 };

/** What a performer of a call would send with its requests. */
async function sentBy(traces: CallTraces): Promise<unknown> {
  const performer: Performer = { typeId: 'test', run: () => traces.headers() };
  return traces.traced(performer).run({}, place as CallContext);
}

test('a call goes on without its trace while the store cannot be read, and with it afterwards', async () => {
  const { log } = inMemoryStore();
  let isAway = true;
  const traces = new CallTraces(
    { read: log.read, head: (runId) => (isAway ? Promise.reject(new Error('away')) : log.head(runId)) },
    1,
  );
  expect(await sentBy(traces)).toEqual({});
  isAway = false;
  expect(await sentBy(traces)).toEqual({ traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) });
});

test('requests outside of a call have no trace', async () => {
  expect(await new CallTraces(inMemoryStore().log, 1).headers()).toEqual({});
});
