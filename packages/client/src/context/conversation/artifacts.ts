/** Artifacts as they are written: files and datasets fill piece by piece, records change whole. */
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import { MAX_CHARS, MAX_ROWS } from './bounds.ts';
import type { Draft } from './draft.ts';
import type { ArtifactState, ArtifactVersionState } from './state.ts';

type ArtifactEvent = TaskEventOf<'file-write' | 'data-write' | 'dataset-write'>;

export function foldArtifact(draft: Draft, event: TaskEvent): void {
  switch (event.kind) {
    case 'file-write':
      written(draft, event, 'file');
      break;
    case 'dataset-write':
      written(draft, event, 'dataset');
      break;
    case 'data-write': {
      const current = { ...newVersion(event), data: event.data };
      shown(draft, event, { ...about(draft, event, 'data'), current, open: null });
      break;
    }
  }
}

/** A complete version takes the place of the current one; until then readers see the one before. */
function written(draft: Draft, event: TaskEventOf<'file-write' | 'dataset-write'>, family: 'file' | 'dataset'): void {
  const known = about(draft, event, family);
  const before = event.index === 0 ? null : known.open;
  const version = before ?? { ...newVersion(event), isPartial: event.index > 0 };
  const after = event.kind === 'file-write' ? withText(version, event) : withRows(version, event);
  const artifact = event.complete ? { ...known, current: after, open: null } : { ...known, open: after };
  shown(draft, event, artifact);
}

function withText(version: ArtifactVersionState, event: TaskEventOf<'file-write'>): ArtifactVersionState {
  const { data, encoding = version.encoding } = event;
  const isElsewhere = data === '' && event.metadata?.blob !== undefined;
  // Once a piece is missing, what follows it would be shown in a wrong place.
  if (isElsewhere || version.text.length + data.length > MAX_CHARS) return { ...version, encoding, isPartial: true };
  return version.isPartial ? version : { ...version, encoding, text: version.text + data };
}

function withRows(version: ArtifactVersionState, event: TaskEventOf<'dataset-write'>): ArtifactVersionState {
  const { rows, schema = version.schema } = event;
  const isElsewhere = rows.length === 0 && event.metadata?.blob !== undefined;
  if (isElsewhere || version.rows.length + rows.length > MAX_ROWS) return { ...version, schema, isPartial: true };
  return version.isPartial ? version : { ...version, schema, rows: [...version.rows, ...rows] };
}

function about(draft: Draft, event: ArtifactEvent, family: ArtifactState['family']): ArtifactState {
  const { artifactId } = event;
  const known = draft.get('artifacts', artifactId);
  return {
    artifactId,
    family,
    name: event.name ?? known?.name ?? null,
    description: event.description ?? known?.description ?? null,
    mimeType: (event.kind === 'file-write' ? event.mimeType : undefined) ?? known?.mimeType ?? null,
    current: known?.current ?? null,
    open: known?.open ?? null,
  };
}

/** Every task that writes an artifact shows it. */
function shown(draft: Draft, event: ArtifactEvent, artifact: ArtifactState): void {
  const { artifactId } = artifact;
  const known = draft.get('artifacts', artifactId);
  draft.set('artifacts', artifactId, artifact);
  if ((known?.open ?? known?.current)?.taskId === event.taskId) return;
  const task = draft.task(event);
  if (task.items.some(({ of, id }) => of === 'artifacts' && id === artifactId)) return;
  draft.list(task, { of: 'artifacts', id: artifactId });
}

function newVersion({ taskId, metadata }: ArtifactEvent): ArtifactVersionState {
  const version = typeof metadata?.version === 'number' ? metadata.version : null;
  return { taskId, version, text: '', encoding: 'utf-8', data: null, schema: null, rows: [], isPartial: false };
}
