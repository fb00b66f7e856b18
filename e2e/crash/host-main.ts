/** The process to kill: a real host on a real database, with the steps of the crash tests. Driven over IPC. */
import type { ConfigInput } from '../../packages/host/src/index.ts';
import { type StoreSettings, storeConfig } from '../campaign-store.ts';
import { crashSteps } from './crash-steps.ts';
import { openJournal } from './journal.ts';
import { serveHost } from './serve-host.ts';

/** Settings of the child, passed as its only argument. */
export interface HostSettings extends StoreSettings {
  readonly journal: string;
  readonly key: string;
  readonly tenant: string;
}

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

const settings: HostSettings = JSON.parse(process.argv[2] ?? '{}');
// A write past a file size limit must fail like any other write, not end the process.
process.on('SIGXFSZ', () => undefined);

await serveHost({
  config: { port: 0, ...storeConfig(settings), keys: [keyOf(settings)] },
  steps: crashSteps(openJournal(settings.journal)),
});
