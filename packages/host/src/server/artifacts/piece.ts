/** The pieces of one version of an artifact, before they become rows. */
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { BlobRef } from '../../log/ports/blobs.ts';

/** Plain JSON. */
export type Piece = FilePiece | RowsPiece;

interface FilePiece {
  readonly type: 'cairn.artifact.chunk';
  /** Only the first piece of a version shows it. */
  readonly header: { readonly mimeType: string; readonly encoding: 'utf-8' | 'base64'; readonly totalSize?: number };
  readonly content: { readonly data?: string; readonly blob?: BlobRef; readonly bytes: number };
  readonly inlineBytes: number;
  /** Makes the version current. */
  readonly end: { readonly artifactType: string; readonly sha256: string; readonly bytes: number } | null;
}

interface RowsPiece {
  readonly type: 'cairn.artifact.rows';
  readonly header: { readonly schema?: JsonObject; readonly totalRows?: number };
  readonly content: { readonly rows?: readonly JsonObject[]; readonly blob?: BlobRef; readonly count: number };
  readonly inlineBytes: number;
  readonly end: { readonly artifactType: 'dataset'; readonly sha256: string } | null;
}

/** Pieces of a version that hold their content themselves, and their bytes together. What follows goes into blobs. */
const MAX_INLINE_PIECES = 1_000;
const MAX_INLINE_BYTES = 262_144;

/** With the pieces of 256 KiB that follow: 5 GB. */
const MAX_PIECES = 20_000;

/** Numbers the pieces of a version, and decides which of them hold their content themselves. */
export class PieceCount {
  #index = 0;
  #inlineBytes = 0;

  /** Whether content of this size still goes into the row itself. */
  isInline(bytes: number): boolean {
    return this.#index < MAX_INLINE_PIECES && this.#inlineBytes + bytes <= MAX_INLINE_BYTES;
  }

  /** The index of the next piece. */
  next(artifactId: string, { inlineBytes }: Pick<Piece, 'inlineBytes'>): number {
    if (this.#index >= MAX_PIECES) throw tooManyPieces(artifactId);
    this.#inlineBytes += inlineBytes;
    this.#index += 1;
    return this.#index - 1;
  }
}

const tooManyPieces = (artifactId: string): TerminalError =>
  new TerminalError('artifact_too_large', {
    message: `The artifact ${JSON.stringify(artifactId)} has ${MAX_PIECES} pieces, and may have no more.`,
    hint: 'Write larger pieces, or several artifacts.',
    details: { artifactId, limit: MAX_PIECES },
  });
