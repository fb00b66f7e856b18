/** The contexts of several pages. One whose runs are on two of them is in both. */
import type { ArtifactOverview } from '@cairn/protocol';

export type ContextArtifacts = ArtifactOverview['contexts'][number];

/** Each once, where it comes first, told by its oldest run that is known. */
export function contextsOf(found: readonly ContextArtifacts[]): readonly ContextArtifacts[] {
  const contexts = new Map<string, ContextArtifacts>();
  for (const context of found) {
    const known = contexts.get(context.contextId);
    const { runId, workflowId, title, startedAt } = context;
    contexts.set(
      context.contextId,
      known === undefined
        ? context
        : { ...known, runId, workflowId, startedAt, ...(title === undefined ? {} : { title }) },
    );
  }
  return [...contexts.values()];
}
