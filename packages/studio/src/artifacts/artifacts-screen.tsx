/** The artifacts of the latest contexts, newest first, each under the run that it belongs to. */
import type { ArtifactEntry } from '@cairn/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { isAgentRun } from '../agents/agent-runs.ts';
import { host } from '../app/host.ts';
import { Command } from '../parts/copied.tsx';
import { DocsLink } from '../parts/docs-link.tsx';
import { Placeholders } from '../parts/placeholders.tsx';
import { Problem } from '../parts/problem.tsx';
import { Mark } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { useInView } from '../parts/use-in-view.ts';
import { bytes } from '../run/words.ts';
import { useKeys } from '../shell/keys.tsx';
import './artifacts.css';
import { type ContextArtifacts, contextsOf } from './contexts.ts';

const EVERY_MS = 5_000;

export function ArtifactsScreen() {
  const list = useInfiniteQuery({
    queryKey: ['artifacts'],
    queryFn: ({ pageParam, signal }) => host.artifacts(pageParam === null ? {} : { cursor: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: EVERY_MS,
  });
  const { error, isPending: isLoading } = list;
  const groups = contextsOf(list.data?.pages.flatMap((page) => page.contexts) ?? []);
  const places = groups.flatMap((context) => context.artifacts.map((artifact) => ({ context, artifact })));
  const current = useMoves(places);
  useInView(current === null ? null : String(current), '.artifact-row[data-current]');
  return (
    <div className="artifacts">
      <h1 className="label">Artifacts of the latest runs</h1>
      {error !== null && (
        <div className="state">
          <Problem error={error} onRetry={() => void list.refetch()} />
        </div>
      )}
      {isLoading && error === null && <Bones />}
      {!isLoading && error === null && groups.length === 0 && <Nothing />}
      {groups.map((context) => (
        <section key={context.contextId} className="artifact-group" aria-label={context.workflowId}>
          <Head context={context} />
          <ul>
            {context.artifacts.map((artifact) => (
              <li key={artifact.artifactId}>
                <Row
                  context={context}
                  artifact={artifact}
                  isCurrent={current !== null && places[current]?.artifact === artifact}
                />
              </li>
            ))}
          </ul>
          {context.more && <p className="second more">And more, which the context lists.</p>}
        </section>
      ))}
      {list.hasNextPage && !isLoading && (
        <button
          type="button"
          className="button older"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          Older artifacts
        </button>
      )}
    </div>
  );
}

interface Place {
  readonly context: ContextArtifacts;
  readonly artifact: ArtifactEntry;
}

function useMoves(places: readonly Place[]): number | null {
  const [at, setAt] = useState<number | null>(null);
  const navigate = useNavigate();
  const move = (step: number) =>
    setAt((before) => Math.min(Math.max((before ?? -1) + step, 0), Math.max(0, places.length - 1)));
  const open = () => {
    const place = at === null ? undefined : places[at];
    if (place === undefined) return;
    const { contextId } = place.context;
    void navigate({
      to: '/artifacts/$contextId/$artifactId',
      params: { contextId, artifactId: place.artifact.artifactId },
    });
  };
  useKeys([
    { key: 'j', label: 'Next artifact', run: () => move(1) },
    { key: 'k', label: 'Previous artifact', run: () => move(-1) },
    { key: 'Enter', label: 'Open the artifact', run: open },
  ]);
  return at;
}

function Head({ context }: { readonly context: ContextArtifacts }) {
  const { contextId, runId, workflowId, title, startedAt } = context;
  const isTalk = isAgentRun(workflowId);
  return (
    <header className="artifact-group-head">
      <h2 className="cut">{title ?? workflowId}</h2>
      <span className="second cut">{title === undefined || isTalk ? '' : workflowId}</span>
      <span className="second">
        <Ago at={startedAt} />
      </span>
      {isTalk ? (
        <Link to="/chat/$contextId" params={{ contextId }}>
          Conversation
        </Link>
      ) : (
        <Link to="/runs/$runId" params={{ runId }}>
          Run
        </Link>
      )}
    </header>
  );
}

interface RowProps extends Place {
  readonly isCurrent: boolean;
}

const Row = ({ context: { contextId }, artifact, isCurrent }: RowProps) => {
  const { artifactId, name, mimeType, family, version, open, size, updatedAt } = artifact;
  return (
    <Link
      to="/artifacts/$contextId/$artifactId"
      params={{ contextId, artifactId }}
      className="artifact-row"
      data-current={isCurrent || undefined}
    >
      <span className="status" data-tone={open ? 'working' : 'done'}>
        <Mark tone={open ? 'working' : 'done'} isMoving={open} />
        <span className="only-read">{open ? 'being written' : 'complete'}</span>
      </span>
      <span className="cut name">{name ?? artifactId}</span>
      <span className="second cut type">{mimeType ?? family}</span>
      <span className="second figure">{version === 0 ? 'first version' : `version ${version}`}</span>
      <span className="second figure">{family === 'dataset' ? '' : bytes(size)}</span>
      <span className="second figure">
        <Ago at={updatedAt} />
      </span>
    </Link>
  );
};

const Bones = () => (
  <div role="status" aria-busy="true">
    <span className="only-read">Loading the artifacts</span>
    <Placeholders count={3}>
      <div className="artifact-group" aria-hidden="true">
        <div className="artifact-group-head" />
        <Placeholders count={2}>
          <div className="artifact-row">
            <span className="bone" />
          </div>
        </Placeholders>
      </div>
    </Placeholders>
  </div>
);

const Nothing = () => (
  <div className="state">
    <h2>No artifacts yet</h2>
    <p>
      An artifact is a file, a record or a table that an agent or a person writes, with all of its versions. Make one:
    </p>
    <Command text={'npx cairn run research-crew --input topic="tidal power"'} />
    <p>The researcher leaves notes, and the writer a brief.</p>
    <DocsLink page="guides/artifacts">How agents write artifacts</DocsLink>
  </div>
);
