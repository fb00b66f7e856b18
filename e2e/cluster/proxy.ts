/** A small round-robin proxy on loopback, as a load balancer in front of the nodes: request by request, to the next node. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from '../../packages/host/test/kit/port-of.ts';

export interface RoundRobin extends AsyncDisposable {
  readonly url: string;
  /** Requests that each node answered. */
  readonly answered: ReadonlyMap<string, number>;
}

/** A node that does not accept a request in time is passed over: it may be paused. */
const ANSWER_WITHIN_MS = 15_000;

/** `nodes` gives the addresses of the nodes that are up. */
export async function proxyTo(nodes: () => readonly string[]): Promise<RoundRobin> {
  let turn = 0;
  const answered = new Map<string, number>();
  const server: Server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return;
    const up = nodes();
    turn += 1;
    for (let i = 0; i < up.length; i += 1) {
      const node = up[(turn + i) % up.length] ?? '';
      if ((await passed(node, { incoming, outgoing, body, isLast: i === up.length - 1 })) === 'next') continue;
      answered.set(node, (answered.get(node) ?? 0) + 1);
      return;
    }
    if (!outgoing.headersSent) outgoing.writeHead(502).end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    answered,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: Buffer;
  readonly isLast: boolean;
}

/** `next` if the node did not take the request: nobody listens, or it is stopping. */
function passed(node: string, { incoming, outgoing, body, isLast }: Exchange): Promise<'taken' | 'next'> {
  return new Promise((resolve) => {
    const { pathname, search } = new URL(incoming.url ?? '/', 'http://proxy');
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers;
    const url = new URL(pathname + search, node);
    const asked = request(url, { method: incoming.method, headers: { ...headers, host: url.host }, agent: false });
    const cut = () => {
      outgoing.destroy();
      resolve('taken');
    };
    const late = setTimeout(() => asked.destroy(), ANSWER_WITHIN_MS);
    outgoing.once('close', () => asked.destroy());
    asked.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(late);
      if (error.code === 'ECONNREFUSED') resolve('next');
      else cut();
    });
    asked.once('response', (response) => {
      clearTimeout(late);
      if (response.statusCode === 503 && !isLast) {
        response.resume();
        resolve('next');
        return;
      }
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.on('error', cut);
      response.on('aborted', cut);
      response.pipe(outgoing);
      resolve('taken');
    });
    asked.end(body);
  });
}
