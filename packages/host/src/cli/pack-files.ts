/** Reads the pack that a command names: a folder or an archive. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { readPackFolder } from '../agents/packs/folder.ts';
import type { PackFiles } from '../agents/packs/pack-files.ts';
import { makeTarball, openTarball } from '../agents/packs/tarball.ts';
import type { Terminal } from './terminal.ts';

export interface NamedPack {
  readonly files: PackFiles;
  /** Its folder; null for an archive. */
  readonly folder: string | null;
  /** The archive to send; created from the folder if necessary. */
  readonly tarball: Buffer;
}

export async function readPack(terminal: Terminal, name: string): Promise<NamedPack> {
  const path = resolve(terminal.cwd, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new TerminalError('not_found', {
      message: `There is no folder and no archive ${path}.`,
      hint: 'Pass the folder of a pack or its .tgz archive. "cairn pack init FOLDER" creates a new pack.',
    });
  }
  if (found.isDirectory()) {
    const files = await readPackFolder(path);
    return { files, folder: path, tarball: makeTarball(files) };
  }
  const tarball = readFileSync(path);
  return { files: await openTarball(tarball), folder: null, tarball };
}
