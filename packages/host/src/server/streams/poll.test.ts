import { expect, test } from 'vitest';
import type { NewRow } from '../../log/ports/rows.ts';
import { creation, row, runA } from '../../log/ports/samples.kit.ts';
import { type Served, served } from '../served.kit.ts';

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
