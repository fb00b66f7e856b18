/** What agents remember, in the memory store: a list of changes, read from its end, and the plainest way to search it. */
import type { RunId } from '@cairn/protocol';
import type { Remembered, RememberedEntry, RememberedQuery, Sight } from '../ports/memories.ts';
import type { Row } from '../ports/rows.ts';
import type { RunRecord } from '../ports/run-index.ts';
import type { RememberedChange } from '../remembered-changes.ts';
import { type Phrase, phrasesIn, wordsIn } from '../search-words.ts';

/** A run and its rows. */
export interface KnownRun {
  readonly record: Pick<RunRecord, 'tenant' | 'parentRunId' | 'endedAt'>;
  readonly rows: readonly Row[];
}

export type FindRun = (runId: RunId) => KnownRun | undefined;

type Kept = Extract<RememberedChange, { readonly kind: 'kept' }>;

interface Version {
  kept: Kept | null;
  dropped: RememberedChange | null;
}

export class MemoryRemembered implements Remembered {
  readonly #find: FindRun;
  /** By tenant and reference, as one JSON text; then by id. */
  readonly #memories = new Map<string, Map<string, Version>>();

  constructor(find: FindRun) {
    this.#find = find;
  }

  apply(tenant: string, change: RememberedChange): void {
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

  async remembered(query: RememberedQuery): Promise<readonly RememberedEntry[]> {
    return this.#visible(query).slice(0, query.limit).map(entryOf);
  }

  async rememberedEntry(query: Omit<RememberedQuery, 'limit' | 'tag'>, id: string): Promise<RememberedEntry | null> {
    const found = this.#visible(query).find(({ memoryId }) => memoryId === id);
    return found === undefined ? null : entryOf(found);
  }

  async searchRemembered(query: RememberedQuery, text: string): Promise<readonly RememberedEntry[]> {
    const visible = this.#visible(query).map((kept) => ({ kept, words: wordsIn(kept.content), score: 0 }));
    for (const phrase of phrasesIn(text)) {
      const hits = visible.filter(({ words }) => holds(words, phrase));
      // A word that few entries hold tells more than one that all do.
      for (const hit of hits) hit.score += Math.log(1 + visible.length / hits.length);
    }
    const best = visible.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    return best.slice(0, query.limit).map(({ kept }) => entryOf(kept));
  }

  /** Newest first. */
  #visible({ tenant, memoryRef, now, tag, sight }: Omit<RememberedQuery, 'limit'>): readonly Kept[] {
    const isSeen = sight === undefined ? () => true : this.#sightOf(tenant, sight);
    const found: Kept[] = [];
    for (const { kept, dropped } of this.#memories.get(JSON.stringify([tenant, memoryRef]))?.values() ?? []) {
      if (kept === null || (kept.expiresAt !== null && kept.expiresAt <= now)) continue;
      if (tag !== undefined && !kept.tags.includes(tag)) continue;
      if (isSeen(kept) && (dropped === null || !isSeen(dropped))) found.push(kept);
    }
    return found.sort((a, b) => b.cursor - a.cursor);
  }

  /** Nothing for a run that the tenant does not have. */
  #sightOf(tenant: string, { runId, beforeSeq, turn }: Sight): (change: RememberedChange) => boolean {
    const run = this.#find(runId);
    const start = run?.rows[0]?.cursor;
    if (start === undefined || run?.record.tenant !== tenant) return () => false;
    const asked = run.rows[beforeSeq]?.cursor ?? Number.POSITIVE_INFINITY;
    return (change) => {
      if (change.cursor <= start) return true;
      if (change.runId === runId) return change.seq < beforeSeq && change.turn !== turn;
      return this.#hasEnded(change.runId, asked) && this.#isBelow(change.runId, runId);
    };
  }

  #hasEnded(runId: RunId, before: number): boolean {
    const { record, rows } = this.#find(runId) as KnownRun;
    return record.endedAt !== null && (rows.at(-1) as Row).cursor < before;
  }

  #isBelow(runId: RunId, top: RunId): boolean {
    const parent = this.#find(runId)?.record.parentRunId ?? null;
    return parent !== null && (parent === top || this.#isBelow(parent, top));
  }
}

const holds = (words: readonly string[], phrase: Phrase): boolean =>
  words.some((_, start) => phrase.every((word, i) => words[start + i] === word));

const entryOf = ({ memoryId, content, tags, at, expiresAt }: Kept): RememberedEntry => ({
  id: memoryId,
  content,
  tags,
  createdAt: at,
  expiresAt,
});
