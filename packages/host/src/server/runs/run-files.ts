/**
 * The folders of runs on disk. Each segment of a path is checked before use, so that symbolic links are never followed.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { quoted, type RunId, TerminalError } from '@cairn/protocol';
import type { FileEntry, FilePart, FilePort } from '../../agents/tools/file-tools.ts';
import type { UniqueId } from '../../engine/ports.ts';
import { thrownCode } from '../../thrown-code.ts';
import { utf8Size } from '../../utf8.ts';

export interface RunFilesPorts {
  /** Contains one folder per run. */
  readonly folder: string;
  readonly uniqueId: UniqueId;
}

const MAX_FILES = 1_000;
const MAX_TOTAL_BYTES = 50_000_000;

/** The folder of the files of all runs, in a data folder. */
export const runFolder = (data: string): string => join(data, 'runs');

/** Deletes the folder of a run, if it has one. */
export const removeRunFiles =
  (folder: string) =>
  async (runId: RunId): Promise<void> => {
    if (isFolderName(runId)) await rm(join(folder, runId), { recursive: true, force: true });
  };

export const createRunFiles = ({ folder, uniqueId }: RunFilesPorts): FilePort => {
  const rootOf = (runId: RunId): string => join(folder, folderName(runId), 'files');
  return {
    read: (runId, path, offset, maxBytes) => read({ root: rootOf(runId), path }, offset, maxBytes),
    async write(runId, path, text) {
      const root = rootOf(runId);
      const bytes = utf8Size(text);
      await refuseTooMuch(root, path, bytes);
      // Outside the run's `files` folder, where no path can name it, and on the same disk for the rename.
      const draft = join(dirname(root), `${uniqueId()}.tmp`);
      await write({ root, path }, text, draft);
      return { path, bytes };
    },
    list: (runId, below) => list(rootOf(runId), below),
  };
};

/**
 * The host generates run ids and derives child ids from their parent's: `run_1.2`. Anything else is not a folder name.
 */
function folderName(runId: RunId): string {
  if (isFolderName(runId)) return runId;
  throw wrong(`the run ${quoted(runId, 130)} has no files`);
}

const isFolderName = (runId: RunId): boolean => /^(?=.{1,128}$)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(runId);

interface Place {
  readonly root: string;
  /** In the form of the tools' `filePath`. */
  readonly path: string;
}

async function read({ root, path }: Place, offset: number, maxBytes: number): Promise<FilePart> {
  await refuseLinks({ root, path });
  const file = await opened(join(root, path), constants.O_RDONLY, path);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw wrong(`${quoted(path)} is no file`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(maxBytes, stat.size)), { position: offset });
    const part = buffer.subarray(0, bytesRead);
    const isLast = offset + bytesRead >= stat.size;
    const whole = isLast ? part : part.subarray(0, wholeCharacters(part));
    return { text: textOf(whole, path), bytes: stat.size, nextOffset: isLast ? null : offset + whole.length };
  } finally {
    await file.close();
  }
}

/** The length of a part without an incomplete last character, which belongs to the next part. */
function wholeCharacters(part: Buffer): number {
  for (let back = 1; back <= 4 && back <= part.length; back++) {
    const byte = part[part.length - back] ?? 0;
    if (byte < 0x80) return part.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back >= length ? part.length : part.length - back;
  }
  return part.length;
}

function textOf(part: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part);
  } catch {
    throw wrong(`${quoted(path)} is not UTF-8 text, or the offset is in the middle of a character`);
  }
}

/** Atomic: a reader sees the old file or the new one. The file is on disk once this resolves. */
async function write({ root, path }: Place, text: string, draft: string): Promise<void> {
  const target = join(root, path);
  await makeFolders(root, path);
  const found = await kindOf(target);
  if (found !== null && found !== 'file') throw wrong(`${quoted(path)} is a ${found}`);
  try {
    const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await synced(dirname(target));
}

async function makeFolders(root: string, path: string): Promise<void> {
  const made = await mkdir(root, { recursive: true, mode: 0o700 });
  // Sync the parent of each new folder, because the parent holds its entry.
  if (made !== undefined) for (let at = root; at.length >= made.length; at = dirname(at)) await synced(dirname(at));
  let at = root;
  for (const part of path.split('/').slice(0, -1)) {
    at = join(at, part);
    const found = await kindOf(at);
    if (found === null) {
      await mkdir(at, { mode: 0o700 });
      await synced(dirname(at));
    } else if (found !== 'folder') throw wrong(`${quoted(part)} of ${quoted(path)} is a ${found}`);
  }
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function refuseLinks({ root, path }: Place): Promise<void> {
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    if ((await kindOf(at)) === 'link') throw wrong(`${quoted(part)} of ${quoted(path)} is a link`);
  }
}

/** Fails if the file became a link after it was checked. */
async function opened(file: string, flags: number, path: string): Promise<FileHandle> {
  try {
    return await open(file, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw wrong(`there is no file ${quoted(path)}`);
    if (code === 'ELOOP') throw wrong(`${quoted(path)} is a link`);
    throw error;
  }
}

type Kind = 'file' | 'folder' | 'link' | 'special file';

async function kindOf(path: string): Promise<Kind | null> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return 'link';
    if (stat.isDirectory()) return 'folder';
    return stat.isFile() ? 'file' : 'special file';
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Skips links and special files, which are not files of the run. */
async function list(root: string, below: string): Promise<readonly FileEntry[]> {
  if (below !== '') await refuseLinks({ root, path: below });
  const found: FileEntry[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile()) found.push({ path, bytes: (await lstat(join(root, path))).size });
      if (found.length >= MAX_FILES) return;
    }
  };
  await visit(below);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

async function refuseTooMuch(root: string, path: string, bytes: number): Promise<void> {
  const others = (await list(root, '')).filter((file) => file.path !== path);
  if (others.length >= MAX_FILES) throw wrong(`the run has ${MAX_FILES} files, and may have no more`);
  const total = others.reduce((sum, file) => sum + file.bytes, bytes);
  if (total > MAX_TOTAL_BYTES) throw wrong(`the files of the run would take ${total} bytes of ${MAX_TOTAL_BYTES}`);
}

/** An error for the agent, which can correct its call. */
const wrong = (why: string): TerminalError =>
  new TerminalError('tool_failed', { message: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.` });
