/** Artifacts as they are written, one item for each version. */
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';

export function takeArtifact(draft: ConversationDraft, row: RunRow): void {
  switch (row.type) {
    case 'cairn.artifact.chunk':
    case 'cairn.artifact.rows':
      takePiece(draft, row);
      return;
    case 'artifact.created':
      takeCreated(draft, row);
      return;
  }
}

function takePiece(
  draft: ConversationDraft,
  row: Extract<RunRow, { type: 'cairn.artifact.chunk' | 'cairn.artifact.rows' }>,
): void {
  const { artifactId, version = 1, complete, name, agentId } = row.payload;
  const isFile = row.type === 'cairn.artifact.chunk';
  const size = isFile
    ? (row.payload.bytes ?? row.payload.blob?.bytes ?? row.payload.data?.length ?? 0)
    : (row.payload.count ?? row.payload.rows?.length ?? 0);
  const key = `artifact:${artifactId}@${version}`;
  const place = draft.placeOf(key);
  if (draft.item('artifact', place) !== null) {
    draft.change(row, ['artifact', place], (item) => ({ size: item.size + size, isComplete: complete }));
    return;
  }
  const mimeType = isFile ? row.payload.mimeType : undefined;
  const family = isFile ? 'file' : 'dataset';
  const artifact = { kind: 'artifact', artifactId, name: name ?? artifactId, family, version, mimeType, size } as const;
  draft.add(row, { ...artifact, isComplete: complete }, key, agentId);
}

/** Announces an artifact that was written in pieces, or holds the whole record. */
function takeCreated(draft: ConversationDraft, row: Extract<RunRow, { type: 'artifact.created' }>): void {
  const { artifactId, version, name, data, bytes = 0, agentId } = row.payload;
  const number = Number(version ?? 1) || 1;
  const key = `artifact:${artifactId}@${number}`;
  const place = draft.placeOf(key);
  if (draft.item('artifact', place) !== null) {
    draft.change(row, ['artifact', place], () => ({ isComplete: true }));
    return;
  }
  const family = data === undefined ? 'file' : 'data';
  const artifact = {
    kind: 'artifact',
    artifactId,
    name: name ?? artifactId,
    family,
    version: number,
    size: bytes,
  } as const;
  draft.add(row, { ...artifact, mimeType: undefined, isComplete: true }, key, agentId);
}
