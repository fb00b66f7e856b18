/** One version of an artifact that is being written: claims it, numbers its pieces, and gives it up. */
import type { ArtifactFamily } from '@cairn/protocol';
import type { ArtifactCall, ArtifactOptions, ArtifactRef } from '../../agents/tools/artifact-port.ts';
import type { Emission } from '../../engine/ports.ts';
import type { BlobRef } from '../../log/ports/blobs.ts';
import type { Store } from '../../log/ports/store.ts';
import { type Piece, PieceCount } from './piece.ts';
import type { PieceSink } from './piece-writer.ts';

export interface ArtifactPorts {
  readonly store: Pick<Store, 'blobs' | 'artifacts'>;
  readonly now: () => number;
  /** Identifies this process. */
  readonly life: string;
  readonly maxTenantBytes: number;
}

interface VersionOptions extends ArtifactOptions {
  readonly artifactId: string;
  readonly family: ArtifactFamily;
}

export class OpenVersion implements PieceSink {
  readonly #call: ArtifactCall;
  readonly #ports: ArtifactPorts;
  readonly #options: VersionOptions;
  readonly #count = new PieceCount();
  #version: Promise<number> | null = null;

  constructor(call: ArtifactCall, ports: ArtifactPorts, options: VersionOptions) {
    this.#call = call;
    this.#ports = ports;
    this.#options = options;
  }

  isInline(bytes: number): boolean {
    return this.#count.isInline(bytes);
  }

  blob(bytes: Uint8Array): Promise<BlobRef> {
    const { store, now, maxTenantBytes } = this.#ports;
    return store.blobs.put({ tenant: this.#call.tenant, bytes, at: now(), maxTenantBytes });
  }

  /** Records pieces in one append. The last one of a version makes it current in the same append. */
  async add(...pieces: readonly Piece[]): Promise<void> {
    const version = await this.claimed();
    await this.#call.record(pieces.flatMap((piece) => this.#rowsOf(piece, version)));
  }

  #rowsOf(piece: Piece, version: number): readonly Emission[] {
    const { artifactId, description } = this.#options;
    const index = this.#count.next(artifactId, piece);
    const about = { name: artifactId, ...(description !== undefined && { description }) };
    const fields = { artifactId, version, index, complete: piece.end !== null, ...this.actor() };
    const sha256 = piece.end === null ? {} : { sha256: piece.end.sha256 };
    const written: Emission =
      piece.type === 'cairn.artifact.chunk'
        ? {
            type: piece.type,
            payload: { ...fields, ...(index === 0 && { ...about, ...piece.header }), ...piece.content, ...sha256 },
          }
        : {
            type: piece.type,
            payload: { ...fields, ...(index === 0 && { ...about, ...piece.header }), ...piece.content, ...sha256 },
          };
    if (piece.end === null) return [written];
    const created = { artifactId, version: String(version), ...this.actor(), ...piece.end };
    return [written, { type: 'artifact.created', payload: created }];
  }

  /** Who writes, as rows say it. */
  actor(): { readonly nodeId: string; readonly callId?: string; readonly agentId: string } {
    const { nodeId, callId, agentId, isToolCall = true } = this.#call;
    return { nodeId, ...(isToolCall && { callId }), agentId };
  }

  async ref(): Promise<ArtifactRef> {
    return { artifactId: this.#options.artifactId, version: await this.claimed() };
  }

  claimed(): Promise<number> {
    const { artifactId, family, expectedVersion } = this.#options;
    const { store, now, life } = this.#ports;
    const { runId, contextId, callId } = this.#call;
    const writer = { life, callId };
    this.#version ??= store.artifacts.claim({
      runId,
      contextId,
      artifactId,
      family,
      writer,
      expectedVersion,
      at: now(),
    });
    return this.#version;
  }

  async abandon(): Promise<void> {
    if (this.#version === null) return;
    const { store, life } = this.#ports;
    const { runId, contextId, callId } = this.#call;
    const { artifactId } = this.#options;
    await store.artifacts.abandon({ runId, contextId, artifactId, writer: { life, callId } });
  }
}
