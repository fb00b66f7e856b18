import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunEventDoc } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from './client.ts';
import type { FollowOptions } from './follow.ts';
import { type Answer, collect, eagerTimers, frame, listen, ManualTimers, runOf, serving } from './scripted-host.kit.ts';
import type { Timers } from './timers.ts';

async function against(answer: Answer, timers: Timers = eagerTimers, more = {}): Promise<Client> {
  const host = await listen(answer);
  onTestFinished(() => host.close());
  return createClient({ url: host.url, key: 'secret-key', timers, ...more });
}

const sequences = async (client: Client, options?: FollowOptions): Promise<number[]> =>
  (await collect(client.follow('run_a', options))).map((event) => event.sequence);

/** Answers the n-th request with the n-th script; the last one repeats. */
function scripts(...answers: readonly Answer[]): Answer & { readonly requests: IncomingMessage[] } {
  const requests: IncomingMessage[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    answers[Math.min(requests.length, answers.length) - 1]?.(request, response);
  };
  return Object.assign(answer, { requests });
}

const refuse =
  (status: number, error: string, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error, message: `refused with ${status}`, details: { why: 'test' } }));
  };

const streaming = (...events: readonly RunEventDoc[]): Answer => {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.map(frame).join(''));
  };
};

const [first, second, last] = runOf(3) as [RunEventDoc, RunEventDoc, RunEventDoc];

test('asks with the key and the last id, and continues after it', async () => {
  const host = scripts(serving(runOf(5)));
  expect(await sequences(await against(host), { after: 2 })).toEqual([3, 4]);
  expect(host.requests[0]?.headers).toMatchObject({ authorization: 'Bearer secret-key', 'last-event-id': '2' });
});

test('drops events it has already given out when a host repeats them', async () => {
  const repeating = scripts(
    (request, response) => {
      streaming(first, second)(request, response);
      response.end();
    },
    streaming(first, second, last),
  );
  expect(await sequences(await against(repeating))).toEqual([0, 1, 2]);
});

test('ends after the terminal event although the host keeps the stream open', async () => {
  expect(await sequences(await against(streaming(first, last)))).toEqual([0, 2]);
});

test('ends at once when it starts at or after the terminal event', async () => {
  const host = scripts(serving(runOf(3)));
  expect(await sequences(await against(host), { after: 2 })).toEqual([]);
  expect(host.requests.map((request) => request.url)).toEqual([
    '/v1/runs/run_a/events?streamMode=debug',
    '/v1/runs/run_a/events/poll?lastSequence=2&timeout=1',
  ]);
});

test.each([
  [400, 'validation_error'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
])('throws what the host refused with %i and does not ask again', async (status, code) => {
  const host = scripts(refuse(status, code));
  await expect(sequences(await against(host))).rejects.toMatchObject({
    code,
    retryable: false,
    message: `refused with ${status}`,
    details: { why: 'test' },
    status,
  });
  expect(host.requests).toHaveLength(1);
});

test('asks again after the time a busy host names', async () => {
  const timers = new ManualTimers();
  const host = scripts(refuse(429, 'rate_limited', { 'retry-after': '7' }), serving(runOf(2)));
  const seen = sequences(await against(host, timers));
  await timers.pass(7_000);
  expect(await seen).toEqual([0, 1]);
});

test('waits twice as long after each failure, up to fifteen seconds, and starts over after an event', async () => {
  const timers = new ManualTimers();
  const down = refuse(503, 'service_unavailable');
  const one: Answer = (request, response) => {
    streaming(first)(request, response);
    response.end();
  };
  const host = scripts(down, down, down, down, down, down, down, one, serving(runOf(2)));
  const seen = sequences(await against(host, timers));
  // Half of the ceiling and half of the other half: the jitter of these timers is 0.5.
  for (const wait of [187.5, 375, 750, 1500, 3000, 6000, 11_250, 187.5]) await timers.pass(wait);
  expect(await seen).toEqual([0, 1]);
});

test('waits no longer than the client was told', async () => {
  const timers = new ManualTimers();
  const down = refuse(503, 'service_unavailable');
  const host = scripts(down, down, down, down, down, serving(runOf(1)));
  const seen = sequences(await against(host, timers, { longestWaitMs: 1_000 }));
  for (const wait of [187.5, 375, 750, 750, 750]) await timers.pass(wait);
  expect(await seen).toEqual([0]);
});

test('gives up a connection that says nothing and takes a new one', async () => {
  const timers = new ManualTimers();
  const host = scripts(streaming(first), serving(runOf(2)));
  const stream = (await against(host, timers)).follow('run_a', { silenceMs: 1_234 })[Symbol.asyncIterator]();
  expect((await stream.next()).value?.sequence).toBe(0);
  const next = stream.next();
  await timers.pass(1_234);
  await timers.pass(187.5);
  expect((await next).value?.sequence).toBe(1);
  expect(host.requests[1]?.headers['last-event-id']).toBe('0');
});

test('stops with the reason of its signal, also between two connections', async () => {
  const timers = new ManualTimers();
  const host = scripts(refuse(503, 'service_unavailable'));
  const stop = new AbortController();
  const seen = sequences(await against(host, timers), { signal: stop.signal });
  const outcome = expect(seen).rejects.toThrow('enough');
  while (!timers.asked.includes(187.5)) await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error('enough'));
  await outcome;
});

