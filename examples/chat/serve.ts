/** Serves the page, and passes its requests on to a host with the key of the host. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { createServer } from 'vite';

export interface ServeOptions {
  readonly port: number;
  /** The host. */
  readonly url: string;
  readonly key: string;
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * In your application, your own server does this: it knows its user, and adds a key that may act for this user. Vite
 * refuses requests that other sites make, so that only this page can use the key.
 */
export async function serve({ port, url, key }: ServeOptions): Promise<Served> {
  const toHost = { target: url, headers: { authorization: `Bearer ${key}` } };
  const server = await createServer({
    configFile: false,
    root: import.meta.dirname,
    cacheDir: join(import.meta.dirname, '../../node_modules/.cache/vite-chat'),
    plugins: [react()],
    // This repository runs from its sources. Leave this line out in a project of your own.
    resolve: { conditions: ['@cairn/source', 'module', 'browser', 'development'] },
    server: {
      host: '127.0.0.1',
      port,
      strictPort: true,
      proxy: { '/api': toHost, '/v1': toHost },
    },
    logLevel: 'warn',
  });
  await server.listen();
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
