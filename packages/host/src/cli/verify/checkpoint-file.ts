/** The checkpoint that a verification compares with, and the keys whose signature counts. */
import { resolve } from 'node:path';
import { folderKeys } from '../folder-keys.ts';
import type { Terminal } from '../terminal.ts';
import { usageError } from '../usage-error.ts';

export interface CheckpointFile {
  readonly file: string;
  /** Public keys. */
  readonly trusted: readonly string[];
}

export interface CheckpointFlags {
  readonly against?: string;
  readonly key?: readonly string[];
  readonly config?: string;
}

/** The keys of the flag, or those of the host: `of` is its data folder, or null in it for PostgreSQL. */
export async function checkpointFile(
  terminal: Terminal,
  flags: CheckpointFlags,
  of: { readonly folder: string | null } | null,
): Promise<CheckpointFile | null> {
  if (flags.against === undefined) return null;
  const file = resolve(terminal.cwd, flags.against);
  if (flags.key !== undefined) return { file, trusted: flags.key };
  if (of === null)
    throw usageError(
      'A bundle or a backup does not tell whose checkpoints count.',
      'Name the public key of its host with --key. The discovery document of the host shows it.',
    );
  return { file, trusted: (await folderKeys(terminal, of.folder, flags.config)).map(({ publicKey }) => publicKey) };
}
