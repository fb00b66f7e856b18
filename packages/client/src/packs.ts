/** Packs: where the agents of a tenant come from. */
import type { InstalledPack, InstallPack, PackList } from '@cairn/protocol';
import { type CallOptions, type ChangeOptions, change, read, segment } from './calls.ts';
import type { Connection } from './connection.ts';

export interface Packs {
  /** The same pack again is no error; another version takes the place of the one before. */
  install(pack: InstallPack, options?: ChangeOptions): Promise<InstalledPack>;
  /** Those of the tenant and of the host, by name. */
  list(options?: CallOptions): Promise<readonly InstalledPack[]>;
  /** Only packs of the tenant can be removed. */
  remove(name: string, options?: ChangeOptions): Promise<void>;
}

const PATH = '/v1/host/cairn/packs';

export function packCalls(connection: Connection): Packs {
  return {
    install: (pack, options) => change(connection, { path: PATH, body: pack }, options),
    async list(options) {
      return (await read<PackList>(connection, PATH, options)).packs;
    },
    remove: (name, options) => change(connection, { method: 'DELETE', path: `${PATH}/${segment(name)}` }, options),
  };
}
