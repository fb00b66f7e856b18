import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { NewRow } from '../../log/ports/rows.ts';
import { asked, creation, row, runA } from '../../log/ports/samples.kit.ts';
import { chain } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

const path = `/v1/runs/${runA}/events/poll`;
const done = row('run.completed');

async function withRun(...rows: readonly NewRow[]): Promise<Served> {
  const host = await served();
  await host.store.log.append(creation(runA));
  if (rows.length > 0) await host.store.log.append({ runId: runA, rows });
  return host;
}

const write = (host: Served, ...rows: readonly NewRow[]) => host.store.log.append({ runId: runA, rows });

async function waiting(host: Served): Promise<void> {
  while (host.server.open.polls === 0) await new Promise((resolve) => setImmediate(resolve));
}

test('gives what is there at once, from the beginning or after a position', async () => {
  const host = await withRun(row('node.started'), done);
  expect((await host.ask('GET', path)).body).toMatchObject({
    runId: runA,
    events: [{ sequence: 0 }, { sequence: 1 }, { sequence: 2 }],
    isComplete: true,
    lastEventSeq: 2,
    runStatus: 'completed',
    isTerminal: true,
  });
  for (const query of ['?lastSequence=1', '?since=1']) {
    expect((await host.ask('GET', path + query)).body.events).toMatchObject([{ sequence: 2 }]);
  }
});

test('waits for the next event and gives it', async () => {
  const host = await withRun();
  const reply = host.ask('GET', `${path}?lastSequence=0&timeout=60`);
  await waiting(host);
  await write(host, row('cairn.timer.set', { audience: 'operator' }));
  await write(host, row('node.started'));
  expect((await reply).body).toMatchObject({
    events: [{ sequence: 2, type: 'node.started' }],
    isComplete: false,
    isTerminal: false,
    runStatus: 'running',
  });
  expect(host.server.open.polls).toBe(0);
});

test('comes back empty when the time it was given is over', async () => {
  const host = await withRun();
  const reply = host.ask('GET', `${path}?lastSequence=0&timeout=7`);
  await waiting(host);
  host.timers.pass(7_000);
  expect(await reply).toMatchObject({ status: 200, body: { events: [], lastEventSeq: 0, isComplete: false } });
});

test('waits half a minute when no time is given', async () => {
  const host = await withRun();
  const reply = host.ask('GET', `${path}?lastSequence=0`);
  await waiting(host);
  host.timers.pass(30_000);
  expect((await reply).status).toBe(200);
});

test('a position past the end waits like any other, and hears of the end', async () => {
  const host = await withRun();
  const reply = host.ask('GET', `${path}?lastSequence=100`);
  await waiting(host);
  await write(host, row('node.started'));
  expect(host.server.open.polls).toBe(1);
  await write(host, done);
  expect((await reply).body).toMatchObject({ events: [], isComplete: true, isTerminal: true });
});

test('a position past the end of a finished run is answered at once, and empty', async () => {
  const host = await withRun(done);
  expect(await host.ask('GET', `${path}?lastSequence=100`)).toMatchObject({
    status: 200,
    body: { events: [], isComplete: true },
  });
});

test('is not complete while a finished run has more than fits in an answer', async () => {
  const host = await withRun();
  for (let i = 0; i < 6; i += 1) await write(host, ...Array.from({ length: 100 }, () => row('node.completed')));
  await write(host, done);
  const first = (await host.ask('GET', path)).body;
  expect(first).toMatchObject({ isComplete: false, isTerminal: true, lastEventSeq: 499 });
  const second = (await host.ask('GET', `${path}?lastSequence=499`)).body;
  expect(second).toMatchObject({ isComplete: true, lastEventSeq: 601 });
});

test('a client that hangs up frees its wait', async () => {
  const host = await withRun();
  const stop = new AbortController();
  const reply = host.ask('GET', `${path}?lastSequence=0`, { signal: stop.signal });
  await waiting(host);
  stop.abort();
  await expect(reply).rejects.toThrow();
  while (host.server.open.polls > 0) await new Promise((resolve) => setImmediate(resolve));
});

