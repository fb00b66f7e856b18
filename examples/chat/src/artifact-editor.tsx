/** Edits a text. If somebody else saved meanwhile, the user sees so and decides. */
import { ArtifactConflict, type ArtifactVersionState } from '@cairn/client/context';
import { useId, useState } from 'react';
import type { EntryProps } from './entry-props.ts';
import { useAction } from './use-action.ts';

interface EditorProps extends EntryProps {
  readonly version: ArtifactVersionState;
  readonly onSaved: () => void;
}

export function ArtifactEditor({ conversation, id, version, onSaved }: EditorProps) {
  const action = useAction();
  const [text, setText] = useState(version.text);
  /** The version that the edit is of. */
  const [base, setBase] = useState(version.version ?? 0);
  const [isConflict, setConflict] = useState(false);
  const fieldId = useId();

  async function save() {
    setConflict(false);
    try {
      await conversation.artifacts.save(id, text, { version: base });
      onSaved();
    } catch (error) {
      if (!(error instanceof ArtifactConflict)) throw error;
      setConflict(true);
      setBase(error.currentVersion);
    }
  }

  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        action.run(save);
      }}
    >
      <div className="field">
        <label htmlFor={fieldId}>Your text</label>
        <textarea id={fieldId} rows={10} value={text} onChange={(event) => setText(event.target.value)} />
      </div>
      {isConflict && (
        <p className="failure" role="alert">
          Somebody else wrote version {base} meanwhile. Save again to replace it.
        </p>
      )}
      {action.failure !== null && (
        <p className="failure" role="alert">
          {action.failure}
        </p>
      )}
      <button type="submit" className="main" disabled={action.isBusy || text === version.text}>
        Save
      </button>
    </form>
  );
}
