/** Task faces of artifacts: pieces of files, records, batches of datasets. */
import type { EventOf, FoldEvent } from '../events/event.ts';
import type { JsonObject } from '../json.ts';

/** The task face of a row that writes an artifact; null for other rows and for the row that closes a file or a dataset. */
export function artifactFace(event: FoldEvent): JsonObject | null {
  switch (event.type) {
    case 'cairn.artifact.chunk':
      return fileWrite(event);
    case 'cairn.artifact.rows':
      return datasetWrite(event);
    case 'artifact.created':
      return dataWrite(event);
    default:
      return null;
  }
}

/** Only the first piece describes the artifact. Content in a blob is named, and read from the artifact itself. */
function fileWrite({ payload }: EventOf<'cairn.artifact.chunk'>): JsonObject {
  const { artifactId, data = '', index, complete, name, description, mimeType, encoding, totalSize } = payload;
  return {
    kind: 'file-write',
    artifactId,
    data,
    index,
    complete,
    ...(index === 0 && given({ name, description, mimeType, encoding })),
    ...acting(payload),
    metadata: { ...pieceMetadata(payload), ...given({ totalSize }) },
  };
}

function datasetWrite({ payload }: EventOf<'cairn.artifact.rows'>): JsonObject {
  const { artifactId, rows = [], index, complete, name, description, schema, totalRows } = payload;
  return {
    kind: 'dataset-write',
    artifactId,
    rows,
    index,
    complete,
    ...(index === 0 && given({ name, description, schema })),
    ...acting(payload),
    metadata: { ...pieceMetadata(payload), ...given({ totalRows }) },
  };
}

function dataWrite({ payload }: EventOf<'artifact.created'>): JsonObject | null {
  const { artifactId, data, name, description, callId, version } = payload;
  if (data === undefined) return null;
  return {
    kind: 'data-write',
    artifactId,
    data,
    ...given({ name, description }),
    ...acting(payload),
    metadata: { ...given({ toolCallId: callId }), ...(version !== undefined && { version: Number(version) }) },
  };
}

interface Piece {
  readonly index: number;
  readonly version?: number | undefined;
  readonly callId?: string | undefined;
  readonly sha256?: string | undefined;
  readonly blob?: { readonly sha256: string; readonly bytes: number } | undefined;
}

function pieceMetadata({ index, version, callId, sha256, blob }: Piece): JsonObject {
  return {
    ...given({ toolCallId: callId }),
    ...(index === 0 && given({ version })),
    ...given({ sha256 }),
    ...(blob !== undefined && { blob: { sha256: blob.sha256, bytes: blob.bytes } }),
  };
}

const acting = ({ agentId }: { readonly agentId?: string | undefined }): JsonObject => given({ agentId });

/** Without the fields that are undefined. */
const given = (fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
