/** The blobs of the in-memory store, and the runs whose rows name them. */
import type { RunId } from '@cairn/protocol';
import { type OwnBytes, UNNAMED_BLOB_MS } from '../ports/blobs.ts';

interface KeptBlob {
  readonly bytes: OwnBytes;
  putAt: number;
  /** The runs whose rows name it. */
  readonly runs: Set<RunId>;
}

/** The blobs of every tenant. */
export class BlobTable {
  readonly #tenants = new Map<string, Map<string, KeptBlob>>();

  of(tenant: string): Map<string, KeptBlob> {
    const known = this.#tenants.get(tenant) ?? new Map<string, KeptBlob>();
    this.#tenants.set(tenant, known);
    return known;
  }

  bytesOf(tenant: string): number {
    let total = 0;
    for (const { bytes } of this.#tenants.get(tenant)?.values() ?? []) total += bytes.length;
    return total;
  }

  name(tenant: string, runId: RunId, names: readonly string[]): void {
    for (const sha256 of names) this.of(tenant).get(sha256)?.runs.add(runId);
  }

  /** Removes the references of a purged run, and the blobs that nothing names any more. */
  forget(tenant: string, runId: RunId, at: number): void {
    for (const [sha256, { runs, putAt }] of this.of(tenant)) {
      if (!runs.delete(runId) || runs.size > 0 || putAt > at - UNNAMED_BLOB_MS) continue;
      this.of(tenant).delete(sha256);
    }
  }

  sweep(before: number): number {
    let removed = 0;
    for (const blobs of this.#tenants.values()) {
      for (const [sha256, { runs, putAt }] of blobs) {
        if (runs.size > 0 || putAt >= before) continue;
        blobs.delete(sha256);
        removed += 1;
      }
    }
    return removed;
  }
}
