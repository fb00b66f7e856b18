/** An artifact as it is, and as it fills while it is written. */
import type { ArtifactState } from '@cairn/client/context';
import { TerminalError } from '@cairn/protocol';
import { useEffect, useState } from 'react';
import { host } from '../app/host.ts';

export interface Watched {
  /** Null until it is known. */
  readonly artifact: ArtifactState | null;
  readonly error: unknown;
}

export function useWatched(contextId: string, artifactId: string): Watched {
  const [watched, setWatched] = useState<Watched>({ artifact: null, error: null });
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const { artifacts } = host.context(contextId);
    const follow = async () => {
      for await (const artifact of artifacts.watch(artifactId, { signal }))
        if (!signal.aborted) setWatched({ artifact, error: null });
    };
    const fail = (error: unknown) => {
      if (!signal.aborted) setWatched((before) => ({ ...before, error }));
    };
    // The stream of an artifact that nobody writes would stay silent.
    refuseUnknown(contextId, artifactId, signal).then(follow).catch(fail);
    return () => ended.abort();
  }, [contextId, artifactId]);
  return watched;
}

/** The page of the list that holds the artifact begins right before it. */
async function refuseUnknown(contextId: string, artifactId: string, signal: AbortSignal): Promise<void> {
  const { artifacts } = host.context(contextId);
  let after: string | undefined;
  do {
    const page = await artifacts.list(after === undefined ? {} : { after }, { signal });
    if (page.artifacts.some((entry) => entry.artifactId === artifactId)) return;
    after = page.next ?? undefined;
  } while (after !== undefined);
  throw new TerminalError('not_found', {
    message: `The context has no artifact ${artifactId.slice(0, 200)}.`,
    hint: 'Its writer may have given it up, or its run was purged.',
  });
}
