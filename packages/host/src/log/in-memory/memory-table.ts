/** Entries of every memory with the rows that kept and dropped them, so that a run reads a memory as of its start. */
import type { RunId } from '@cairn/protocol';
import type { FullHead } from '../admit.ts';
import type { MemoryChange } from '../memory-changes.ts';
import type { AsOf, MemoryRecordQuery } from '../ports/memories.ts';
import type { Row } from '../ports/rows.ts';

export type KeptEntry = Extract<MemoryChange, { readonly kind: 'kept' }>;

interface Version {
  kept: KeptEntry | null;
  dropped: MemoryChange | null;
}

/** The run data that the table needs. */
type Runs = ReadonlyMap<RunId, { readonly head: Pick<FullHead, 'record'>; readonly rows: readonly Row[] }>;

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

  clear(): void {
    this.#memories.clear();
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

  /** A run that the tenant does not own sees nothing. */
  #seenBy(tenant: string, { runId, beforeSeq, turn }: AsOf): (change: MemoryChange) => boolean {
    const run = this.#runs.get(runId);
    const start = run?.rows[0]?.cursor;
    if (start === undefined || run?.head.record.tenant !== tenant) return () => false;
    const end = run.rows[beforeSeq]?.cursor ?? Number.POSITIVE_INFINITY;
    return (change) => {
      if (change.cursor <= start) return true;
      if (change.runId === runId) return change.seq < beforeSeq && change.turn !== turn;
      return this.#hasEnded(change.runId, end) && this.#isBelow(change.runId, runId);
    };
  }

  #hasEnded(runId: RunId, before: number): boolean {
    const run = this.#runs.get(runId);
    const last = run?.rows.at(-1);
    return last !== undefined && run?.head.record.endedAt !== null && last.cursor < before;
  }

  #isBelow(runId: RunId, top: RunId): boolean {
    const parent = this.#runs.get(runId)?.head.record.parentRunId ?? null;
    return parent !== null && (parent === top || this.#isBelow(parent, top));
  }
}
