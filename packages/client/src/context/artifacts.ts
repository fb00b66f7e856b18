/** The artifacts of a context: what there is, the content of each version, how they fill, and edits by people. */
import type { ArtifactList } from '@cairn/protocol';
import { asked, type CallOptions, query, read, segment } from '../calls.ts';
import type { Wire } from '../client.ts';
import { type HostRequest, tooLate } from '../connection.ts';
import type { ArtifactState } from './conversation/state.ts';
import type { ContextAddress } from './follow-context.ts';
import { type ArtifactContent, type SaveArtifactOptions, type SavedArtifact, save, update } from './save-artifact.ts';
import { type WatchArtifactOptions, watchArtifact } from './watch-artifact.ts';

export interface ArtifactPage {
  /** `next` of the page before. */
  readonly after?: string;
  /** Default and at most 200. */
  readonly limit?: number;
}

export interface ReadArtifactOptions extends CallOptions {
  /** Default: the current version. */
  readonly version?: number;
}

/** A version as it is read. Use one of `body`, `bytes`, `text` and `json`, once. */
export interface ArtifactReading {
  /** Null if the page may not see the header, as one of another origin. */
  readonly version: number | null;
  readonly mimeType: string;
  readonly body: ReadableStream<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  /** A record is `{ data }`, a dataset `{ schema?, rows }`. */
  json(): Promise<unknown>;
}

export interface Artifacts {
  /** One page, by id. */
  list(page?: ArtifactPage, options?: CallOptions): Promise<ArtifactList>;
  /** Throws `not_found` while the first version is still being written; `details.open` is then true. */
  read(artifactId: string, options?: ReadArtifactOptions): Promise<ArtifactReading>;
  /** The artifact as it is, then after every piece that is written, until the signal says stop; reconnects by itself. */
  watch(artifactId: string, options?: WatchArtifactOptions): AsyncIterable<ArtifactState>;
  /**
   * Writes a new version as the user. Throws `ArtifactConflict` if another version is current than the one that the edit
   * began with.
   */
  save(artifactId: string, content: ArtifactContent, options?: SaveArtifactOptions): Promise<SavedArtifact>;
  /**
   * Reads the current version, saves what `edit` makes of it, and does both again if somebody else was faster. `edit` gets
   * null when there is no such artifact.
   */
  update(
    artifactId: string,
    edit: (current: ArtifactReading | null) => ArtifactContent | Promise<ArtifactContent>,
    options?: Omit<SaveArtifactOptions, 'version'>,
  ): Promise<SavedArtifact>;
}

export interface ArtifactPlace {
  readonly path: () => string;
  readonly token: string | undefined;
}

export function artifactCalls(wire: Wire, { path, token }: ArtifactPlace): Artifacts {
  const placeOf = (artifactId: string) => `${path()}/artifacts/${segment(artifactId)}`;
  const address = (): ContextAddress => ({ path: path(), token });
  const readOne: Artifacts['read'] = async (artifactId, { version, ...options } = {}) => {
    const place = `${placeOf(artifactId)}${query({ version, token })}`;
    const request: HostRequest = { method: 'GET', path: place, ...asked(options) };
    return readingOf(await wire.connection.retried(request, (one) => begun(wire, one)));
  };
  return {
    list: async (page, options) => read(wire.connection, `${path()}/artifacts${query({ ...page, token })}`, options),
    read: readOne,
    async *watch(artifactId, options = {}) {
      yield* watchArtifact(wire, address(), artifactId, options);
    },
    save: async (artifactId, content, options = {}) => save(wire, placeOf(artifactId), content, options),
    update: async (artifactId, edit, options = {}) =>
      update(wire, placeOf(artifactId), { read: () => readOne(artifactId, options), edit }, options),
  };
}

/** The time limit holds until the response begins; a large body may take longer. */
async function begun(wire: Wire, request: HostRequest): Promise<Response> {
  const late = new AbortController();
  const timeoutMs = request.timeoutMs ?? wire.timeoutMs;
  const cancel = wire.timers.after(timeoutMs, () => late.abort(tooLate(request, timeoutMs)));
  // The caller's signal stays linked while the body is read, without a listener that somebody must remove.
  const signal = request.signal === undefined ? late.signal : AbortSignal.any([request.signal, late.signal]);
  try {
    return await wire.connection.send({ ...request, signal });
  } finally {
    cancel();
  }
}

function readingOf(response: Response): ArtifactReading {
  const tag = /^(?:W\/)?"(\d+)"$/.exec(response.headers.get('etag') ?? '')?.[1];
  return {
    version: tag === undefined ? null : Number(tag),
    mimeType: response.headers.get('content-type') ?? 'application/octet-stream',
    body: response.body ?? new Blob().stream(),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    text: () => response.text(),
    json: () => response.json(),
  };
}
