/** A file, a record or a dataset, as it is written. Agents and third parties wrote it: nothing of it may run. */
import type { ArtifactState, ArtifactVersionState } from '@cairn/client/context';
import { useEntry } from '@cairn/client/react';
import { memo, useState } from 'react';
import { ArtifactEditor } from './artifact-editor.tsx';
import type { EntryProps } from './entry-props.ts';
import { useAction } from './use-action.ts';

export const ArtifactCard = memo(({ conversation, id, taskId }: EntryProps & { readonly taskId: string }) => {
  const artifact = useEntry(conversation, 'artifacts', id);
  const action = useAction();
  const [isEdited, setEdited] = useState(false);
  if (artifact === undefined) return null;
  const shown = artifact.open ?? artifact.current;
  const name = artifact.name ?? artifact.artifactId;
  // Every task that writes it lists it; the last of them shows it. An edit that is under way stays.
  const isOld = shown !== null && shown.taskId !== taskId;
  if (isOld && !isEdited) return <p className="note">{name} was written again below.</p>;
  return (
    <section className="card artifact" data-is={artifact.open === null ? 'complete' : 'open'} aria-label={name}>
      <div className="row">
        <strong>{name}</strong>
        <span className="badge">{artifact.open === null ? `Version ${shown?.version ?? '?'}` : 'Being written…'}</span>
        <span className="grow" />
        {isText(artifact) && (
          <button type="button" aria-pressed={isEdited} onClick={() => setEdited(!isEdited)}>
            Edit
          </button>
        )}
        {artifact.current !== null && (
          <button
            type="button"
            disabled={action.isBusy}
            onClick={() => action.run(async () => download(name, await conversation.artifacts.read(id)))}
          >
            Download
          </button>
        )}
      </div>
      {isEdited && artifact.current !== null ? (
        <ArtifactEditor
          conversation={conversation}
          id={id}
          version={artifact.current}
          onSaved={() => setEdited(false)}
        />
      ) : (
        shown !== null && <Content artifact={artifact} shown={shown} />
      )}
      {action.failure !== null && (
        <p className="failure" role="alert">
          {action.failure}
        </p>
      )}
    </section>
  );
});

const isText = ({ family, current }: ArtifactState): boolean =>
  family === 'file' && current?.encoding === 'utf-8' && !current.isPartial;

interface ContentProps {
  readonly artifact: ArtifactState;
  readonly shown: ArtifactVersionState;
}

function Content({ artifact: { family, mimeType, name }, shown }: ContentProps) {
  if (shown.isPartial) return <p className="note">Too large to show here. Download it.</p>;
  if (family === 'data') return <pre>{JSON.stringify(shown.data, null, 2)}</pre>;
  if (family === 'dataset') return <Rows rows={shown.rows} />;
  if (shown.encoding === 'base64') return <Bytes mimeType={mimeType} text={shown.text} name={name ?? ''} />;
  // An empty sandbox runs no script, sends no form and has no origin.
  if (mimeType === 'text/html') return <iframe title={name ?? 'Page'} sandbox="" srcDoc={shown.text} />;
  return <pre>{shown.text}</pre>;
}

const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

const Bytes = ({
  mimeType,
  text,
  name,
}: {
  readonly mimeType: string | null;
  readonly text: string;
  readonly name: string;
}) =>
  mimeType !== null && images.includes(mimeType) ? (
    <img src={`data:${mimeType};base64,${text}`} alt={name} />
  ) : (
    <p className="note">{Math.floor((text.length * 3) / 4)} bytes.</p>
  );

const MAX_ROWS = 100;

function Rows({ rows }: { readonly rows: ArtifactVersionState['rows'] }) {
  const columns = Object.keys(rows[0] ?? {});
  return (
    <div className="scroll">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id and are only added to.
            <tr key={at}>
              {columns.map((column) => (
                <td key={column}>{String(row[column] ?? '')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS && <p className="note">And {rows.length - MAX_ROWS} more rows.</p>}
    </div>
  );
}

async function download(name: string, reading: { bytes(): Promise<Uint8Array> }): Promise<void> {
  const bytes = await reading.bytes();
  const address = URL.createObjectURL(new Blob([bytes.slice()], { type: 'application/octet-stream' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}
