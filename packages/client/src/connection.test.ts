import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, type ClientOptions, createClient } from './client.ts';
import { HostError } from './host-error.ts';
import { type Answer, eagerTimers, listen, ManualTimers } from './scripted-host.kit.ts';

interface Meeting {
  readonly client: Client;
  readonly requests: IncomingMessage[];
}

/** Answers the n-th request with the n-th script; the last one repeats. */
async function meeting(answers: readonly Answer[], options: Partial<ClientOptions> = {}): Promise<Meeting> {
  const requests: IncomingMessage[] = [];
  const host = await listen((request, response) => {
    requests.push(request);
    answers[Math.min(requests.length, answers.length) - 1]?.(request, response);
  });
  onTestFinished(() => host.close());
  return { client: createClient({ url: host.url, key: 'secret-key', timers: eagerTimers, ...options }), requests };
}

const says =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

const refuses = (status: number, error: string, headers?: Record<string, string>): Answer =>
  says(status, JSON.stringify({ error, message: `refused with ${status}` }), headers);

const hangsUp: Answer = (request) => request.socket.destroy();

const ok = says(200, '{"runId":"run_a","status":"running"}');

test('throws the code, status, message, details and hint that the host gave', async () => {
  const details = { by: 'x', hint: 'Look at the run.' };
  const { client } = await meeting([
    says(409, JSON.stringify({ error: 'interrupt_already_resolved', message: 'too late', details })),
  ]);
  const refusal = await client.runs.answer('run_a', 'gate', true).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(HostError);
  expect(refusal).toMatchObject({
    name: 'HostError',
    code: 'interrupt_already_resolved',
    wireCode: 'interrupt_already_resolved',
    status: 409,
    message: 'too late',
    hint: 'Look at the run.',
    details: { by: 'x' },
    retryable: false,
  });
});

test('keeps a code it does not know and goes by the status', async () => {
  const { client } = await meeting([refuses(403, 'run_forbidden')]);
  await expect(client.runs.get('run_a')).rejects.toMatchObject({ code: 'forbidden', wireCode: 'run_forbidden' });
});

test('tells a proxy in the way by its status and its words', async () => {
  const { client } = await meeting([says(502, '<h1>Bad Gateway</h1>')]);
  await expect(client.runs.get('run_a')).rejects.toMatchObject({
    code: 'service_unavailable',
    wireCode: null,
    status: 502,
    retryable: true,
    message: 'GET /v1/runs/run_a answered 502 with "<h1>Bad Gateway</h1>".',
  });
});

test('reads no more of a refusal than one can have', async () => {
  const flood: Answer = (_request, response) => {
    response.writeHead(404);
    const more = () => {
      while (response.writable && response.write('x'.repeat(65_536)));
      response.once('drain', more);
    };
    more();
  };
  const { client } = await meeting([flood]);
  await expect(client.runs.get('run_a')).rejects.toMatchObject({ status: 404 });
});

