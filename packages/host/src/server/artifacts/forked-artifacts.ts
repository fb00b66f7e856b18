/**
 * The artifacts of contexts that forks created. The index has what the forked runs wrote. Artifacts that the context of the
 * source had at the cut are read from there, and their next version gets the next number.
 */
import type { ContextId } from '@cairn/protocol';
import type { ArtifactPage, ArtifactSummary, Artifacts, ArtifactVersion } from '../../log/ports/artifacts.ts';
import { contextHistory, type HistoryPart } from '../../log/ports/context-history.ts';
import type { Store } from '../../log/ports/store.ts';
import { LruMap } from '../../lru-map.ts';

type ArtifactStore = Pick<Store, 'log' | 'artifacts'>;
/** The contexts that a context continues. Almost all continue none. */
type Earlier = readonly HistoryPart[];
type Found = ArtifactVersion | null;

/** Contexts that are known to continue no other. */
const KEPT = 10_000;
/** Maximum number of versions after the cut to skip when looking for the last one before it. */
const MAX_PASSED = 200;

export function forkedArtifacts(store: ArtifactStore): Artifacts {
  const { log, artifacts } = store;
  const without = new LruMap<ContextId, true>(KEPT);
  const earlierOf = async (contextId: ContextId): Promise<Earlier> => {
    if (without.get(contextId) === true) return [];
    const earlier = (await contextHistory(log, contextId)).slice(0, -1);
    if (earlier.length === 0) without.set(contextId, true);
    return earlier;
  };
  return {
    async claim(claim) {
      const old = await newestIn(store, await earlierOf(claim.contextId), claim.artifactId);
      return artifacts.claim(old === null ? claim : { ...claim, earlierVersion: old.version });
    },
    abandon: (claim) => artifacts.abandon(claim),
    async list(contextId, page) {
      const earlier = await earlierOf(contextId);
      return earlier.length === 0 ? artifacts.list(contextId, page) : listed(store, contextId, earlier, page);
    },
    summary: async (contextId, id) => summaryOf(store, contextId, await earlierOf(contextId), id),
    async get(contextId, id, version) {
      const [own, earlier] = [await artifacts.get(contextId, id, version), await earlierOf(contextId)];
      if (version === undefined) return newer(own, await newestIn(store, earlier, id));
      return own ?? (await numberedIn(store, earlier, id, version));
    },
  };
}

const newer = (own: Found, old: Found): Found => (old !== null && old.version > (own?.version ?? 0) ? old : own);

const isBefore = async ({ log }: ArtifactStore, cursor: number, version: ArtifactVersion): Promise<boolean> =>
  version.state === 'complete' && (await log.rowsUntil(version.runId, cursor)) > version.lastSeq;

async function numberedIn(store: ArtifactStore, earlier: Earlier, id: string, version: number): Promise<Found> {
  for (const { contextId, through } of earlier.toReversed()) {
    const found = await store.artifacts.get(contextId, id, version);
    if (found !== null && (await isBefore(store, through, found))) return found;
  }
  return null;
}

/** A run that was not forked may have written after one that was, so the newest version can be in any part. */
async function newestIn(store: ArtifactStore, earlier: Earlier, id: string): Promise<Found> {
  let newest: Found = null;
  for (const part of earlier) newest = newer(newest, await currentAt(store, part, id));
  return newest;
}

/** The version that was current at the end of a part. */
async function currentAt(store: ArtifactStore, part: HistoryPart, id: string): Promise<Found> {
  const newest = await store.artifacts.get(part.contextId, id);
  if (newest === null || (await isBefore(store, part.through, newest))) return newest;
  for (let passed = 1; passed <= MAX_PASSED && passed < newest.version; passed += 1) {
    const found = await numberedIn(store, [part], id, newest.version - passed);
    if (found !== null) return found;
  }
  return null;
}

async function summaryOf(
  store: ArtifactStore,
  contextId: ContextId,
  earlier: Earlier,
  id: string,
): Promise<ArtifactSummary | null> {
  const own = await store.artifacts.summary(contextId, id);
  const old = await newestIn(store, earlier, id);
  if (own === null && old === null) return null;
  return { current: newer(own?.current ?? null, old), open: own?.open ?? null };
}

async function listed(
  store: ArtifactStore,
  contextId: ContextId,
  earlier: Earlier,
  { after = '', limit }: ArtifactPage,
): Promise<readonly ArtifactSummary[]> {
  const contexts = [contextId, ...earlier.map((part) => part.contextId)];
  const found: ArtifactSummary[] = [];
  for (let at = after; found.length < limit; ) {
    const ids = await idsIn(store, contexts, { after: at, limit });
    for (const id of ids) {
      const summary = found.length < limit ? await summaryOf(store, contextId, earlier, id) : null;
      if (summary !== null) found.push(summary);
    }
    if (ids.length < limit) break;
    at = ids.at(-1) ?? at;
  }
  return found;
}

/** The first ids of all the contexts together. */
async function idsIn(store: ArtifactStore, contexts: readonly ContextId[], page: Required<ArtifactPage>) {
  const ids = new Set<string>();
  for (const contextId of contexts) {
    for (const { current, open } of await store.artifacts.list(contextId, page)) {
      const id = (current ?? open)?.artifactId;
      if (id !== undefined) ids.add(id);
    }
  }
  return [...ids].sort().slice(0, page.limit);
}
