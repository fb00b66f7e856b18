/** A host on loopback that serves documents, or misbehaves as a test says; not shipped. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Reply = (response: ServerResponse) => void;

export interface OtherHost {
  /** `localhost:<port>`, as an address has it. */
  readonly host: string;
  readonly origin: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** The headers of the last request for a path. */
  readonly headers: Map<string, IncomingHttpHeaders>;
  /** What a path answers. An object is sent as JSON. */
  readonly pages: Map<string, object | Reply>;
  close(): Promise<void>;
}

export async function otherHost(): Promise<OtherHost> {
  const asked: string[] = [];
  const pages = new Map<string, object | Reply>();
  const headers = new Map<string, IncomingHttpHeaders>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    headers.set(path, request.headers);
    const page = pages.get(path);
    if (typeof page === 'function') page(response);
    else if (page === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `localhost:${port}`;
  return {
    host,
    origin: `http://${host}`,
    asked,
    headers,
    pages,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const didOf = ({ host }: Pick<OtherHost, 'host'>, path = ''): string =>
  `did:web:${host.replace(':', '%3A')}${path}`;
