/** A web application on a separate origin. */
import { createServer, type RequestListener } from 'node:http';
import { portOf } from '../../packages/host/test/kit/port-of.ts';

export interface Site extends AsyncDisposable {
  readonly origin: string;
}

export async function siteOf(handle: RequestListener): Promise<Site> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** One empty page. */
export const emptySite = (): Promise<Site> =>
  siteOf((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>an application</title><p>an application</p>');
  });
