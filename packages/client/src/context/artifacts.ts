/** The artifacts of a context: what there is, the content of each version, how they fill, and edits by people. */
import type { ArtifactList, ArtifactSaved } from '@cairn/protocol';
import { type CallOptions, query, read, segment } from '../calls.ts';
import type { Wire } from '../client.ts';
import type { ArtifactState } from './conversation/state.ts';
import type { ContextAddress } from './follow-context.ts';
import { type ArtifactReading, readArtifact } from './read-artifact.ts';
import { type ReadToken, tokenNow } from './read-token.ts';
import {
  type ArtifactContent,
  type SaveArtifactOptions,
  save,
  type UpdateArtifactOptions,
  update,
} from './save-artifact.ts';
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
  save(artifactId: string, content: ArtifactContent, options?: SaveArtifactOptions): Promise<ArtifactSaved>;
  /**
   * Reads the current version, saves what `edit` makes of it, and does both again if somebody else was faster. `edit` gets
   * null when there is no such artifact.
   */
  update(
    artifactId: string,
    edit: (current: ArtifactReading | null) => ArtifactContent | Promise<ArtifactContent>,
    options?: UpdateArtifactOptions,
  ): Promise<ArtifactSaved>;
}

export interface ArtifactPlace {
  readonly path: () => string;
  readonly token: ReadToken | undefined;
}

export function artifactCalls(wire: Wire, { path, token }: ArtifactPlace): Artifacts {
  const placeOf = (artifactId: string) => `${path()}/artifacts/${segment(artifactId)}`;
  const address = (): ContextAddress => ({ path: path(), token });
  const readOne: Artifacts['read'] = async (artifactId, { version, ...options } = {}) =>
    readArtifact(wire, `${placeOf(artifactId)}${query({ version, token: await tokenNow(token) })}`, options);
  return {
    list: async (page, options) =>
      read(wire.connection, `${path()}/artifacts${query({ ...page, token: await tokenNow(token) })}`, options),
    read: readOne,
    async *watch(artifactId, options = {}) {
      yield* watchArtifact(wire, address(), artifactId, options);
    },
    save: async (artifactId, content, options = {}) => save(wire, placeOf(artifactId), content, options),
    update: async (artifactId, edit, options = {}) =>
      update(wire, placeOf(artifactId), { read: () => readOne(artifactId, options), edit }, options),
  };
}
