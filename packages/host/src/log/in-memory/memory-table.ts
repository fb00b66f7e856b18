/** Entries of every memory with the rows that kept and dropped them, so that a run reads a memory as of its start. */
import type { RunId } from '@cairn/protocol';
import type { MemoryChange } from '../memory-changes.ts';
import type { AsOf, MemoryRecordQuery } from '../ports/memories.ts';
import { rowAt, type StoredRun, stretchesOf } from './stored-run.ts';

export type KeptEntry = Extract<MemoryChange, { readonly kind: 'kept' }>;

interface Version {
  kept: KeptEntry | null;
  dropped: MemoryChange | null;
}

type Runs = ReadonlyMap<RunId, StoredRun>;

export class MemoryTable {
  readonly #runs: Runs;
  /** Keyed by tenant and reference as JSON text, then by memory id. */
  readonly #memories = new Map<string, Map<string, Version>>();

  constructor(runs: Runs) {
    this.#runs = runs;
  }

  apply(tenant: string, change: MemoryChange): void {
    const key = JSON.stringify([tenant, change.memoryRef]);
    const memory = this.#memories.get(key) ?? new Map<string, Version>();
    this.#memories.set(key, memory);
    const version = memory.get(change.memoryId) ?? { kept: null, dropped: null };
    memory.set(change.memoryId, version);
    if (change.kind === 'kept') version.kept ??= change;
    else version.dropped ??= change;
  }

  /** Removes what a run kept and what was dropped since. Returns the number of memories. */
  forgetDropped(runId: RunId): number {
    let removed = 0;
    for (const memory of this.#memories.values()) {
      for (const [id, { kept, dropped }] of memory) {
        if (kept?.runId !== runId || dropped === null) continue;
        memory.delete(id);
        removed += 1;
      }
    }
    return removed;
  }

  /** Removes what the runs wrote that still have their rows. Others were purged, and what they kept stays. */
  clear(): void {
    const isThere = (change: MemoryChange | null): boolean => change !== null && this.#runs.has(change.runId);
    for (const memory of this.#memories.values()) {
      for (const [id, version] of memory) {
        if (isThere(version.kept)) version.kept = null;
        if (isThere(version.dropped)) version.dropped = null;
        if (version.kept === null && version.dropped === null) memory.delete(id);
      }
    }
  }

  /** Newest first. */
  visible({ tenant, memoryRef, now, tag, asOf }: Omit<MemoryRecordQuery, 'limit'>): readonly KeptEntry[] {
    const isSeen = asOf === undefined ? () => true : this.#seenBy(tenant, asOf);
    const found: KeptEntry[] = [];
    for (const { kept, dropped } of this.#memories.get(JSON.stringify([tenant, memoryRef]))?.values() ?? []) {
      if (kept === null || (kept.expiresAt !== null && kept.expiresAt <= now)) continue;
      if (tag !== undefined && !kept.tags.includes(tag)) continue;
      if (isSeen(kept) && (dropped === null || !isSeen(dropped))) found.push(kept);
    }
    return found.sort((a, b) => b.cursor - a.cursor);
  }

  /** A run that the tenant does not own sees nothing. A fork sees what its source saw before the cut. */
  #seenBy(tenant: string, { runId, beforeSeq, turn }: AsOf): (change: MemoryChange) => boolean {
    const run = this.#runs.get(runId);
    if (run === undefined || run.head.record.tenant !== tenant) return () => false;
    const owners = stretchesOf(run);
    // A fork at the first row starts when its source did.
    const start = owners.at(-1)?.owner.rows[0]?.cursor;
    if (start === undefined) return () => false;
    const stretches = owners.map(({ owner, through }) => ({
      top: owner.head.record.runId,
      through: Math.min(through, beforeSeq),
      // What a run below the owner wrote counts if it ended before the last row that is shared with the owner.
      end: through === 0 ? 0 : (rowAt(run, Math.min(through - 1, beforeSeq))?.cursor ?? Number.POSITIVE_INFINITY),
    }));
    return (change) => {
      if (change.cursor <= start) return true;
      if (stretches.some(({ top, through }) => change.runId === top && change.seq < through))
        return change.turn !== turn;
      return this.#having(change).some((writer) =>
        stretches.some(({ top, end }) => hasEnded(writer, end) && this.#isBelow(writer.head.record.runId, top)),
      );
    };
  }

  /** The runs that have the row of a change: the one that wrote it, and its forks. */
  #having({ runId, seq }: MemoryChange): readonly StoredRun[] {
    return [...this.#runs.values()].filter((run) =>
      stretchesOf(run).some(({ owner, through }) => owner.head.record.runId === runId && seq < through),
    );
  }

  #isBelow(runId: RunId, top: RunId): boolean {
    const parent = this.#runs.get(runId)?.head.record.parentRunId ?? null;
    return parent !== null && (parent === top || this.#isBelow(parent, top));
  }
}

function hasEnded(run: StoredRun, before: number): boolean {
  const last = rowAt(run, run.head.seq);
  return last !== undefined && run.head.record.endedAt !== null && last.cursor < before;
}