test.each([
  'lastSequence=-1',
  'lastSequence=x',
  'lastSequence=1.5',
  'since=-1',
  'timeout=0',
  'timeout=61',
  'timeout=x',
])('refuses %s', async (query) => {
  const host = await withRun();
  expect(await host.ask('GET', `${path}?${query}`)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
});

test('a run that was just started here is followed without a look at whose it is, for its own tenant alone', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<string>();
  const host = await served({ steps: [{ typeId: 'acme.wait', safety: 'idempotent', run: () => released }] });
  await host.engine.register('t', chain('waits', { typeId: 'acme.wait' }));
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'waits' } });
  const runId = body.runId as RunId;
  const asked = `/v1/runs/${runId}/events/poll`;
  const { log } = host.store;
  const { head, read } = log;
  const order: string[] = [];
  log.head = (of) => {
    order.push('head');
    return head(of);
  };
  log.read = (range) => {
    order.push('rows');
    return read(range);
  };
  expect((await host.ask('GET', asked, { key: keys.stranger })).status).toBe(404);
  expect(order.splice(0)).toEqual(['head']);
  expect((await host.ask('GET', asked)).body).toMatchObject({ runId, isTerminal: false });
  expect(order.splice(0)).toEqual(['rows', 'head']);
  release('done');
  while (host.engine.isSteppedHere('t', runId)) await new Promise((resolve) => setImmediate(resolve));
  order.length = 0;
  expect((await host.ask('GET', asked)).body).toMatchObject({ isComplete: true });
  expect(order).toEqual(['head', 'rows', 'head']);
});

test('reads the head again when it is older than the rows', async () => {
  const host = await withRun();
  const { log } = host.store;
  const { head } = log;
  let reads = 0;
  log.head = async (of) => {
    reads += 1;
    const found = await head(of);
    // The rows are read after the one that comes with them.
    if (reads === 2) await write(host, row('node.started'), done);
    return found;
  };
  const { read } = log;
  log.read = async (range) => {
    while (reads < 2 || (await head(runA))?.seq === 0) await new Promise((resolve) => setImmediate(resolve));
    return read(range);
  };
  expect((await host.ask('GET', path)).body).toMatchObject({ lastEventSeq: 2, isComplete: true, isTerminal: true });
  expect(reads).toBe(3);
});

test('a run that is purged while a client waits for it is gone', async () => {
  const host = await withRun(done);
  const { log } = host.store;
  const { head } = log;
  let reads = 0;
  log.head = (of) => {
    reads += 1;
    return reads === 1 ? head(of) : Promise.resolve(null);
  };
  log.read = async () => [];
  expect((await host.ask('GET', path)).status).toBe(404);
});

/** A poll that has read everything, and how often the log was asked from then on. */
async function levelPoll(
  host: Served,
  after = 0,
): Promise<{ readonly reply: ReturnType<Served['ask']>; reads(): number }> {
  const { log } = host.store;
  const { head, read } = log;
  let [asked, answered] = [0, 0];
  const counted = async <Result>(result: Promise<Result>): Promise<Result> => {
    asked += 1;
    return result.finally(() => {
      answered += 1;
    });
  };
  log.head = (of) => counted(head(of));
  log.read = (range) => counted(read(range));
  const reply = host.ask('GET', `${path}?lastSequence=${after}&timeout=60`);
  await waiting(host);
  while (answered < 3) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  return { reply, reads: () => asked - 3 };
}

test('a commit that follows what was read is answered without another read, and so is the end', async () => {
  const host = await withRun();
  const first = await levelPoll(host);
  await write(host, row('cairn.timer.set', { audience: 'operator' }));
  await write(host, row('node.started'));
  expect((await first.reply).body).toMatchObject({
    events: [{ sequence: 2 }],
    runStatus: 'running',
    isTerminal: false,
  });
  expect(first.reads()).toBe(0);
  const second = await levelPoll(host, 2);
  await write(host, done);
  expect((await second.reply).body).toMatchObject({
    events: [{ sequence: 3 }],
    runStatus: 'completed',
    isComplete: true,
  });
  expect(second.reads()).toBe(0);
});

test('a commit that may change the status is answered with the status of the log', async () => {
  const host = await withRun();
  const { reply, reads } = await levelPoll(host);
  await write(host, asked('i1'));
  expect((await reply).body).toMatchObject({ events: [{ sequence: 1 }], runStatus: 'waiting-approval' });
  expect(reads()).toBeGreaterThan(0);
});
