/** Serves the page, and passes its requests on to a host with the key of the host. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { createServer, type InlineConfig } from 'vite';

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

/** The page, for the server below and for a build. */
export const page: InlineConfig = {
  configFile: false,
  root: import.meta.dirname,
  cacheDir: join(import.meta.dirname, '../../node_modules/.cache/vite-chat'),
  plugins: [react()],
  // This repository runs from its sources. Leave this line out in a project of your own.
  resolve: { conditions: ['@cairn/source', 'module', 'browser', 'development'] },
  logLevel: 'warn',
};

/**
 * In your application, your own server does this: it knows its user, and adds a key that may act for this user. Vite
 * refuses requests that other sites make, so that only this page can use the key.
 */
export function passedOn({ port, url, key }: ServeOptions) {
  const toHost = { target: url, headers: { authorization: `Bearer ${key}` } };
  return { host: '127.0.0.1', port, strictPort: true, proxy: { '/api': toHost, '/v1': toHost } };
}

export async function serve(options: ServeOptions): Promise<Served> {
  const server = await createServer({ ...page, server: passedOn(options) });
  await server.listen();
  return { url: `http://127.0.0.1:${options.port}`, close: () => server.close() };
}
