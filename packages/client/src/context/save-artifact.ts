/** Saves an edit of an artifact, if nobody else changed it meanwhile. */
import { type ArtifactSaved, CairnError, isCairnError } from '@cairn/protocol';
import { backoff } from '../backoff.ts';
import { asked, type ChangeOptions } from '../calls.ts';
import type { Wire } from '../client.ts';
import type { RequestContent } from '../connection.ts';
import { HostError } from '../host-error.ts';
import { freshKey, pause } from '../timers.ts';
import type { ArtifactState } from './conversation/state.ts';
import type { ArtifactReading } from './read-artifact.ts';

/** A text or bytes for a file, an object in `data` for a record, `rows` for a dataset. */
export type ArtifactContent =
  | string
  | Uint8Array<ArrayBuffer>
  | Blob
  | { readonly data: Readonly<Record<string, unknown>> }
  | {
      readonly rows: readonly Readonly<Record<string, unknown>>[];
      /** JSON Schema of one row. */
      readonly schema?: Readonly<Record<string, unknown>>;
    };

export interface SaveArtifactOptions extends ChangeOptions {
  /** The version that the edit began with; left out or 0 for a new artifact. */
  readonly version?: number;
  /** Of a file. Default: that of a blob, else that of the version before, else by the ending of the name. */
  readonly mimeType?: string;
}

/** Each attempt has a key of its own. */
export type UpdateArtifactOptions = Omit<SaveArtifactOptions, 'version' | 'idempotencyKey'>;

/** Somebody else was faster, or is at it. */
export class ArtifactConflict extends CairnError {
  override readonly name = 'ArtifactConflict';
  override readonly retryable = true;
  /** 0 if there is none. */
  readonly currentVersion: number;
  /** A version that is being written; null if none is. */
  readonly openVersion: number | null;

  constructor(refusal: HostError) {
    const { message, hint, details } = refusal;
    super('artifact_version_conflict', { message, ...(hint && { hint }), ...(details && { details }), cause: refusal });
    this.currentVersion = wholeOf(details?.currentVersion) ?? 0;
    this.openVersion = wholeOf(details?.openVersion);
  }
}

const wholeOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

export async function save(
  { connection }: Wire,
  path: string,
  content: ArtifactContent,
  { version = 0, mimeType, ...options }: SaveArtifactOptions,
): Promise<ArtifactSaved> {
  try {
    const { body } = await connection.call({
      method: 'PUT',
      path: `${path}?family=${familyOf(content)}`,
      content: contentOf(content, mimeType ?? null),
      headers: {
        'idempotency-key': options.idempotencyKey ?? freshKey(),
        ...(version > 0 ? { 'if-match': `"${version}"` } : { 'if-none-match': '*' }),
      },
      repeatable: true,
      ...asked(options),
    });
    return body as ArtifactSaved;
  } catch (error) {
    if (error instanceof HostError && error.code === 'artifact_version_conflict') throw new ArtifactConflict(error);
    throw error;
  }
}

/** A conflict that does not end within this many attempts is passed on. */
const MAX_ATTEMPTS = 8;

interface Edit {
  readonly read: () => Promise<ArtifactReading>;
  readonly edit: (current: ArtifactReading | null) => ArtifactContent | Promise<ArtifactContent>;
}

export async function update(
  wire: Wire,
  path: string,
  { read, edit }: Edit,
  options: UpdateArtifactOptions,
): Promise<ArtifactSaved> {
  for (let failures = 0; ; failures += 1) {
    let passing: unknown = null;
    const current = await read().catch((error: unknown) => {
      if (!isCairnError(error, 'not_found')) throw error;
      // The first version has begun, and cannot be read yet.
      if (error.details?.open === true) passing = error;
      return null;
    });
    if (passing === null) {
      const content = await edit(current);
      try {
        return await save(wire, path, content, { ...options, version: current?.version ?? 0 });
      } catch (error) {
        if (!(error instanceof ArtifactConflict)) throw error;
        passing = error;
      }
    }
    if (failures + 1 >= MAX_ATTEMPTS) throw passing;
    // Another writer needs time to finish.
    await pause(wire.timers, backoff(failures, wire.timers), options.signal);
  }
}

type FileContent = Exclude<ArtifactContent, { readonly data: unknown } | { readonly rows: unknown }>;

const isFile = (content: ArtifactContent): content is FileContent =>
  typeof content === 'string' || content instanceof Blob || content instanceof Uint8Array;

function familyOf(content: ArtifactContent): ArtifactState['family'] {
  if (isFile(content)) return 'file';
  return 'data' in content ? 'data' : 'dataset';
}

function contentOf(content: ArtifactContent, mimeType: string | null): RequestContent {
  if (!isFile(content)) return { mimeType: 'application/json', bytes: JSON.stringify(content) };
  // A text would be sent with a type of its own.
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { mimeType, bytes };
}