test('says that the host was not reached and why, and that trying again may help', async () => {
  const host = await listen(() => undefined);
  await host.close();
  const client = createClient({ url: host.url, key: 'k', timers: eagerTimers });
  await expect(client.runs.get('run_a')).rejects.toMatchObject({
    code: 'service_unavailable',
    retryable: true,
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('says that an answer which is no JSON is not that of a host', async () => {
  const { client, requests } = await meeting([says(200, '<p>Welcome</p>')]);
  await expect(client.runs.get('run_a')).rejects.toThrow(
    'GET /v1/runs/run_a answered 200 with "<p>Welcome</p>" instead of JSON.',
  );
  expect(requests).toHaveLength(1);
});

test.each([
  ['a read', (client: Client) => client.runs.get('run_a')],
  ['a change', (client: Client) => client.runs.create({ workflowId: 'w' })],
  ['a deletion', (client: Client) => client.webhooks.delete('wh_a')],
])('sends %s again, with the same key, when its answer was lost', async (_name, act) => {
  const { client, requests } = await meeting([hangsUp, refuses(503, 'service_unavailable'), ok]);
  await act(client);
  expect(requests).toHaveLength(3);
  expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('gives up after as many repetitions as it was allowed', async () => {
  const { client, requests } = await meeting([hangsUp], { retries: 4 });
  await expect(client.runs.get('run_a')).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(requests).toHaveLength(5);
});

test('asks again for the outcome of a request that is still being carried out', async () => {
  const { client, requests } = await meeting([refuses(409, 'idempotency_in_flight'), ok]);
  expect(await client.runs.create({ workflowId: 'w' })).toMatchObject({ runId: 'run_a' });
  expect(requests).toHaveLength(2);
});

test.each([
  [400, 'validation_error'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'run_already_active'],
  [501, 'capability_not_provided'],
])('does not repeat what was refused with %i', async (status, code) => {
  const { client, requests } = await meeting([refuses(status, code, { 'retry-after': '1' })]);
  await expect(client.runs.create({ workflowId: 'w' })).rejects.toMatchObject({ status, retryable: false });
  expect(requests).toHaveLength(1);
});

test('never repeats the opening of a session, which has no key', async () => {
  const { client, requests } = await meeting([hangsUp]);
  await expect(client.session.open()).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(requests).toHaveLength(1);
});

test('waits as long as a busy host asks, by its header before its details', async () => {
  const timers = new ManualTimers();
  const busy = JSON.stringify({ error: 'rate_limited', message: 'busy', details: { retryAfterMs: 1_500 } });
  const { client } = await meeting([says(429, busy, { 'retry-after': '7' }), says(429, busy), ok], { timers });
  const answer = client.runs.get('run_a');
  await timers.pass(7_000);
  await timers.pass(1_500);
  expect(await answer).toMatchObject({ runId: 'run_a' });
});

test('does not keep its caller waiting for a host that asks for hours', async () => {
  const { client, requests } = await meeting([refuses(503, 'service_unavailable', { 'retry-after': '7200' })]);
  await expect(client.runs.get('run_a')).rejects.toMatchObject({ details: { retryAfterMs: 7_200_000 } });
  expect(requests).toHaveLength(1);
});

test('gives up an answer that does not come in time, also one that stops in the middle', async () => {
  const timers = new ManualTimers();
  const stops: Answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"runId":');
  };
  const { client } = await meeting([() => undefined, stops], { timers, timeoutMs: 1_234, retries: 1 });
  const answer = client.runs.get('run_a');
  const outcome = expect(answer).rejects.toThrow('GET /v1/runs/run_a was not answered within 1234 ms.');
  await timers.pass(1_234);
  await timers.pass(187.5);
  await timers.pass(1_234);
  await outcome;
});

test('a poll is given the time it asked the host to wait', async () => {
  const timers = new ManualTimers();
  const { client } = await meeting([ok], { timers, timeoutMs: 1_000 });
  await client.events.poll('run_a', { waitSeconds: 50 });
  expect(timers.asked).toEqual([80_000]);
});

test.each(['before it is sent', 'while it is answered', 'between two tries'])(
  'stops when its signal is aborted %s',
  async (when) => {
    const asked = Promise.withResolvers<void>();
    const timers = new ManualTimers();
    const script: Answer = (request, response) => {
      asked.resolve();
      if (when === 'between two tries') refuses(503, 'service_unavailable')(request, response);
    };
    const { client, requests } = await meeting([script], { timers });
    const stop = new AbortController();
    if (when === 'before it is sent') stop.abort(new Error('enough'));
    const outcome = expect(client.runs.get('run_a', { signal: stop.signal })).rejects.toThrow('enough');
    if (when !== 'before it is sent') await asked.promise;
    while (when === 'between two tries' && !timers.asked.includes(187.5)) await new Promise(setImmediate);
    stop.abort(new Error('enough'));
    await outcome;
    expect(requests).toHaveLength(when === 'before it is sent' ? 0 : 1);
  },
);

test('asks for the key before each request when it is a function', async () => {
  const tokens = ['token-1', 'token-2'];
  const { client, requests } = await meeting([ok], { key: async () => tokens.shift() ?? '' });
  await client.runs.get('run_a');
  await client.runs.get('run_a');
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test('sends no key when it has none', async () => {
  const host = await listen(ok);
  onTestFinished(() => host.close());
  const sent: RequestInit[] = [];
  const spy: typeof fetch = (input, init) => {
    sent.push(init ?? {});
    return fetch(input, init);
  };
  await createClient({ url: host.url, fetch: spy }).runs.get('run_a');
  await createClient({ url: host.url, fetch: spy, key: 'k' }).runs.get('run_a');
  await createClient({ url: host.url, fetch: spy, key: 'k' }).session.open();
  expect(sent.map(({ credentials, headers }) => [credentials, 'authorization' in (headers ?? {})])).toEqual([
    ['include', false],
    ['omit', true],
    ['include', true],
  ]);
});

test('never follows a redirect, which could carry the key elsewhere', async () => {
  const elsewhere = await meeting([ok]);
  await elsewhere.client.discovery();
  const location = `http://${elsewhere.requests[0]?.headers.host}/`;
  const { client, requests } = await meeting([says(302, '', { location })], { retries: 0 });
  await expect(client.runs.get('run_a')).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(requests).toHaveLength(1);
  expect(elsewhere.requests).toHaveLength(1);
});

test.each(['127.0.0.1:4700', 'ftp://host', 'http://user:pw@host', 'http://host/?a=1', ''])(
  'refuses the address %j at once',
  (url) => {
    expect(() => createClient({ url })).toThrow('The address of the host must be an http or https URL');
  },
);

test('serves a host below a path', async () => {
  const { client, requests } = await meeting([ok]);
  await client.runs.get('run_a');
  const below = createClient({ url: `http://${requests[0]?.headers.host}/below/`, key: 'k' });
  await below.runs.get('run_a');
  expect(requests[1]?.url).toBe('/below/v1/runs/run_a');
});
