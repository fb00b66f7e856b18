/** The process to kill: a real host whose agents call an external model and use counting tools. Driven over IPC. */
import { storeConfig } from '../campaign-store.ts';
import type { HostSettings } from '../crash/host-main.ts';
import { openJournal } from '../crash/journal.ts';
import { serveHost } from '../crash/serve-host.ts';
import { countedTools } from './counted-tools.ts';

/** Settings of the child, passed as its only argument. */
export interface CrewSettings extends HostSettings {
  /** The folder of the pack. */
  readonly pack: string;
  /** URL of the model. Null uses the scripts of the pack. */
  readonly modelUrl: string | null;
}

const settings: CrewSettings = JSON.parse(process.argv[2] ?? '{}');

const scopes = ['manifest:read', 'runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'audit:read'] as const;

const models = (url: string) => ({
  providers: { crew: { kind: 'openai-compatible' as const, baseUrl: url, models: { 'crew-1': {} } } },
  default: 'crew/crew-1',
});

const { journal, key, tenant, pack, modelUrl } = settings;
await serveHost({
  config: {
    port: 0,
    ...storeConfig(settings),
    keys: [{ key, tenant, principal: 'parent', scopes: [...scopes] }],
    packs: { folders: [pack] },
    tools: { allow: ['openwop:*', 'desk:*'] },
    ...(modelUrl === null ? {} : { models: models(modelUrl) }),
  },
  allowUnsignedPacks: true,
  tools: countedTools(openJournal(journal)),
});
