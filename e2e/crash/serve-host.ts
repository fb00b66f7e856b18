/** A host in a process of its own, driven over IPC: tells its parent when it serves, and stops when it is told to. */
import { isCairnError } from '@cairn/protocol';
import { releasePooledPages } from '../../packages/host/bin/pooled-pages.mjs';
import { createHost, type HostOptions } from '../../packages/host/src/index.ts';

export type FromHost =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'noticed'; readonly level: string; readonly message: string };

const tell = (message: FromHost): void => {
  if (process.connected) process.send?.(message);
};

/** Serves until the parent says stop or is gone. Ends the process. */
export async function serveHost(options: Omit<HostOptions, 'report'>): Promise<never> {
  releasePooledPages();
  const stopped = Promise.withResolvers<void>();
  process.on('message', () => stopped.resolve());
  process.on('disconnect', () => stopped.resolve());
  process.on('SIGINT', () => undefined);
  try {
    const host = await createHost({
      ...options,
      report: ({ level, event, error }) => {
        if (level === 'info') return;
        tell({
          kind: 'noticed',
          level,
          message: `${event} ${error === undefined ? '' : String(error)}`.slice(0, 2_000),
        });
      },
    });
    tell({ kind: 'ready', url: host.url ?? '' });
    await stopped.promise;
    await host.close();
    process.exit(0);
  } catch (error) {
    tell({ kind: 'failed', code: isCairnError(error) ? error.code : 'unknown', message: String(error) });
    process.exit(1);
  }
}
