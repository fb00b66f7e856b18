/** One version of an artifact that is being written: claims it, numbers its pieces, and gives it up. */
import { type ArtifactFamily, TerminalError } from '@cairn/protocol';
import type { ArtifactCall, ArtifactOptions, ArtifactRef } from '../../agents/tools/artifact-port.ts';
import type { Emission } from '../../engine/ports.ts';
import type { BlobRef } from '../../log/ports/blobs.ts';
import type { Store } from '../../log/ports/store.ts';

export interface ArtifactPorts {
  readonly store: Pick<Store, 'blobs' | 'artifacts'>;
  readonly now: () => number;
  /** Identifies this process. */
  readonly life: string;
  readonly maxTenantBytes: number;
}

/** Pieces of a version that hold their content themselves, and their bytes together. What follows goes into blobs. */
const MAX_INLINE_PIECES = 1_000;
const MAX_INLINE_BYTES = 262_144;

/** With the pieces of 256 KiB that follow: 5 GB. */
const MAX_PIECES = 20_000;

/** What the first piece says of the version. */
type Header = Readonly<Record<string, string | number | object | undefined>>;

interface VersionOptions extends ArtifactOptions {
  readonly artifactId: string;
  readonly family: ArtifactFamily;
}

export class OpenVersion {
  readonly #call: ArtifactCall;
  readonly #ports: ArtifactPorts;
  readonly #options: VersionOptions;
  #version: Promise<number> | null = null;
  #index = 0;
  #inlineBytes = 0;

  constructor(call: ArtifactCall, ports: ArtifactPorts, options: VersionOptions) {
    this.#call = call;
    this.#ports = ports;
    this.#options = options;
  }

  get isFirst(): boolean {
    return this.#index === 0;
  }

  /** Whether content of this size still goes into the row itself. */
  isInline(bytes: number): boolean {
    return this.#index < MAX_INLINE_PIECES && this.#inlineBytes + bytes <= MAX_INLINE_BYTES;
  }

  /** Keeps bytes beside the log, for a row to name. */
  blob(bytes: Uint8Array): Promise<BlobRef> {
    const { store, now, maxTenantBytes } = this.#ports;
    return store.blobs.put({ tenant: this.#call.tenant, bytes, at: now(), maxTenantBytes });
  }

  /** The fields of the next piece, which is recorded right away. */
  async next(isLast: boolean, { header, inlineBytes }: { readonly header: Header; readonly inlineBytes: number }) {
    const { artifactId, description } = this.#options;
    const version = await this.claimed();
    if (this.#index >= MAX_PIECES) throw tooLarge(artifactId);
    const index = this.#index;
    this.#index += 1;
    this.#inlineBytes += inlineBytes;
    const { callId, agentId, nodeId } = this.#call;
    const first = index > 0 ? {} : { name: artifactId, ...(description !== undefined && { description }), ...header };
    return { artifactId, version, index, complete: isLast, nodeId, callId, agentId, ...first };
  }

  record(rows: readonly Emission[]): Promise<void> {
    return this.#call.record(rows);
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

const tooLarge = (artifactId: string): TerminalError =>
  new TerminalError('artifact_too_large', {
    message: `The artifact ${JSON.stringify(artifactId)} has ${MAX_PIECES} pieces, and may have no more.`,
    hint: 'Write larger pieces, or several artifacts.',
    details: { artifactId, limit: MAX_PIECES },
  });
