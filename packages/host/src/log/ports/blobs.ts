/**
 * Blobs: immutable bytes beside the log, named by their sha256. An artifact of any size is a list of blobs, so that it is
 * written and read one piece at a time.
 *
 * Rows name blobs, and the store counts the references in the append that writes such a row. A blob that a row names
 * exists as long as the row does.
 */

export interface Blobs {
  /**
   * Keeps bytes for a tenant; they are durable when it resolves. Bytes that the tenant has already take no more space.
   * Fails with `quota_exceeded` when the tenant's blobs and events together would take more than `maxTenantBytes`.
   */
  put(blob: NewBlob): Promise<BlobRef>;
  /** The bytes of a blob; null when the tenant has no such blob. */
  get(tenant: string, sha256: string): Promise<OwnBytes | null>;
  /** Bytes of the tenant's blobs, each counted once. */
  tenantBytes(tenant: string): Promise<number>;
  /** Removes some blobs that no row names and that were not put since `before`. Returns how many; 0 at the end. */
  sweepSome(before: number): Promise<number>;
}

/** Bytes in memory of the reader alone: it may change them, or free the memory. */
export type OwnBytes = Uint8Array<ArrayBuffer>;

export interface NewBlob {
  readonly tenant: string;
  /** At least one byte, at most `MAX_BLOB_BYTES`. */
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly maxTenantBytes?: number | undefined;
}

/** How a row names a blob. */
export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}

/** Largest blob: one transaction of the SQLite store, which holds the event loop for about 1 ms. */
export const MAX_BLOB_BYTES = 262_144;

/**
 * A writer puts a blob, then appends the row that names it. Within this time after the put nothing removes the blob,
 * even when the last row that named it is purged in between.
 */
export const UNNAMED_BLOB_MS = 3_600_000;
