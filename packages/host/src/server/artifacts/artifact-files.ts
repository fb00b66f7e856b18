/** The files that agents read with `openwop:fs.*`: the artifacts of their conversation. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { FileEntry, FilePort, FileReader } from '../../agents/builtin-tools/file-tools.ts';
import type { Store } from '../../log/ports/store.ts';
import type { RunFolders } from '../runs/run-files.ts';
import { filePieces } from './artifact-pieces.ts';

export interface ArtifactFilesPorts {
  readonly store: Pick<Store, 'log' | 'blobs' | 'artifacts'>;
  /** What earlier versions of the host wrote. */
  readonly folders: RunFolders;
}

/** Maximum number of files that one call lists, and of characters in their paths: the result of a tool is limited. */
const MAX_FILES = 1_000;
const MAX_PATHS = 150_000;
const PAGE = 200;

interface Part {
  readonly offset: number;
  readonly maxBytes: number;
}

export const createArtifactFiles = (ports: ArtifactFilesPorts): FilePort => ({
  async read(reader, path, part) {
    const { bytes, size } = await partOf(ports, reader, { path, ...part });
    const isLast = part.offset + bytes.length >= size;
    const whole = isLast ? bytes : bytes.subarray(0, wholeCharacters(bytes));
    return { text: textOf(whole, path), bytes: size, nextOffset: isLast ? null : part.offset + whole.length };
  },
  list: (reader, folder) => list(ports, reader, folder),
});

async function partOf(
  { store, folders }: ArtifactFilesPorts,
  reader: FileReader,
  { path, ...part }: Part & { readonly path: string },
): Promise<{ readonly bytes: Buffer; readonly size: number }> {
  const version = await store.artifacts.get(reader.contextId, path);
  if (version === null) {
    const old = await folders.read(reader.runId, path, part);
    if (old === null) throw wrong(`there is no file ${quoted(path)}`);
    return old;
  }
  if (version.family !== 'file') throw wrong(`${quoted(path)} is not a file but a ${kinds[version.family]}`);
  const end = Math.min(version.size, part.offset + part.maxBytes);
  const pieces: Uint8Array[] = [];
  const ofTenant = { store, tenant: reader.tenant };
  for await (const piece of filePieces(version, ofTenant, { start: part.offset, end }))
    pieces.push(Uint8Array.from(piece));
  return { bytes: Buffer.concat(pieces), size: version.size };
}

const kinds = { data: 'record', dataset: 'dataset' } as const;

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

/** An artifact hides a file of the same name in the folder. */
async function list({ store, folders }: ArtifactFilesPorts, reader: FileReader, folder: string) {
  const found = new Map<string, FileEntry>();
  for (const file of await folders.list(reader.runId, folder)) found.set(file.path, file);
  let length = 0;
  let after = folder === '' ? '' : `${folder}/`;
  const isBelow = (id: string): boolean => folder === '' || id.startsWith(`${folder}/`);
  while (found.size < MAX_FILES && length < MAX_PATHS) {
    const page = await store.artifacts.list(reader.contextId, { after, limit: PAGE });
    for (const { current, open } of page) {
      after = (current ?? open)?.artifactId ?? after;
      if (current?.family !== 'file' || !isBelow(current.artifactId)) continue;
      found.set(current.artifactId, { path: current.artifactId, bytes: current.size });
      length += current.artifactId.length;
    }
    if (page.length < PAGE || !isBelow(after)) break;
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, MAX_FILES);
}

/** An error that the agent can act on by correcting its call. */
const wrong = (why: string): TerminalError =>
  new TerminalError('tool_failed', { message: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.` });
