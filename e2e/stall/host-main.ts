/** The host under attack: a real host on a real database with two tenants. Driven over IPC. */
import { isCairnError } from '@cairn/protocol';
import { createHost, type Step } from '../../packages/host/src/index.ts';
import type { FromHost, HostSettings } from '../crash/host-main.ts';
import { BLOB, VICTIM_KEY } from './tenants.ts';

/** Returns as many kilobytes as its input asks for, as a tool that fetches a document would. */
const blob: Step = {
  typeId: BLOB,
  safety: 'pure',
  run: async (input) => ({ text: 'x'.repeat(1_000 * Number(input.kilobytes)) }),
};

const tell = (message: FromHost): void => {
  if (process.connected) process.send?.(message);
};

const settings: HostSettings = JSON.parse(process.argv[2] ?? '{}');
const stopped = Promise.withResolvers<void>();
process.on('message', () => stopped.resolve());
process.on('disconnect', () => stopped.resolve());
process.on('SIGINT', () => undefined);

try {
  const host = await createHost({
    config: {
      port: 0,
      data: settings.folder,
      keys: [
        { key: settings.key, tenant: settings.tenant, principal: 'attacker' },
        { key: VICTIM_KEY, tenant: 'victim', principal: 'victim' },
      ],
    },
    steps: [blob],
    report: ({ level, event, error }) => {
      if (level !== 'info') tell({ kind: 'noticed', level, message: `${event} ${String(error ?? '')}`.slice(0, 300) });
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
