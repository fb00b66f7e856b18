/** The keys that sign checkpoints of a host: the configured ones, and the one in its data folder. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { type SigningKey, signingKey } from '../log/signed-checkpoint/signing-keys.ts';
import { readConfig } from '../server/config/config-sources.ts';
import { CHECKPOINT_KEYS, folderSecret, hostSecret } from '../server/secrets/host-secret.ts';
import type { Terminal } from './terminal.ts';

/** The first one signs. Creates no key. `folder` is null for a host on PostgreSQL, which has no key of its own. */
export async function folderKeys(
  terminal: Terminal,
  folder: string | null,
  config: string | undefined,
): Promise<readonly [SigningKey, ...SigningKey[]]> {
  const file = resolve(terminal.cwd, config ?? 'cairn.json');
  const isConfigured = config !== undefined || existsSync(file);
  const sources = { env: terminal.env, ...(isConfigured && { file }) };
  const masterKey = isConfigured || folder === null ? (await readConfig(sources)).masterKey : undefined;
  if (masterKey === undefined && folderSecret(folder) === null) throw noKey(folder);
  const [current, ...earlier] = hostSecret({ masterKey, folder })(CHECKPOINT_KEYS);
  return [signingKey(current), ...earlier.map(signingKey)];
}

const noKey = (folder: string | null): TerminalError =>
  folder === null
    ? new TerminalError('not_found', {
        message: 'No masterKey is configured, which signs the checkpoints of a host on PostgreSQL.',
        hint: 'Set CAIRN_MASTER_KEY, or name a configuration with --config.',
      })
    : new TerminalError('not_found', {
        message: `${folder} has no host.key, and no masterKey is configured.`,
        hint: 'Start the host once: it creates the key. Name a configuration with --config.',
      });
