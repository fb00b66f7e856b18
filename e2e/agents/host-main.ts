/** The process to kill: a real host whose agents call an external model and use counting tools. Driven over IPC. */
import { isCairnError } from '@cairn/protocol';
import { createHost } from '../../packages/host/src/index.ts';
import type { FromHost, HostSettings } from '../crash/host-main.ts';
import { openJournal } from '../crash/journal.ts';
import { countedTools } from './counted-tools.ts';

/** Settings of the child, passed as its only argument. */
export interface CrewSettings extends HostSettings {
  /** The folder of the pack. */
  readonly pack: string;
  /** URL of the model. Null uses the scripts of the pack. */
  readonly modelUrl: string | null;
}

const tell = (message: FromHost): void => {
  if (process.connected) process.send?.(message);
};

const settings: CrewSettings = JSON.parse(process.argv[2] ?? '{}');
const stopped = Promise.withResolvers<void>();
process.on('message', () => stopped.resolve());
process.on('disconnect', () => stopped.resolve());
process.on('SIGINT', () => undefined);

const scopes = ['manifest:read', 'runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'audit:read'] as const;

const models = (url: string) => ({
  providers: { crew: { kind: 'openai-compatible' as const, baseUrl: url, models: { 'crew-1': {} } } },
  default: 'crew/crew-1',
});

try {
  const { folder, journal, key, tenant, pack, modelUrl } = settings;
  const host = await createHost({
    config: {
      port: 0,
      data: folder,
      keys: [{ key, tenant, principal: 'parent', scopes: [...scopes] }],
      packs: { folders: [pack] },
      tools: { allow: ['openwop:*', 'desk:*'] },
      ...(modelUrl === null ? {} : { models: models(modelUrl) }),
    },
    allowUnsignedPacks: true,
    tools: countedTools(openJournal(journal)),
    report: ({ level, event, error }) => {
      if (level === 'info') return;
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
