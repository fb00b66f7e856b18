/** Cuts a file into pieces. Small pieces go into the log; what follows them into blobs of one size. */
import { createHash } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';
import type { FileOptions } from '../../agents/tools/artifact-port.ts';
import type { Redactor } from '../../engine/ports.ts';
import { MAX_BLOB_BYTES } from '../../log/ports/blobs.ts';
import { mimeTypeOf } from './mime-types.ts';
import type { Cutter, PieceSink } from './piece-writer.ts';

/** A multiple of 3, so that the base64 of the pieces can be joined as text. */
const MAX_PIECE_BYTES = 49_152;

type Encoding = 'utf-8' | 'base64';

export interface FileCut extends FileOptions {
  readonly name: string;
  readonly redactor: Redactor | null;
  /** The file is not read while it is written, so content waits until its piece is full. */
  readonly isUnwatched?: boolean;
}

export class FileCutter implements Cutter<string | Uint8Array> {
  readonly #sink: PieceSink;
  readonly #options: FileCut;
  readonly #hash = createHash('sha256');
  /** Holds back text that may be the start of a secret. Bytes pass as Latin-1, in which each byte is one character. */
  readonly #redact: { push(piece: string): string; end(): string } | null;
  #encoding: Encoding | null = null;
  /** Bytes that are not recorded yet. All pieces share one buffer: new ones would accumulate until garbage collection. */
  #buffer: Buffer | null = null;
  #filled = 0;
  #bytes = 0;
  /** The hash of the whole file, once it is recorded. */
  sha256: string | null = null;

  constructor(sink: PieceSink, options: FileCut) {
    this.#sink = sink;
    this.#options = options;
    this.#redact = options.redactor?.stream() ?? null;
  }

  take(data: string | Uint8Array): Promise<void> {
    this.#encoding ??= typeof data === 'string' ? 'utf-8' : 'base64';
    return this.#take(this.#clean(data));
  }

  async finish(): Promise<void> {
    this.#encoding ??= 'utf-8';
    await this.#take(this.#encoded(this.#redact?.end() ?? ''));
    await this.#write(this.#pending(), true);
  }

  #clean(data: string | Uint8Array): Buffer {
    if (typeof data !== 'string' && this.#encoding === 'utf-8') throw noBytes(this.#options.name);
    const bytes = typeof data === 'string' ? Buffer.from(data.toWellFormed()) : viewOf(data);
    if (this.#redact === null) return bytes;
    return this.#encoded(this.#redact.push(bytes.toString(this.#encoding === 'base64' ? 'latin1' : 'utf8')));
  }

  #encoded(text: string): Buffer {
    return Buffer.from(text, this.#encoding === 'base64' ? 'latin1' : 'utf8');
  }

  /** Adds redacted content. Copies what does not fit immediately, because the writer may reuse its bytes. */
  async #take(added: Buffer): Promise<void> {
    let rest = added;
    while (rest.length > 0) {
      this.#buffer ??= Buffer.allocUnsafe(MAX_BLOB_BYTES);
      const taken = rest.copy(this.#buffer, this.#filled);
      this.#filled += taken;
      rest = rest === added && taken < rest.length ? Buffer.from(rest.subarray(taken)) : rest.subarray(taken);
      await this.#record();
    }
  }

  #pending(from = 0): Buffer {
    return (this.#buffer ?? Buffer.alloc(0)).subarray(from, this.#filled);
  }

  /** Records the complete pieces. Cuts at fixed sizes, so that equal files share their blobs. */
  async #record(): Promise<void> {
    let from = 0;
    for (let content = this.#pending(); content.length > 0; content = this.#pending(from)) {
      const size = pieceSize(content, this.#encoding);
      const isInline = this.#sink.isInline(size);
      const isWaiting = this.#options.isUnwatched === true && content.length <= MAX_PIECE_BYTES;
      if (isInline ? size === 0 || isWaiting : content.length < MAX_BLOB_BYTES) break;
      const piece = content.subarray(0, isInline ? size : MAX_BLOB_BYTES);
      await this.#write(piece, false);
      from += piece.length;
    }
    this.#buffer?.copyWithin(0, from, this.#filled);
    this.#filled -= from;
  }

  async #write(piece: Buffer, isLast: boolean): Promise<void> {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    const isInline = piece.length <= MAX_PIECE_BYTES && this.#sink.isInline(piece.length);
    const content = isInline
      ? { data: piece.toString(this.#encoding === 'base64' ? 'base64' : 'utf8') }
      : { blob: await this.#sink.blob(piece) };
    const { name, totalSize, mimeType = mimeTypeOf(name) } = this.#options;
    const sha256 = isLast ? this.#hash.digest('hex') : '';
    await this.#sink.add({
      type: 'cairn.artifact.chunk',
      header: { mimeType, encoding: this.#encoding ?? 'utf-8', ...(totalSize !== undefined && { totalSize }) },
      content: { ...content, bytes: piece.length },
      inlineBytes: isInline ? piece.length : 0,
      end: isLast ? { artifactType: mimeType, sha256, bytes: this.#bytes } : null,
    });
    if (isLast) this.sha256 = sha256;
  }
}

const noBytes = (name: string): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The file ${JSON.stringify(name)} began with text, so it takes no bytes.`,
    hint: 'Write bytes from the beginning, or only text.',
  });

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);

/** The next piece for the log: whole characters, or whole groups of three bytes. */
function pieceSize(content: Buffer, encoding: Encoding | null): number {
  if (content.length <= MAX_PIECE_BYTES) return content.length - (encoding === 'base64' ? content.length % 3 : 0);
  let size = MAX_PIECE_BYTES;
  // A byte of the form 10xxxxxx continues a character.
  if (encoding === 'utf-8') while (((content[size] ?? 0) & 0xc0) === 0x80) size -= 1;
  return size;
}
