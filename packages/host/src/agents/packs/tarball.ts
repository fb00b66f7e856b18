/**
 * Reads and writes packs as gzipped tar archives. Reading enforces size limits before it parses; writing is
 * deterministic.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { quoted, TerminalError } from '@cairn/protocol';
import { Header, Pack, Parser, ReadEntry } from 'tar';
import { FileCollector, type PackFiles, packLimits, packPath, tooLarge } from './pack-files.ts';
import { reasonOf } from './pack-json.ts';

const inflate = promisify(gunzip);

/** Returns the files of an archive. `integrity` is the expected digest of its bytes: `sha256-` and base64. */
export async function openTarball(bytes: Buffer, integrity?: string): Promise<PackFiles> {
  if (bytes.length > packLimits.tarballBytes) throw tooLarge(`${bytes.length} bytes as an archive`);
  checkIntegrity(bytes, integrity);
  return entriesOf(await unzipped(bytes));
}

export const integrityOf = (bytes: Buffer): string => `sha256-${createHash('sha256').update(bytes).digest('base64')}`;

function checkIntegrity(bytes: Buffer, expected: string | undefined): void {
  if (expected === undefined || expected === integrityOf(bytes)) return;
  throw new TerminalError('pack_integrity_mismatch', {
    message: `The tarball is ${integrityOf(bytes)}, not ${expected}.`,
    hint: 'Fetch the pack again, or correct the integrity that was asked for.',
    details: { expected, actual: integrityOf(bytes) },
  });
}

/** Inflation stops at the limit, which defeats decompression bombs. */
async function unzipped(bytes: Buffer): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: packLimits.unpackedBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(`more than ${packLimits.unpackedBytes} bytes when it is inflated`);
    }
    throw new TerminalError('tarball_gunzip_failed', {
      message: `The tarball is not a whole gzip file: ${reasonOf(error)}.`,
      hint: 'Make it with "tar -czf pack.tgz -C FOLDER ." or send a folder with "cairn pack add".',
    });
  }
}

/** Detects gzip and zstd data, which the tar parser would inflate without a limit. */
const isCompressed = (bytes: Buffer): boolean =>
  bytes.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b])) ||
  bytes.subarray(0, 4).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));

function entriesOf(bytes: Buffer): PackFiles {
  if (isCompressed(bytes)) throw notTar('it is compressed twice');
  const collector = new FileCollector();
  // The parser runs callbacks while it parses. An error thrown inside one would become the parser's error, so it is
  // kept here.
  let refusal: unknown;
  const refused = (act: () => void) => {
    if (refusal !== undefined) return;
    try {
      act();
    } catch (error) {
      refusal = error;
    }
  };
  const parser = new Parser({ strict: true, onReadEntry: (entry) => refused(() => take(entry, collector)) });
  parser.on('ignoredEntry', (entry: ReadEntry) =>
    refused(() => {
      collector.count();
      checkType(entry);
    }),
  );
  parser.on('error', (error: Error) => refused(() => raise(notTar(error.message))));
  parser.end(bytes);
  if (refusal !== undefined) throw refusal;
  return collector.files;
}

function take(entry: ReadEntry, collector: FileCollector): void {
  checkType(entry); // a link ends the reading, so it needs no count
  const path = String(entry.path);
  if (entry.type === 'Directory') {
    collector.count();
    if (!isRoot(path)) packPath(path, 'The archive');
    entry.resume();
    return;
  }
  const name = packPath(path, 'The archive');
  collector.expect(name, entry.size);
  const chunks: Buffer[] = [];
  entry.on('data', (chunk) => chunks.push(chunk));
  entry.on('end', () => collector.add(name, Buffer.concat(chunks)));
}

/** An archive of a folder begins with an entry for the folder itself. */
const isRoot = (path: string): boolean => /^\.?\/?$/.test(path);

const plainTypes: ReadonlySet<string> = new Set(['File', 'OldFile', 'Directory']);

/** Rejects links, which may lead anywhere, and devices. */
function checkType({ type, path }: ReadEntry): void {
  if (plainTypes.has(type)) return;
  throw new TerminalError('tarball_path_traversal', {
    message: `The archive has ${quoted(String(path), 120)} as ${type}; only files and folders may be in a pack.`,
    hint: 'Replace links by the files they lead to.',
    details: { path: String(path).slice(0, 300), type },
  });
}

const notTar = (reason: string): TerminalError =>
  new TerminalError('tarball_tar_parse_failed', {
    message: `The tarball is not a whole tar archive: ${reason}.`,
    hint: 'Make it again with "tar -czf pack.tgz -C FOLDER .", or send a folder with "cairn pack add".',
  });

function raise(error: Error): never {
  throw error;
}

/** Archives the files without timestamps, owners or modes of the local machine. */
export function makeTarball(files: PackFiles): Buffer {
  const pack = new Pack({ portable: true });
  const chunks: Buffer[] = [];
  pack.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const [path, content] of files) {
    const header = new Header({ path, mode: 0o644, size: content.length, type: 'File', mtime: new Date(0) });
    const entry = new ReadEntry(header);
    entry.end(content);
    pack.add(entry);
  }
  pack.end();
  return gzipSync(Buffer.concat(chunks), { level: 9 });
}
