/** The process to kill: the desk on a real database, with a model outside of it. Driven over IPC. */
import { storeConfig } from '../campaign-store.ts';
import type { HostSettings } from '../crash/host-main.ts';
import { serveHost } from '../crash/serve-host.ts';
import { desk, deskConfig } from './desk.ts';

/** Settings of the child, passed as its only argument. */
export interface DeskSettings extends HostSettings {
  readonly modelUrl: string;
}

const { modelUrl, ...settings }: DeskSettings = JSON.parse(process.argv[2] ?? '{}');

await serveHost({ ...desk, config: { ...deskConfig(modelUrl), ...storeConfig(settings) } });
