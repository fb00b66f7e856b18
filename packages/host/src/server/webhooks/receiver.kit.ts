/** A host and an external receiver, both on loopback, for delivery tests; not shipped. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { createHost, type Host } from '../create-host.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: JsonObject;
}

export interface Receiver {
  readonly origin: string;
  readonly received: readonly Received[];
  /** Resolves once this many deliveries have arrived. */
  arrived(count: number): Promise<void>;
}

/** Answers 204 by default. A handler that does nothing leaves the sender waiting. */
export async function receiver(
  answer = (response: ServerResponse) => void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    received.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) as JsonObject });
    answer(response);
    for (const entry of waiting) if (received.length >= entry.count && waiting.delete(entry)) entry.resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    arrived: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.add({ count, resolve });
      }),
  };
}

export const keyOf = {
  alice: 'key-of-alice-at-acme',
  auditor: 'key-of-the-auditor-1',
  stranger: 'key-of-somebody-else',
  abroad: 'key-of-a-tenant-abroad',
  callback: 'key-of-one-named-callback',
};

const keys = [
  { key: keyOf.alice, tenant: 'acme', principal: 'alice' },
  { key: keyOf.auditor, tenant: 'acme', scopes: ['runs:read' as const, 'audit:read' as const] },
  { key: keyOf.stranger, tenant: 'other' },
  { key: keyOf.abroad, tenant: 'Łódź 3 €' },
  { key: keyOf.callback, tenant: 'acme', principal: 'callback' },
];

/** Needs two approvals from two principals. */
const ofTwo = chain('of-two', { typeId: 'core.approvalGate', config: { title: 'Go on?', requiredApprovals: 2 } });

export async function dataFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'cairn-webhooks-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

export interface Telling {
  readonly host: Host;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** Runs a workflow that ends at once; returns the run id. */
  run(options?: { readonly tags?: readonly string[]; readonly key?: string }): Promise<string>;
}

interface AskOptions {
  readonly body?: Json;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject;
}

/** A real host over a database, which may call these origins. */
export async function telling(data: string, ...allow: readonly string[]): Promise<Telling> {
  const config = { port: 0, data, keys, egress: { allow: [...allow] } };
  const host = await createHost({ config, workflows: [noop, approval, ofTwo], report: () => undefined });
  onTestFinished(() => host.close());
  const ask = async (method: string, path: string, { body, key = keyOf.alice, headers }: AskOptions = {}) => {
    const response = await fetch(path.startsWith('http') ? path : `${host.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
  };
  return {
    host,
    ask,
    run: async ({ tags, key = keyOf.alice } = {}) => {
      const body = { workflowId: 'noop', ...(tags === undefined ? {} : { tags: [...tags] }) };
      return String((await ask('POST', '/v1/runs', { key, body })).body.runId);
    },
  };
}
