/** Reads bundle files in chunks of constant size, and writes them completely or not at all. */
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { TerminalError } from '@cairn/protocol';
import { type Bundle, readBundle } from '../log/bundle/bundle.ts';
import { linesOf } from '../log/bundle/bundle-bytes.ts';
import { errorText, hasErrorCode } from './error-text.ts';

const CHUNK_BYTES = 65_536;

/** Opens a bundle while `use` runs. It must be a regular file, because a device or a pipe may never end. */
export function withBundle<Result>(file: string, use: (bundle: Bundle, bytes: number) => Result): Result {
  return withLines(file, (lines, bytes) => use(readBundle(lines), bytes));
}

/** Opens a file of lines while `use` runs. */
export function withLines<Result>(file: string, use: (lines: Iterable<string>, bytes: number) => Result): Result {
  const handle = opened(file);
  const close = () => closeSync(handle);
  let result: Result;
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw notAFile(file);
    result = use(linesOf(chunksOf(handle)), stat.size);
  } catch (error) {
    close();
    throw error;
  }
  if (!(result instanceof Promise)) close();
  return result instanceof Promise ? (result.finally(close) as Result) : result;
}

function opened(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (cause) {
    throw new TerminalError('not_found', {
      message: `${file} cannot be opened: ${errorText(cause)}.`,
      hint: 'Check the path.',
      cause,
    });
  }
}

const notAFile = (file: string): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `${file} is not a regular file.`,
    hint: 'Save the bundle to a file first.',
  });

function* chunksOf(handle: number): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const bytes = readSync(handle, buffer);
    if (bytes === 0) return;
    yield buffer.subarray(0, bytes);
  }
}

/** Writes to a temporary file next to the target, then moves it into place. Only this user can read it. */
export function writeBundle(file: string, lines: Iterable<string>, isForced: boolean): { readonly bytes: number } {
  const draft = `${file}.${process.pid}.part`;
  const handle = created(draft);
  let bytes = 0;
  try {
    for (const line of lines) bytes += writeAll(handle, `${line}\n`);
    fsyncSync(handle);
    place(draft, file, isForced);
    return { bytes };
  } finally {
    closeSync(handle);
    rmSync(draft, { force: true });
  }
}

function created(draft: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (cause) {
    throw new TerminalError('validation_error', {
      message: `${draft} cannot be written: ${errorText(cause)}.`,
      hint: 'Choose a writable folder with --output.',
      cause,
    });
  }
}

function writeAll(handle: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
  return bytes.length;
}

/** Creating a link never replaces a file, even one created a moment ago. */
function place(draft: string, file: string, isForced: boolean): void {
  if (isForced) {
    renameSync(draft, file);
    return;
  }
  try {
    linkSync(draft, file);
  } catch (cause) {
    if (!hasErrorCode(cause, 'EEXIST')) throw cause;
    throw new TerminalError('conflict', {
      message: `${file} already exists.`,
      hint: 'Choose another file with --output, or overwrite it with --force.',
      cause,
    });
  }
}
