/** Writes a file piece by piece. Small pieces go into the log; what follows them into blobs of one size. */
import { createHash } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';
import type { ArtifactCall, ArtifactRef, FileOptions, OpenArtifact } from '../../agents/tools/artifact-port.ts';
import { MAX_BLOB_BYTES } from '../../log/ports/blobs.ts';
import { mimeTypeOf } from './mime-types.ts';
import { type ArtifactPorts, OpenVersion } from './open-version.ts';

/** A multiple of 3, so that the base64 of the pieces can be joined as text. */
const MAX_PIECE_BYTES = 49_152;

type Encoding = 'utf-8' | 'base64';

export class FileWriter implements OpenArtifact<string | Uint8Array> {
  readonly #version: OpenVersion;
  readonly #name: string;
  readonly #options: FileOptions;
  readonly #hash = createHash('sha256');
  /** Holds back what may be the beginning of a secret. Bytes pass as Latin-1, in which each byte is one character. */
  readonly #redact: { push(piece: string): string; end(): string } | null;
  #encoding: Encoding | null = null;
  /** Bytes that are not recorded yet; less than a blob. */
  #rest = Buffer.alloc(0);
  #bytes = 0;
  /** One write after the other, whether or not the tool waits. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(call: ArtifactCall, ports: ArtifactPorts, { name, ...options }: FileOptions & { readonly name: string }) {
    this.#version = new OpenVersion(call, ports, { artifactId: name, family: 'file', ...options });
    this.#name = name;
    this.#options = options;
    this.#redact = call.redactor?.stream() ?? null;
  }

  write(data: string | Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      this.#encoding ??= typeof data === 'string' ? 'utf-8' : 'base64';
      await this.#take(this.#clean(data));
    });
  }

  close(): Promise<ArtifactRef> {
    return this.#inTurn(async () => {
      this.#encoding ??= 'utf-8';
      await this.#take(this.#encoded(this.#redact?.end() ?? ''));
      await this.#write(this.#rest, true);
      return this.#version.ref();
    });
  }

  abandon(): Promise<void> {
    return this.#version.abandon();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#tail.then(work);
    // After a failed write every later one fails, too: the file would have a hole.
    this.#tail = done;
    done.catch(() => undefined);
    return done;
  }

  #clean(data: string | Uint8Array): Buffer {
    if (typeof data !== 'string' && this.#encoding === 'utf-8') throw noBytes(this.#name);
    // Copied: the tool may use its buffer again before the bytes are recorded.
    const bytes = Buffer.from(typeof data === 'string' ? data.toWellFormed() : data);
    if (this.#redact === null) return bytes;
    return this.#encoded(this.#redact.push(bytes.toString(this.#encoding === 'base64' ? 'latin1' : 'utf8')));
  }

  #encoded(text: string): Buffer {
    return Buffer.from(text, this.#encoding === 'base64' ? 'latin1' : 'utf8');
  }

  /** Adds clean content. Cuts at fixed sizes, so that equal files have equal blobs. */
  async #take(added: Buffer): Promise<void> {
    let content = this.#rest.length === 0 ? added : Buffer.concat([this.#rest, added]);
    while (content.length > 0) {
      const size = pieceSize(content, this.#encoding);
      const isInline = this.#version.isInline(size);
      if (isInline ? size === 0 : content.length < MAX_BLOB_BYTES) break;
      const piece = content.subarray(0, isInline ? size : MAX_BLOB_BYTES);
      await this.#write(piece, false);
      content = content.subarray(piece.length);
    }
    this.#rest = Buffer.from(content);
  }

  async #write(piece: Buffer, isLast: boolean): Promise<void> {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    const isInline = piece.length <= MAX_PIECE_BYTES && this.#version.isInline(piece.length);
    const content = isInline
      ? { data: piece.toString(this.#encoding === 'base64' ? 'base64' : 'utf8') }
      : { blob: await this.#version.blob(piece) };
    const { totalSize, mimeType = mimeTypeOf(this.#name) } = this.#options;
    const header = { mimeType, encoding: this.#encoding ?? 'utf-8', ...(totalSize !== undefined && { totalSize }) };
    const fields = await this.#version.next(isLast, { header, inlineBytes: isInline ? piece.length : 0 });
    const chunk = { ...fields, ...content, bytes: piece.length };
    if (!isLast) return this.#version.record([{ type: 'cairn.artifact.chunk', payload: chunk }]);
    const sha256 = this.#hash.digest('hex');
    const { artifactId, version, nodeId, callId, agentId } = fields;
    const created = { artifactId, artifactType: mimeType, version: String(version), nodeId, callId, agentId };
    // In one append: the version is current from here on.
    return this.#version.record([
      { type: 'cairn.artifact.chunk', payload: { ...chunk, sha256 } },
      { type: 'artifact.created', payload: { ...created, sha256, bytes: this.#bytes } },
    ]);
  }
}

const noBytes = (name: string): TerminalError =>
  new TerminalError('tool_failed', {
    message: `The file ${JSON.stringify(name)} began with text, so it takes no bytes.`,
    hint: 'Write bytes from the beginning, or only text.',
  });

/** The next piece for the log: whole characters, or whole groups of three bytes. */
function pieceSize(content: Buffer, encoding: Encoding | null): number {
  if (content.length <= MAX_PIECE_BYTES) return content.length - (encoding === 'base64' ? content.length % 3 : 0);
  let size = MAX_PIECE_BYTES;
  // A byte of the form 10xxxxxx continues a character.
  if (encoding === 'utf-8') while (((content[size] ?? 0) & 0xc0) === 0x80) size -= 1;
  return size;
}
