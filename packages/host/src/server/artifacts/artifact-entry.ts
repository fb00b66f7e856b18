/** An artifact as lists show it. */
import { type ArtifactEntry, isoTime } from '@cairn/protocol';
import type { ArtifactSummary, ArtifactVersion } from '../../log/ports/artifacts.ts';

export const newestOf = ({ current, open }: ArtifactSummary): ArtifactVersion => {
  const newest = current ?? open;
  if (newest === null) throw new Error('A listed artifact has a version.');
  return newest;
};

export function entryOf(summary: ArtifactSummary): ArtifactEntry {
  const { artifactId, family, name, mimeType, size, runId, updatedAt } = newestOf(summary);
  const { current, open } = summary;
  const about = { artifactId, family, name, mimeType, version: current?.version ?? 0, open: open !== null };
  return { ...about, size, taskId: runId, updatedAt: isoTime(open?.updatedAt ?? updatedAt) };
}
