/** An artifact in the conversation: one line that opens it beside the conversation. */
import type { ArtifactState } from '@cairn/client/context';
import { useEntry } from '@cairn/client/react';
import { memo } from 'react';
import { Mark } from '../parts/status.tsx';
import type { EntryProps } from './entry-props.ts';
import { useShownArtifact } from './shown-artifact.ts';

interface ArtifactLineProps extends EntryProps {
  /** The task whose turn it stands in. */
  readonly taskId: string;
}

export const ArtifactLine = memo(function ArtifactLine({ conversation, id, taskId }: ArtifactLineProps) {
  const artifact = useEntry(conversation, 'artifacts', id);
  const { show } = useShownArtifact();
  if (artifact === undefined) return null;
  const { open, name, artifactId, mimeType, family } = artifact;
  return (
    <button type="button" className="artifact-line" onClick={() => show(artifactId)}>
      <span className="status" data-tone={open === null ? 'done' : 'working'}>
        <Mark tone={open === null ? 'done' : 'working'} isMoving={open !== null} />
      </span>
      <strong className="cut">{name ?? artifactId}</strong>
      <span className="label">{stateWords(artifact, taskId)}</span>
      <span className="label cut">{mimeType ?? family}</span>
    </button>
  );
});

/** Only the newest version is known with its task: a turn before it does not claim it. */
function stateWords({ open, current }: ArtifactState, taskId: string): string {
  if (open !== null) return open.taskId === taskId ? 'being written' : 'being changed since';
  if (current === null) return 'given up';
  return current.taskId === taskId ? `version ${current.version ?? '?'}` : 'changed since';
}
