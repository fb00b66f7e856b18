/** An artifact in the conversation: one line that opens it beside the conversation. */
import { useEntry } from '@cairn/client/react';
import { memo } from 'react';
import { Mark } from '../parts/status.tsx';
import type { EntryProps } from './entry-props.ts';
import { useShownArtifact } from './shown-artifact.ts';

export const ArtifactLine = memo(function ArtifactLine({ conversation, id }: EntryProps) {
  const artifact = useEntry(conversation, 'artifacts', id);
  const { show } = useShownArtifact();
  if (artifact === undefined) return null;
  const { open, current, name, artifactId, mimeType, family } = artifact;
  return (
    <button type="button" className="artifact-line" onClick={() => show(artifactId)}>
      <span className="status" data-tone={open === null ? 'done' : 'working'}>
        <Mark tone={open === null ? 'done' : 'working'} isMoving={open !== null} />
      </span>
      <strong className="cut">{name ?? artifactId}</strong>
      <span className="label">
        {open !== null ? 'being written' : current === null ? 'given up' : `version ${current.version ?? '?'}`}
      </span>
      <span className="label cut">{mimeType ?? family}</span>
    </button>
  );
});
