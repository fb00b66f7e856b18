/** One artifact: its content, every version of it, and what differs between two of them. */
import type { ArtifactState } from '@cairn/client/context';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import { ScrollFrame } from '../parts/scroll-frame.tsx';
import { Mark } from '../parts/status.tsx';
import { useKeys } from '../shell/keys.tsx';
import './artifacts.css';
import { artifactAddress, contentOfReading, contentOfVersion } from './content.ts';
import { Preview } from './preview.tsx';
import { useWatched } from './use-watched.ts';
import { VersionDiff } from './version-diff.tsx';
import { VersionTools } from './version-tools.tsx';
import type { VersionSearch } from './versions.ts';

interface ArtifactScreenProps {
  readonly contextId: string;
  readonly artifactId: string;
  readonly search: VersionSearch;
}

export function ArtifactScreen({ contextId, artifactId, search }: ArtifactScreenProps) {
  const navigate = useNavigate();
  const { artifact, error } = useWatched(contextId, artifactId);
  const last = artifact?.current?.version ?? 0;
  const shown = search.version ?? (last > 0 ? last : null);
  const go = (next: VersionSearch) =>
    void navigate({
      to: '/artifacts/$contextId/$artifactId',
      params: { contextId, artifactId },
      search: next,
      replace: true,
    });
  const step = (by: number) => {
    if (shown !== null) go({ version: Math.min(Math.max(shown + by, 1), Math.max(last, 1)) });
  };
  useKeys([
    { key: '[', label: 'Version before', run: () => step(-1) },
    { key: ']', label: 'Version after', run: () => step(1) },
    {
      key: 'd',
      label: 'Compare with the version before',
      run: () => shown !== null && shown > 1 && go({ version: shown, against: shown - 1 }),
      inPalette: true,
    },
  ]);
  if (error !== null)
    return (
      <div className="state">
        <Problem error={error} />
        <Link to="/artifacts">All artifacts</Link>
      </div>
    );
  const place = { contextId, artifactId, version: shown };
  return (
    <div className="artifact">
      <Head {...place} artifact={artifact} />
      <VersionTools last={last} shown={shown} against={search.against ?? null} go={go} />
      <ScrollFrame className="artifact-body">
        {artifact === null ? (
          <span className="bone" aria-hidden="true" />
        ) : (
          <Body {...place} artifact={artifact} search={search} />
        )}
      </ScrollFrame>
    </div>
  );
}

interface Place {
  readonly contextId: string;
  readonly artifactId: string;
  /** Null while there is no complete one. */
  readonly version: number | null;
}

const Head = ({ contextId, artifactId, version, artifact }: Place & { readonly artifact: ArtifactState | null }) => (
  <header className="artifact-title">
    <Link to="/artifacts" className="button" data-kind="plain" aria-label="All artifacts">
      ‹
    </Link>
    <h1 className="cut" title={artifactId}>
      {artifact?.name ?? artifactId}
    </h1>
    <span className="second cut">{artifact?.mimeType ?? artifact?.family ?? ''}</span>
    <span className="grow" />
    {artifact !== null && artifact.open !== null && (
      <span className="status" data-tone="working" role="status">
        <Mark tone="working" isMoving /> Being written
      </span>
    )}
    {artifact?.current?.version === version && artifact.current !== null && (
      <Link className="button" data-kind="plain" to="/runs/$runId" params={{ runId: artifact.current.taskId }}>
        Its run
      </Link>
    )}
    {version !== null && (
      <a className="button" href={artifactAddress(contextId, artifactId, version)} download>
        Download
      </a>
    )}
  </header>
);

interface BodyProps extends Place {
  readonly artifact: ArtifactState;
  readonly search: VersionSearch;
}

/** What is being written comes first, unless the address asks for a version. */
function Body({ contextId, artifactId, version, artifact, search }: BodyProps) {
  const { open, family, name } = artifact;
  if (open !== null && search.version === undefined) return <Preview content={contentOfVersion(artifact, open)} />;
  if (version === null) return <p className="second">Its writer gave it up before the first version was complete.</p>;
  const place = { contextId, artifactId, family };
  if (search.against !== undefined) return <VersionDiff {...place} from={search.against} to={version} />;
  return <Stored {...place} version={version} name={name ?? artifactId} />;
}

interface StoredProps {
  readonly contextId: string;
  readonly artifactId: string;
  readonly family: ArtifactState['family'];
  readonly version: number;
  readonly name: string;
}

/** A version never changes, so that it is read once. */
function Stored({ contextId, artifactId, family, version, name }: StoredProps) {
  const content = useQuery({
    queryKey: ['artifact', contextId, artifactId, version],
    queryFn: async ({ signal }) => {
      const reading = await host.context(contextId).artifacts.read(artifactId, { version, signal });
      const address = artifactAddress(contextId, artifactId, version);
      return contentOfReading(reading, { family, name, address });
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (content.isError) return <Problem error={content.error} onRetry={() => void content.refetch()} />;
  if (content.data === undefined) return <span className="bone" aria-hidden="true" />;
  return <Preview content={content.data} />;
}
