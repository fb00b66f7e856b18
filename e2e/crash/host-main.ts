/** The process to kill: a real host on a real database, with the steps of the crash tests. Driven over IPC. */
import { isCairnError } from '@cairn/protocol';
import { type ConfigInput, createHost, type Host } from '../../packages/host/src/index.ts';
import { crashSteps } from './crash-steps.ts';
import { openJournal } from './journal.ts';

/** Settings of the child, passed as its only argument. */
export interface HostSettings {
  readonly folder: string;
  readonly journal: string;
  readonly key: string;
  readonly tenant: string;
}

export type FromHost =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'noticed'; readonly level: string; readonly message: string };

/** Includes `audit:read`, so that every row is visible and a gap cannot be mistaken for a hidden row. */
const keyOf = ({ key, tenant }: HostSettings): NonNullable<ConfigInput['keys']>[number] => ({
  key,
  tenant,
  principal: 'parent',
  scopes: [
    'manifest:read',
    'manifest:write',
    'runs:create',
    'runs:read',
    'runs:cancel',
    'approvals:respond',
    'audit:read',
  ],
});

const tell = (message: FromHost): void => {
  if (process.connected) process.send?.(message);
};

const settings: HostSettings = JSON.parse(process.argv[2] ?? '{}');
const stopped = Promise.withResolvers<void>();
process.on('message', () => stopped.resolve());
process.on('disconnect', () => stopped.resolve());
// A write past a file size limit must fail like any other write, not end the process.
process.on('SIGXFSZ', () => undefined);
process.on('SIGINT', () => undefined);

try {
  const host: Host = await createHost({
    config: { port: 0, data: settings.folder, keys: [keyOf(settings)] },
    steps: crashSteps(openJournal(settings.journal)),
    report: ({ level, event, error }) => {
      if (level !== 'info')
        tell({ kind: 'noticed', level, message: `${event} ${error === undefined ? '' : String(error)}` });
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
