/** What differs in the artifacts of two runs. */
import {
  type ArtifactAlignment,
  type ArtifactDiff,
  type ArtifactPair,
  foldEventOf,
  type RawEvent,
  type RunDiff,
  type RunId,
  type ValueChange,
  type WrittenArtifact,
  type WrittenVersion,
} from '@cairn/protocol';
import type { ArtifactVersion } from '../../log/ports/artifacts.ts';
import type { ContentComparer, ContentPorts } from './artifact-content.ts';
import type { DiffRun } from './read-sides.ts';

interface ArtifactDiffInput {
  readonly runs: readonly [DiffRun, DiffRun];
  readonly sharedUpTo: number;
  readonly contents: ContentComparer;
  /** Compares what is known of two artifacts besides their content. */
  readonly changesOf: (a: WrittenArtifact | null, b: WrittenArtifact | null) => Promise<readonly ValueChange[]>;
}

/** Versions of other runs that are passed over in the search for a shared one. */
const MAX_PASSED = 32;

export async function artifactDiffs(
  { pairs, changed, same }: ArtifactAlignment,
  input: ArtifactDiffInput,
  ports: ContentPorts,
): Promise<RunDiff['stateDiff']['cairn']['artifacts']> {
  const entries: ArtifactDiff[] = [];
  for (const pair of pairs) entries.push(await entryOf(await withShared(pair, input, ports), input));
  return { entries, changed, same };
}

async function entryOf(
  { a, b }: ArtifactPair,
  { runs, contents, changesOf }: ArtifactDiffInput,
): Promise<ArtifactDiff> {
  const [one, other] = [a, b].map((artifact, i) =>
    artifact === null ? null : { runId: runs[i === 0 ? 0 : 1].head.record.runId, version: artifact.last },
  );
  return {
    key: a?.key ?? b?.key ?? '',
    op: a === null ? 'added' : b === null ? 'removed' : 'changed',
    ...(a !== null && { a: sideOf(a) }),
    ...(b !== null && { b: sideOf(b) }),
    changes: await changesOf(a, b),
    content: await contents.compared(one ?? null, other ?? null),
  };
}

function sideOf({ last, versions }: WrittenArtifact): NonNullable<ArtifactDiff['a']> {
  const { artifactId, version, family, lastSeq, mimeType, size, sha256 } = last;
  return {
    artifactId,
    version,
    versions,
    seq: lastSeq,
    family,
    ...(mimeType !== null && { mimeType }),
    size,
    ...(sha256 !== null && { sha256 }),
  };
}

/** A run that wrote an artifact only in what both share has the version of then. */
async function withShared(pair: ArtifactPair, input: ArtifactDiffInput, ports: ContentPorts): Promise<ArtifactPair> {
  const { a, b } = pair;
  if (input.sharedUpTo < 0) return pair;
  if (a === null && b !== null) return { a: await sharedOf(b, input.runs[0], { input, ports }), b };
  if (b === null && a !== null) return { a, b: await sharedOf(a, input.runs[1], { input, ports }) };
  return pair;
}

interface Search {
  readonly input: ArtifactDiffInput;
  readonly ports: ContentPorts;
}

async function sharedOf(
  { key, last: { artifactId } }: WrittenArtifact,
  { head: { record } }: DiffRun,
  { input, ports }: Search,
): Promise<WrittenArtifact | null> {
  const { artifacts } = ports.store;
  const isShared = ({ runId, state, lastSeq }: ArtifactVersion) =>
    runId === record.runId && state === 'complete' && lastSeq <= input.sharedUpTo;
  let found = await artifacts.get(record.contextId, artifactId);
  const newest = found?.version ?? 0;
  for (let passed = 1; passed <= MAX_PASSED && newest > passed && !(found !== null && isShared(found)); passed += 1) {
    found = await artifacts.get(record.contextId, artifactId, newest - passed);
  }
  if (found === null || !isShared(found)) return null;
  return { key, last: await writtenVersion(found, ports), earlier: [], versions: 0, hash: 0 };
}

/** The first event of a version describes it, the last one has its hash. */
async function writtenVersion(version: ArtifactVersion, ports: ContentPorts): Promise<WrittenVersion> {
  const { runId, artifactId, version: number, family, firstSeq, lastSeq, size, mimeType } = version;
  const [description, sha256] = [
    await textAt({ runId, seq: firstSeq, name: 'description' }, ports),
    await textAt({ runId, seq: lastSeq, name: 'sha256' }, ports),
  ];
  const place = { artifactId, version: number, family, firstSeq, lastSeq, size };
  return { ...place, sha256, mimeType, description, hasContent: true };
}

interface Field {
  readonly runId: RunId;
  readonly seq: number;
  readonly name: string;
}

async function textAt({ runId, seq, name }: Field, { store }: ContentPorts): Promise<string | null> {
  const [row] = await store.log.read({ runId, after: seq - 1, limit: 1 });
  const event: RawEvent | null = row === undefined ? null : foldEventOf(row);
  const value = event?.payload[name];
  return typeof value === 'string' ? value : null;
}
