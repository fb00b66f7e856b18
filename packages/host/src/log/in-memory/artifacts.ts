/** Artifacts in memory: a fold over the rows of the context, and the claims beside it. */
import { type ArtifactView, foldArtifacts, foldEventOf, newArtifactsView } from '@cairn/protocol';
import { claimedVersion, isArtifactRow, type NewestPieces, type NewestVersion } from '../artifact-changes.ts';
import type { ArtifactClaim, ArtifactSummary, Artifacts, ArtifactVersion } from '../ports/artifacts.ts';
import type { Row } from '../ports/rows.ts';
import { allRows } from './stored-run.ts';
import type { Tables } from './tables.ts';

interface Claimed extends ArtifactClaim {
  readonly version: number;
  isAbandoned: boolean;
}

export function inMemoryArtifacts(tables: Tables): Artifacts {
  const claims: Claimed[] = [];
  const isSame = (a: Pick<ArtifactClaim, 'contextId' | 'artifactId'>, b: typeof a): boolean =>
    a.contextId === b.contextId && a.artifactId === b.artifactId;
  const versionsOf = (contextId: string, artifactId: string): readonly ArtifactVersion[] =>
    (viewOf(tables, contextId)[artifactId]?.versions ?? []).map((version) => {
      const isGivenUp = claims.some(
        (one) =>
          one.contextId === contextId &&
          one.artifactId === artifactId &&
          one.version === version.version &&
          one.isAbandoned,
      );
      const state = isGivenUp && version.state === 'open' ? 'abandoned' : version.state;
      const { pieces: _, ...fields } = version;
      return { ...fields, state, artifactId };
    });
  const newestOf = (claim: ArtifactClaim): NewestVersion | null => {
    const stored = versionsOf(claim.contextId, claim.artifactId).at(-1);
    const claimed = claims.findLast((one) => isSame(one, claim));
    const isClaimed = claimed !== undefined && claimed.version > (stored?.version ?? 0);
    if (isClaimed) {
      const { version, runId, writer, isAbandoned } = claimed;
      const state = isAbandoned ? 'abandoned' : 'claimed';
      return { version, runId, writer, state, hasRunEnded: hasEnded(tables, claimed.runId) };
    }
    if (stored === undefined) return null;
    const writer = claimed?.version === stored.version ? claimed.writer : null;
    return { ...stored, writer, hasRunEnded: hasEnded(tables, stored.runId) };
  };
  const currentOf = (contextId: string, artifactId: string): ArtifactVersion | null =>
    versionsOf(contextId, artifactId).findLast(({ state }) => state === 'complete') ?? null;
  const summaryOf = (contextId: string, id: string): ArtifactSummary | null => {
    const open = versionsOf(contextId, id).findLast(({ state }) => state === 'open') ?? null;
    const current = currentOf(contextId, id);
    return open === null && current === null ? null : { current, open };
  };
  return {
    claim: async (claim) => {
      tables.assertOpen();
      const current = currentOf(claim.contextId, claim.artifactId)?.version ?? 0;
      const version = claimedVersion(claim, newestOf(claim), current);
      claims.push({ ...claim, version, isAbandoned: false });
      return version;
    },
    abandon: async ({ runId, writer, ...of }) => {
      for (const one of claims) {
        const isOwn = one.runId === runId && one.writer.life === writer.life && one.writer.callId === writer.callId;
        if (isOwn && isSame(one, of)) one.isAbandoned = true;
      }
    },
    list: async (contextId, { after = '', limit }) => {
      tables.assertOpen();
      const found: ArtifactSummary[] = [];
      for (const id of Object.keys(viewOf(tables, contextId)).sort()) {
        if (id <= after || found.length >= limit) continue;
        const summary = summaryOf(contextId, id);
        if (summary !== null) found.push(summary);
      }
      return found;
    },
    summary: async (contextId, artifactId) => {
      tables.assertOpen();
      return summaryOf(contextId, artifactId);
    },
    get: async (contextId, artifactId, version) => {
      tables.assertOpen();
      if (version === undefined) return currentOf(contextId, artifactId);
      return versionsOf(contextId, artifactId).find((one) => one.version === version) ?? null;
    },
  };
}

/** As admission sees it: claims do not count. */
export function newestPieces(tables: Tables, contextId: string, artifactId: string): NewestPieces | null {
  const view = viewOf(tables, contextId);
  const newest = Object.hasOwn(view, artifactId) ? view[artifactId]?.versions.at(-1) : undefined;
  return newest === undefined ? null : { ...newest };
}

const hasEnded = (tables: Tables, runId: string): boolean =>
  [...tables.runs().values()].find(({ head }) => head.record.runId === runId)?.head.record.endedAt !== null;

function viewOf(tables: Tables, contextId: string): Readonly<Record<string, ArtifactView>> {
  const view = newArtifactsView();
  const runs = [...tables.runs().values()].filter(({ head }) => head.record.contextId === contextId);
  const rows = runs.flatMap((run) => [...allRows(run)]).sort((a, b) => a.cursor - b.cursor);
  for (const row of rows)
    if (isArtifactRow(row) || isEnd(row)) foldArtifacts(view, Object.assign(foldEventOf(row), { runId: row.runId }));
  return view.artifacts;
}

const isEnd = ({ type }: Row): boolean => /^run\.(?:completed|failed|cancelled)$/.test(type);
