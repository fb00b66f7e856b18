import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from './client.ts';
import { type Answer, collect, eagerTimers, listen } from './scripted-host.kit.ts';

/** A frame of the mode `values`. */
const state = (sequence: number, status: string, rest: JsonObject = {}): string =>
  `id: ${sequence}\nevent: state.snapshot\ndata: ${JSON.stringify({
    eventId: `run_a:${sequence}:state`,
    runId: 'run_a',
    type: 'state.snapshot',
    payload: { runId: 'run_a', workflowId: 'w', status, atSeq: sequence, ...rest },
    timestamp: '2026-01-01T00:00:00.000Z',
    sequence,
  })}\n\n`;

/** One connection after the other; each says its frames and ends. */
async function streams(
  ...connections: readonly (readonly string[])[]
): Promise<{ client: Client; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const answer: Answer = (request, response) => {
    requests.push(request);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(connections[requests.length - 1]?.join('') ?? '');
  };
  const host = await listen(answer);
  onTestFinished(() => host.close());
  return { client: createClient({ url: host.url, key: 'k', timers: eagerTimers }), requests };
}

test('begins with the state as it is and ends after that of the run that is over', async () => {
  const { client, requests } = await streams([state(4, 'running'), state(7, 'completed'), state(9, 'failed')]);
  expect((await collect(client.watch('run_a'))).map(({ atSeq, status }) => [atSeq, status])).toEqual([
    [4, 'running'],
    [7, 'completed'],
  ]);
  expect(requests[0]?.url).toBe('/v1/runs/run_a/events?streamMode=values');
  expect(requests[0]?.headers['last-event-id']).toBe('0');
});

test('goes through all states from the start when asked to', async () => {
  const { client, requests } = await streams([state(0, 'running'), state(3, 'completed')]);
  expect(await collect(client.watch('run_a', { fromStart: true }))).toHaveLength(2);
  expect(requests[0]?.headers['last-event-id']).toBeUndefined();
});

test('goes on after a break without giving a state twice', async () => {
  const { client, requests } = await streams(
    [state(0, 'running'), state(3, 'running')],
    [state(3, 'running')],
    [state(3, 'running'), state(5, 'cancelled')],
  );
  expect((await collect(client.watch('run_a'))).map(({ atSeq }) => atSeq)).toEqual([0, 3, 5]);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '3', '3']);
});

test('waiting gives the run once it is over', async () => {
  const { client } = await streams([state(2, 'running')], [state(2, 'paused'), state(8, 'failed')]);
  expect(await client.runs.wait('run_a')).toMatchObject({ status: 'failed' });
});

test('waiting gives the run once it asks a question', async () => {
  const interrupt = { kind: 'approval', nodeId: 'gate', interruptId: 'i', payload: {} };
  const { client } = await streams([state(2, 'running'), state(4, 'waiting-approval', { interrupt })]);
  expect(await client.runs.wait('run_a')).toMatchObject({ status: 'waiting-approval', interrupt });
});

test('waiting stops with the reason of its signal', async () => {
  const host = await listen((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(state(2, 'running'));
  });
  onTestFinished(() => host.close());
  const stop = new AbortController();
  const waiting = createClient({ url: host.url, key: 'k' }).runs.wait('run_a', { signal: stop.signal });
  const outcome = expect(waiting).rejects.toThrow('enough');
  stop.abort(new Error('enough'));
  await outcome;
});
