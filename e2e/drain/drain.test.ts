/** What becomes of those who are connected when a host is told to stop: a real process, a real signal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { RawConnection } from '../../packages/host/src/server/http/raw-http.kit.ts';
import { quickStart } from '../../packages/host/test/kit/quick-start.ts';

const bin = join(import.meta.dirname, '../../packages/host/bin/cairn.mjs');
const key = 'a-key-for-the-drain-test';
const authorization = `Bearer ${key}`;

const node = {
  id: 'n0',
  typeId: 'core.approvalGate',
  name: 'n0',
  position: { x: 0, y: 0 },
  config: { title: 'Go on?' },
  inputs: {},
};
const asks = {
  id: 'asks',
  name: 'asks',
  version: '1',
  nodes: [node],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'cairn-drain-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await writeFile(join(path, 'cairn.json'), JSON.stringify({ port: 0, data: 'data', keys: [{ key, tenant: 'a' }] }));
  return path;
}

/** `cairn start` in the folder, once it says where it serves. */
async function started(cwd: string): Promise<{ child: ChildProcess; url: string; port: number }> {
  const child = spawn(process.execPath, [bin, 'start', '--config', 'cairn.json'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...quickStart },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^cairn ready (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { child, url, port: Number(new URL(url).port) };
  }
  throw new Error('the host ended before it was ready');
}

async function posted(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return (await response.json()) as Record<string, unknown>;
}

/** A stream as its client sees it: the text so far, and how it ended. */
async function streamed(url: string, runId: unknown) {
  const request = get(`${url}/v1/runs/${runId}/events?streamMode=debug`, {
    headers: { authorization, accept: 'text/event-stream' },
    agent: false,
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = once(response, 'close').then(() => ({ text, isWhole: response.complete }));
  await once(response, 'data');
  return { ended };
}

test('a host told to stop ends its streams, finishes what it has begun, refuses what is new, and exits with 0', async () => {
  const cwd = await folder();
  const { child, url, port } = await started(cwd);
  await posted(url, '/v1/workflows', asks);
  const { runId } = await posted(url, '/v1/runs', { workflowId: 'asks' });

  const stream = await streamed(url, runId);
  const poll = await RawConnection.open(port);
  poll.send(
    `GET /v1/runs/${runId}/events/poll?lastSequence=999&timeout=60 HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await poll.continued();
  const silent = await RawConnection.open(port);
  const slow = await RawConnection.open(port);
  const body = JSON.stringify({ workflowId: 'asks', tags: ['slow'] });
  slow.send(
    `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n${body.slice(0, 10)}`,
  );
  await slow.continued();

  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const { text, isWhole } = await stream.ended;
  expect(isWhole).toBe(true);
  expect(text).toMatch(/data: \{[^\n]*\}\n\n$/);
  const polled = await poll.response();
  expect([polled?.status, JSON.parse(polled?.body ?? '{}')]).toMatchObject([200, { events: [], isComplete: false }]);
  expect(await silent.response()).toBeNull();
  // A connection whose request is answered is not kept for a next one.
  expect(await poll.response()).toBeNull();

  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  slow.send(`${body.slice(10)}GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`);
  const created = await slow.response();
  expect(created?.status).toBe(201);
  const refused = await slow.response();
  expect([refused?.status, JSON.parse(refused?.body ?? '{}')]).toMatchObject([
    503,
    { error: 'service_unavailable', details: { reason: 'draining' } },
  ]);
  expect(refused?.headers['retry-after']).toBe('2');
  expect(await exited).toEqual([0, null]);

  const again = await started(cwd);
  const kept = await fetch(`${again.url}/v1/runs/${JSON.parse(created?.body ?? '{}').runId}`, {
    headers: { authorization },
  });
  expect([kept.status, ((await kept.json()) as { tags: unknown }).tags]).toEqual([200, ['slow']]);
});

test('a client that never finishes its request does not keep a host from stopping', {
  timeout: 60_000,
}, async () => {
  const cwd = await folder();
  const { child, port } = await started(cwd);
  const half = await RawConnection.open(port);
  half.send(
    `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n{`,
  );
  onTestFinished(() => half.close());
  await half.continued();
  const other = await RawConnection.open(port);
  other.send(`GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`);
  expect((await other.response())?.status).toBe(200);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