test('lets go of the connection when its reader stops reading', async () => {
  const closed = Promise.withResolvers<void>();
  const client = await against((request, response) => {
    response.on('close', () => closed.resolve());
    streaming(first, second)(request, response);
  });
  for await (const event of client.follow('run_a')) {
    expect(event.sequence).toBe(0);
    break;
  }
  await closed.promise;
});

test('refuses an answer that is no event stream', async () => {
  const client = await against((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<p>a proxy</p>');
  });
  await expect(sequences(client)).rejects.toMatchObject({ code: 'internal_error', retryable: false });
});

test('refuses a frame that is no event', async () => {
  const client = await against((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: not json\n\n');
  });
  await expect(sequences(client)).rejects.toThrow('not an event: "not json"');
});

test('reconnects when nobody answers at the address for a while', async () => {
  const timers = new ManualTimers();
  const away = await listen(serving(runOf(2)));
  await away.close();
  let tries = 0;
  const host = await listen(serving(runOf(2)));
  onTestFinished(() => host.close());
  const client = createClient({
    url: host.url,
    key: 'k',
    timers,
    fetch: (input, init) => {
      tries += 1;
      return fetch(tries === 1 ? String(input).replace(host.url, away.url) : input, init);
    },
  });
  const seen = sequences(client);
  await timers.pass(187.5);
  expect(await seen).toEqual([0, 1]);
});

test('takes events out of batches, and asks for them when it is told to', async () => {
  const host = scripts((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frame(first));
    response.write(`id: 2\nevent: batch\ndata: ${JSON.stringify([first, second, last])}\n\n`);
  });
  expect(await sequences(await against(host), { bufferMs: 200 })).toEqual([0, 1, 2]);
  expect(host.requests[0]?.url).toBe('/v1/runs/run_a/events?streamMode=debug&bufferMs=200');
});

test('asks for the modes it is given', async () => {
  const host = scripts(serving(runOf(2)));
  await sequences(await against(host), { modes: ['updates', 'messages'] });
  expect(host.requests[0]?.url).toBe('/v1/runs/run_a/events?streamMode=updates,messages');
});

test('messages alone end with the run and show nothing of it', async () => {
  const chunk = { ...second, type: 'ai.message.chunk' };
  const host = scripts(streaming(first, chunk, last));
  const seen = await collect((await against(host)).follow('run_a', { modes: ['messages'] }));
  expect(seen).toEqual([chunk]);
  expect(host.requests[0]?.url).toBe('/v1/runs/run_a/events?streamMode=messages,updates');
});

test('a busy host that asks for a day is asked again after five minutes', async () => {
  const timers = new ManualTimers();
  const host = scripts(refuse(503, 'service_unavailable', { 'retry-after': '86400' }), serving(runOf(2)));
  const seen = sequences(await against(host, timers));
  await timers.pass(300_000);
  expect(await seen).toEqual([0, 1]);
});

test('refuses a frame that never ends before memory does', async () => {
  const part = 'x'.repeat(1_048_576);
  const client = await against((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: ');
    const more = () => {
      while (response.writable && response.write(part));
      response.once('drain', more);
    };
    more();
  });
  await expect(sequences(client)).rejects.toThrow('sent a frame of more than');
});
