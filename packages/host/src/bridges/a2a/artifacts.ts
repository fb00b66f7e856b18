/** Text, files, records and datasets of a task as A2A artifacts. */
import type { TaskEventOf } from '@cairn/protocol';
import type { A2aArtifact, A2aPart, ArtifactUpdate } from './update.ts';

/** What earlier pieces said and later ones need. */
export interface Writes {
  /** Open blocks of text by id. */
  readonly blocks: Set<string>;
  /** Blocks without an id. */
  unnamed: number;
  readonly files: Map<string, OpenFile>;
}

interface OpenFile {
  readonly isBinary: boolean;
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** A piece lies outside the log, so that the whole is read at its address. */
  isElsewhere: boolean;
}

export const newWrites = (): Writes => ({ blocks: new Set(), unnamed: 0, files: new Map() });

interface Writer {
  readonly writes: Writes;
  readonly artifactUrl: (contextId: string, artifactId: string) => string;
}

type Piece = Pick<TaskEventOf<'content-delta'>, 'taskId' | 'contextId'>;

type Flags = Pick<ArtifactUpdate, 'append' | 'lastChunk' | 'storedAt'>;

const written = ({ taskId, contextId }: Piece, artifact: A2aArtifact, flags: Flags): ArtifactUpdate => ({
  type: 'artifact',
  taskId,
  contextId,
  artifact,
  ...flags,
});

export function contentPiece(writes: Writes, event: TaskEventOf<'content-delta'>): ArtifactUpdate {
  const { index, delta } = event;
  if (event.contentId === undefined && index === 0) writes.unnamed += 1;
  const artifactId = blockId(writes, event);
  const append = index > 0 && writes.blocks.has(artifactId);
  writes.blocks.add(artifactId);
  return written(event, { artifactId, parts: [{ text: delta }] }, { append, lastChunk: false, storedAt: null });
}

/** Its pieces said everything; a block that came in one piece is told here. */
export function contentBlock(writes: Writes, event: TaskEventOf<'content-complete'>): ArtifactUpdate {
  let artifactId = blockId(writes, event);
  const append = writes.blocks.delete(artifactId);
  if (!append && event.contentId === undefined) {
    writes.unnamed += 1;
    artifactId = blockId(writes, event);
  }
  const text = append ? '' : event.content;
  return written(event, { artifactId, parts: [{ text }] }, { append, lastChunk: true, storedAt: null });
}

const blockId = (
  { unnamed }: Writes,
  { taskId, contentId }: { readonly taskId: string; readonly contentId?: string | undefined },
) => contentId ?? `${taskId}:content:${unnamed}`;

export function file(writer: Writer, event: TaskEventOf<'file-write'>): readonly ArtifactUpdate[] {
  const { files } = writer.writes;
  const { artifactId, data, index, complete, name, description, mimeType, encoding, metadata } = event;
  const known = index === 0 ? undefined : files.get(artifactId);
  const open = known ?? { isBinary: encoding === 'base64', filename: name, mediaType: mimeType, isElsewhere: false };
  if (metadata?.blob !== undefined) open.isElsewhere = true;
  if (complete) files.delete(artifactId);
  else files.set(artifactId, open);
  const about = described(artifactId, { name, description });
  const kind = {
    ...(open.filename && { filename: open.filename }),
    ...(open.mediaType && { mediaType: open.mediaType }),
  };
  if (open.isElsewhere) return complete ? [elsewhere(writer, event, { ...about, kind })] : [];
  const part: A2aPart = open.isBinary ? { bytes: data, ...kind } : { text: data, ...kind };
  const storedAt = writer.artifactUrl(event.contextId, artifactId);
  return [written(event, { ...about, parts: [part] }, { append: index > 0, lastChunk: complete, storedAt })];
}

/** Replaces what was sent before, because the pieces in between were not. */
function elsewhere(
  { artifactUrl }: Writer,
  event: Piece,
  { kind, ...about }: Omit<A2aArtifact, 'parts'> & { readonly kind: object },
): ArtifactUpdate {
  const url = artifactUrl(event.contextId, about.artifactId);
  return written(event, { ...about, parts: [{ url, ...kind }] }, { append: false, lastChunk: true, storedAt: url });
}

export function record({ artifactUrl }: Writer, event: TaskEventOf<'data-write'>): ArtifactUpdate {
  const { artifactId, data, name, description } = event;
  const artifact = { ...described(artifactId, { name, description }), parts: [{ data }] };
  const storedAt = artifactUrl(event.contextId, artifactId);
  return written(event, artifact, { append: false, lastChunk: true, storedAt });
}

export function dataset(writer: Writer, event: TaskEventOf<'dataset-write'>): readonly ArtifactUpdate[] {
  const { files } = writer.writes;
  const { artifactId, rows, index, complete, name, description, schema, metadata } = event;
  const known = index === 0 ? undefined : files.get(artifactId);
  const open = known ?? { isBinary: false, filename: undefined, mediaType: undefined, isElsewhere: false };
  if (metadata?.blob !== undefined) open.isElsewhere = true;
  if (complete) files.delete(artifactId);
  else files.set(artifactId, open);
  const about = {
    ...described(artifactId, { name, description }),
    ...(schema !== undefined && { metadata: { schema } }),
  };
  if (open.isElsewhere) return complete ? [elsewhere(writer, event, { ...about, kind: {} })] : [];
  const storedAt = writer.artifactUrl(event.contextId, artifactId);
  return [
    written(event, { ...about, parts: [{ data: { rows } }] }, { append: index > 0, lastChunk: complete, storedAt }),
  ];
}

interface Description {
  readonly name: string | undefined;
  readonly description: string | undefined;
}

const described = (artifactId: string, { name, description }: Description): Omit<A2aArtifact, 'parts'> => ({
  artifactId,
  ...(name !== undefined && name !== '' && { name }),
  ...(description !== undefined && description !== '' && { description }),
});
