/** What the agents of a conversation made, beside it. An artifact fills as it is written. */
import type { ArtifactState, ConversationState } from '@cairn/client/context';
import { type LiveConversation, useEntry } from '@cairn/client/react';
import { Link } from '@tanstack/react-router';
import { artifactAddress, contentOfVersion } from '../artifacts/content.ts';
import { Preview } from '../artifacts/preview.tsx';
import { ScrollFrame } from '../parts/scroll-frame.tsx';
import { Mark } from '../parts/status.tsx';
import { useShownArtifact } from './shown-artifact.ts';

interface ArtifactPaneProps {
  readonly conversation: LiveConversation;
  readonly contextId: string;
  readonly state: ConversationState;
  readonly onClose: () => void;
}

export function ArtifactPane({ conversation, contextId, state, onClose }: ArtifactPaneProps) {
  const { shown, show } = useShownArtifact();
  const all = [...state.artifacts.values()];
  const writing = all.find(({ open }) => open !== null);
  const artifact = all.find(({ artifactId }) => artifactId === shown) ?? writing ?? all.at(-1);
  if (artifact === undefined) return null;
  return (
    <aside className="artifact-pane" aria-label="Artifacts">
      <div className="artifact-tabs">
        {all.map(({ artifactId, name }) => (
          <button
            key={artifactId}
            type="button"
            className="cut"
            aria-pressed={artifactId === artifact.artifactId}
            title={artifactId}
            onClick={() => show(artifactId)}
          >
            {lastPart(name ?? artifactId)}
          </button>
        ))}
        <button type="button" className="button close" data-kind="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <Opened key={artifact.artifactId} conversation={conversation} contextId={contextId} id={artifact.artifactId} />
    </aside>
  );
}

const lastPart = (name: string): string => name.split('/').at(-1) ?? name;

interface OpenedProps {
  readonly conversation: LiveConversation;
  readonly contextId: string;
  readonly id: string;
}

function Opened({ conversation, contextId, id }: OpenedProps) {
  const artifact = useEntry(conversation, 'artifacts', id);
  if (artifact === undefined) return null;
  const version = artifact.open ?? artifact.current;
  return (
    <>
      <div className="artifact-head">
        <Standing artifact={artifact} />
        <span className="grow" />
        {artifact.current !== null && (
          <>
            <Link to="/artifacts/$contextId/$artifactId" params={{ contextId, artifactId: id }}>
              Versions
            </Link>
            <a href={artifactAddress(contextId, id)} download>
              Download
            </a>
          </>
        )}
      </div>
      <ScrollFrame className="artifact-content">
        {version === null ? (
          <p className="second">Its writer gave it up before it was complete.</p>
        ) : (
          <Preview content={contentOfVersion(artifact, version)} />
        )}
      </ScrollFrame>
    </>
  );
}

const Standing = ({ artifact: { open, current } }: { readonly artifact: ArtifactState }) => (
  <span className="status" data-tone={open === null ? 'done' : 'working'} role="status">
    <Mark tone={open === null ? 'done' : 'working'} isMoving={open !== null} />
    {open === null ? `Version ${current?.version ?? '–'}` : 'Being written'}
  </span>
);
