/** A real host for client tests, with the workflows they need and a receiver for its webhooks. */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SignedDelivery } from '@cairn/client';
import { createHost, defineWorkflow } from '../../packages/host/src/index.ts';
import { portOf } from '../../packages/host/test/kit/port-of.ts';

export const key = 'a-key-for-the-client';

/** Waits for a person between two nodes. */
export const gated = defineWorkflow({
  id: 'gated',
  version: '1.0.0',
  nodes: {
    before: { type: 'core.noop' },
    approve: { type: 'core.approvalGate', config: { title: 'Go on?' } },
    after: { type: 'core.noop' },
  },
});

export const plain = defineWorkflow({ id: 'plain', version: '1.0.0', nodes: { only: { type: 'core.noop' } } });

/** A posted delivery, as a receiver passes it to `verifyWebhook`. */
export type Posted = Pick<SignedDelivery, 'headers' | 'body'>;

export interface ClientHost extends AsyncDisposable {
  readonly url: string;
  /** URL to which the host may post. */
  readonly receiver: string;
  /** Returns the next delivery posted to the receiver. */
  posted(): Promise<Posted>;
}

export async function clientHost(): Promise<ClientHost> {
  const arrived: Posted[] = [];
  const waiting: ((posted: Posted) => void)[] = [];
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    response.writeHead(204).end();
    const posted = { headers: request.headers, body: Buffer.concat(chunks) };
    const next = waiting.shift();
    if (next === undefined) arrived.push(posted);
    else next(posted);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${portOf(receiver)}`;
  const folder = await mkdtemp(join(tmpdir(), 'cairn-client-'));
  const host = await createHost({
    config: { port: 0, data: folder, keys: [{ key, tenant: 'acme' }], egress: { allow: [address] } },
    workflows: [gated, plain],
    report: () => undefined,
  });
  return {
    url: host.url ?? '',
    receiver: `${address}/`,
    posted: async () => arrived.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      await host.close();
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
