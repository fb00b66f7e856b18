/**
 * A version that is complete before its run starts: blobs hold its content and the list of its pieces. A run then writes
 * all of it, so that a slow upload keeps no version open. The sweep removes versions that no run wrote.
 */
import { type ArtifactFamily, type JsonObject, TerminalError } from '@cairn/protocol';
import type { ArtifactRef } from '../../agents/tools/artifact-port.ts';
import { type BlobRef, type Blobs, MAX_BLOB_BYTES } from '../../log/ports/blobs.ts';
import { utf8Size } from '../../utf8.ts';
import { type Piece, PieceCount } from './piece.ts';
import type { PieceSink } from './piece-writer.ts';

export interface StagePorts {
  readonly blobs: Blobs;
  readonly now: () => number;
  readonly maxTenantBytes: number;
}

interface Staged {
  readonly tenant: string;
  readonly artifactId: string;
}

/** The hashes of the blobs that list the content of a version. */
export type Manifest = readonly string[];

export class StagedVersion implements PieceSink {
  readonly #of: Staged;
  readonly #ports: StagePorts;
  readonly #count = new PieceCount();
  /** At most 20,000, of which 256 KiB hold content. */
  readonly #pieces: Piece[] = [];

  constructor(of: Staged, ports: StagePorts) {
    this.#of = of;
    this.#ports = ports;
  }

  isInline(bytes: number): boolean {
    return this.#count.isInline(bytes);
  }

  blob(bytes: Uint8Array): Promise<BlobRef> {
    const { blobs, now, maxTenantBytes } = this.#ports;
    return blobs.put({ tenant: this.#of.tenant, bytes, at: now(), maxTenantBytes });
  }

  async add(piece: Piece): Promise<void> {
    this.#count.next(this.#of.artifactId, piece);
    this.#pieces.push(piece);
  }

  async ref(): Promise<ArtifactRef> {
    return { artifactId: this.#of.artifactId, version: 0 };
  }

  async abandon(): Promise<void> {}

  /** Call it once the version is closed. */
  manifest(): Promise<Manifest> {
    return this.#listed(this.#pieces);
  }

  /** A record has no pieces. */
  record(record: JsonObject): Promise<Manifest> {
    return this.#listed([record]);
  }

  async #listed(lines: readonly object[]): Promise<Manifest> {
    const hashes: string[] = [];
    let waiting: string[] = [];
    let size = 0;
    const flush = async () => {
      if (waiting.length > 0) hashes.push((await this.blob(Buffer.from(waiting.join('')))).sha256);
      waiting = [];
      size = 0;
    };
    for (const line of lines) {
      const text = `${JSON.stringify(line)}\n`;
      const bytes = utf8Size(text);
      if (size + bytes > MAX_BLOB_BYTES) await flush();
      waiting.push(text);
      size += bytes;
    }
    await flush();
    return hashes;
  }
}

export interface StagedSource {
  readonly blobs: Pick<Blobs, 'get'>;
  readonly tenant: string;
  readonly manifest: Manifest;
}

/** The pieces of a staged version, those of one blob at a time. */
export const stagedPieces = (source: StagedSource): AsyncGenerator<readonly Piece[]> => linesOf<Piece>(source);

export async function stagedRecord(source: StagedSource): Promise<JsonObject> {
  for await (const [record] of linesOf<JsonObject>(source)) if (record !== undefined) return record;
  throw gone();
}

/** The host itself wrote these lines, and their blob has the hash of what it wrote. */
async function* linesOf<Line>({ blobs, tenant, manifest }: StagedSource): AsyncGenerator<readonly Line[]> {
  for (const sha256 of manifest) {
    const bytes = await blobs.get(tenant, sha256);
    if (bytes === null) throw gone();
    const text = Buffer.from(bytes).toString('utf8');
    yield text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  }
}

/** The sweep may remove it after an hour. */
const gone = (): TerminalError =>
  new TerminalError('service_unavailable', {
    message: 'What was uploaded is not kept any more: the host did not come to write it for an hour.',
    hint: 'Send it again, with a new Idempotency-Key.',
  });

/** The input of a task that writes a staged version. */
export interface StagedEdit {
  readonly artifactId: string;
  readonly family: ArtifactFamily;
  /** The version that must be current; 0 for a new artifact. */
  readonly expectedVersion: number;
  readonly manifest: Manifest;
}
