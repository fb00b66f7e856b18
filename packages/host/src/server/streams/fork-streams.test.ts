/** Streams and polls of forks: the events before the cut and after it are one log, wherever a reader begins. */
import { expect, test } from 'vitest';
import { fork, rowsOf, type SeenEvent, toEnd } from '../runs/fork-kit.kit.ts';
import { chain } from '../sample-workflows.kit.ts';
import { type Served, served } from '../served.kit.ts';

const gate = { typeId: 'core.approvalGate', config: { title: 'Go on?' } };
const noop = { typeId: 'core.noop' };

/** A branch that waits at its gate, and its source that waits there, too. */
async function waiting(): Promise<{ host: Served; source: string; branch: string; fromSeq: number }> {
  const host = await served();
  await host.engine.register('t', chain('flow', noop, gate, noop));
  const source = String((await host.ask('POST', '/v1/runs', { body: { workflowId: 'flow' } })).body.runId);
  const fromSeq = (await rowsOf(host, source)).length;
  const { body } = await fork(host, source, { mode: 'branch', fromSeq });
  return { host, source, branch: String(body.runId), fromSeq };
}

const answer = (host: Served, runId: string) =>
  host.ask('POST', `/v1/runs/${runId}/interrupts/n1`, { body: { resumeValue: { action: 'accept' } } });

const stream = (host: Served, runId: string, after?: number) =>
  host.ask('GET', `/v1/runs/${runId}/events?streamMode=debug`, {
    headers: { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': String(after) }) },
  });

const idsIn = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

const sequences = (rows: readonly SeenEvent[]): number[] => rows.map(({ sequence }) => sequence);

test('a stream of a branch gives every event once, from any event on, while it goes on and after it', async () => {
  const { host, source, branch, fromSeq } = await waiting();
  // These readers begin before, at and after the cut, and stay while the branch goes on.
  const begins = [undefined, 0, 2, fromSeq - 1, fromSeq];
  const readers = begins.map((after) => stream(host, branch, after));
  await answer(host, branch);
  const live = (await Promise.all(readers)).map(({ text }) => idsIn(text));
  await toEnd(host, branch);
  const all = (await stream(host, branch)).text;
  const ids = idsIn(all);
  expect(ids.at(-1)).toBeGreaterThan(fromSeq + 1);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [i, after = -1] of begins.entries()) {
    const expected = ids.filter((id) => id > after);
    expect(live[i]).toEqual(expected);
    expect(idsIn((await stream(host, branch, after === -1 ? undefined : after)).text)).toEqual(expected);
  }
  expect(all).toContain(`"runId":"${branch}"`);
  expect(all).not.toContain(`"eventId":"${source}:`);
  expect(sequences(await rowsOf(host, source))).toHaveLength(fromSeq);
});

test('a poll of a branch pages over the cut, and waits for what follows it', async () => {
  const { host, branch, fromSeq } = await waiting();
  const poll = async (lastSequence: number) =>
    (await host.ask('GET', `/v1/runs/${branch}/events/poll?lastSequence=${lastSequence}`)).body as {
      readonly events: readonly SeenEvent[];
    };
  const { events } = await poll(fromSeq - 3);
  expect(sequences(events)[0]).toBe(fromSeq - 2);
  const last = (await rowsOf(host, branch)).length - 1;
  const next = poll(last);
  await answer(host, branch);
  expect(sequences((await next).events).every((sequence) => sequence > last)).toBe(true);
  await toEnd(host, branch);
  const everything = sequences((await poll(0)).events);
  expect(everything).toEqual(everything.toSorted((a, b) => a - b));
  expect(everything).toContain(fromSeq - 1);
});

test('a branch at every event streams the events of its source before the cut', async () => {
  const { host, source, fromSeq } = await waiting();
  const ids = [...(await rowsOf(host, source))].map(({ sequence, type }) => [sequence, type]);
  for (let at = 0; at < fromSeq; at += 1) {
    const { body } = await fork(host, source, { mode: 'branch', fromSeq: at });
    const rows = await rowsOf(host, String(body.runId));
    expect(rows.slice(0, at).map(({ sequence, type }) => [sequence, type])).toEqual(ids.slice(0, at));
    expect(rows.map(({ eventId }) => eventId)).toEqual(rows.map((_, i) => `${body.runId}:${i}`));
  }
});
