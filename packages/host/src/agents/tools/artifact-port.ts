/** How tools write artifacts: files, records and datasets that outlive the call. */
import type { ContextId, JsonObject, RunId } from '@cairn/protocol';
import type { Emission, Redactor } from '../../engine/ports.ts';
import type { ValueRef } from '../../engine/values/large-values.ts';

/** A version of an artifact that is complete. */
export interface ArtifactRef {
  readonly artifactId: string;
  readonly version: number;
}

export interface ArtifactOptions {
  /** For people: what the artifact is. */
  readonly description?: string | undefined;
  /** Fails with `artifact_version_conflict` unless this version is current; 0 for an artifact that does not exist yet. */
  readonly expectedVersion?: number | undefined;
}

export interface FileOptions extends ArtifactOptions {
  /** Default: by the ending of the name. */
  readonly mimeType?: string | undefined;
  /** How many bytes will come; a hint for readers. */
  readonly totalSize?: number | undefined;
}

export interface DatasetOptions extends ArtifactOptions {
  /** JSON Schema of one row. Rows that do not fit are refused. */
  readonly schema?: JsonObject | undefined;
  readonly totalRows?: number | undefined;
}

/** An open version of a file. Readers see it as it grows; it becomes current when it is closed. */
export interface ArtifactFile {
  /**
   * Adds text or bytes. Resolves once they are recorded, or wait in the piece of 256 KiB that is recorded next. The first
   * write decides whether the file is text.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Records the rest and makes the version current. Call it once. */
  close(): Promise<ArtifactRef>;
  /** The same as a web stream, for `pipeTo`. Closing the stream closes the file. */
  readonly stream: WritableStream<string | Uint8Array>;
}

/** An open version of a dataset. */
export interface ArtifactDataset {
  /** Adds a batch of rows; resolves once it is recorded. */
  write(rows: readonly JsonObject[]): Promise<void>;
  close(): Promise<ArtifactRef>;
}

/** The call that writes. */
export interface ArtifactCall {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly tenant: string;
  readonly nodeId: string;
  readonly callId: string;
  readonly agentId: string;
  /** Whether the task view shows the call as a tool call, which rows then name. Default true. */
  readonly isToolCall?: boolean;
  readonly redactor: Redactor | null;
  /** Writes rows; resolves once they are durable. */
  record(rows: readonly Emission[]): Promise<void>;
}

/** A version that is being written. */
export interface OpenArtifact<Piece> {
  write(piece: Piece): Promise<void>;
  close(): Promise<ArtifactRef>;
  /** Gives the version up. */
  abandon(): Promise<void>;
}

/** Names have been checked. Nothing is written before the first `write` or `close`. */
export interface ArtifactPort {
  file(call: ArtifactCall, name: string, options: FileOptions): OpenArtifact<string | Uint8Array>;
  dataset(call: ArtifactCall, name: string, options: DatasetOptions): OpenArtifact<readonly JsonObject[]>;
  data(call: ArtifactCall, name: string, record: JsonObject, options: ArtifactOptions): Promise<ArtifactRef>;
  /** Keeps the JSON text of a value, which is redacted already. `place` is its number among the values of the call. */
  value(call: ArtifactCall, text: string, place: number): Promise<ValueRef>;
}
