/** `If-Match` and `If-None-Match` of an edit: which version must be current. */
import { quoted, RetryableError, TerminalError } from '@cairn/protocol';
import type { ArtifactSummary } from '../../log/ports/artifacts.ts';

export interface Preconditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

const tag = /^"(\d{1,9})"$/;

/** The version that the edit replaces; 0 for a new artifact. Throws if another version is current or being written. */
export function replacedVersion(
  artifactId: string,
  found: ArtifactSummary | null,
  { ifMatch, ifNoneMatch }: Preconditions,
): number {
  const current = found?.current?.version ?? 0;
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') throw unfit('If-None-Match', ifNoneMatch, '*');
  if (ifMatch !== undefined && ifNoneMatch !== undefined) throw both();
  const isFresh = ifMatch === undefined ? current === 0 || ifNoneMatch !== undefined : false;
  if (!isFresh && ifMatch === undefined) throw missing(artifactId, current);
  const wanted = ifMatch === undefined ? [0] : versionsIn(ifMatch, current);
  if (!wanted.includes(current)) throw conflict(artifactId, current, ifMatch ?? 'none');
  if (found?.open != null) throw beingWritten(artifactId, current, found.open.version);
  return current;
}

/** `*` is any version that exists. A weak tag never matches. */
function versionsIn(header: string, current: number): readonly number[] {
  if (header.trim() === '*') return current === 0 ? [] : [current];
  return header.split(',').flatMap((part) => {
    const text = part.trim();
    if (/^W\//.test(text)) return [];
    const version = tag.exec(text)?.[1];
    if (version === undefined) throw unfit('If-Match', header, '"3", the ETag of the version that you edited');
    return [Number(version)];
  });
}

const unfit = (name: string, text: string, use: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `${name} cannot be ${quoted(text, 60)}.`,
    hint: `Use ${use}.`,
    details: { parameter: name },
  });

const both = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'If-Match and If-None-Match contradict each other.',
    hint: 'Send If-Match to edit an artifact, If-None-Match: * to create one.',
  });

const missing = (artifactId: string, currentVersion: number): TerminalError =>
  new TerminalError('precondition_required', {
    message: `The artifact ${quoted(artifactId, 200)} exists, and the request does not say which version it edits.`,
    hint: `Send If-Match: "${currentVersion}" if you have seen this version.`,
    details: { artifactId, currentVersion },
  });

/** The version in an entity tag. */
const bare = (tag: string): string => /^"([^"]*)"$/.exec(tag)?.[1] ?? tag;

const conflict = (artifactId: string, currentVersion: number, wanted: string): RetryableError =>
  new RetryableError('artifact_version_conflict', {
    message:
      currentVersion === 0
        ? `There is no artifact ${quoted(artifactId, 200)} yet, but the request edits ${quoted(bare(wanted), 60)}.`
        : `The artifact ${quoted(artifactId, 200)} has version ${currentVersion}, not ${quoted(bare(wanted), 60)}.`,
    hint: 'Read the current version, merge your change, and write again.',
    details: { artifactId, currentVersion },
  });

const beingWritten = (artifactId: string, currentVersion: number, openVersion: number): RetryableError =>
  new RetryableError('artifact_version_conflict', {
    message: `Version ${openVersion} of the artifact ${quoted(artifactId, 200)} is being written.`,
    hint: 'Wait until it is complete, or write another artifact.',
    details: { artifactId, currentVersion, openVersion },
  });
