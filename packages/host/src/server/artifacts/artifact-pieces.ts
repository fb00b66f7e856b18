/** The content of one version of an artifact, read from the log and the blobs one piece at a time. */
import { foldEventOf, invariant, type JsonObject, TerminalError } from '@cairn/protocol';
import type { ArtifactVersion } from '../../log/ports/artifacts.ts';
import type { OwnBytes } from '../../log/ports/blobs.ts';
import type { Store } from '../../log/ports/store.ts';

export interface PiecePorts {
  readonly store: Pick<Store, 'log' | 'blobs'>;
  readonly tenant: string;
}

/** Where the content of a version lies. */
export type PlacedVersion = Pick<ArtifactVersion, 'runId' | 'firstSeq' | 'lastSeq' | 'artifactId' | 'version'>;

/** Rows of a run to read at once. */
const PAGE = 16;

/**
 * Yields the bytes of a file from an offset on, in order. A piece is valid until the next one is requested: its memory is
 * freed then. The garbage collector alone would let 64 MiB of blobs accumulate.
 */
export async function* filePieces(
  version: PlacedVersion,
  ports: PiecePorts,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Uint8Array> {
  let encoding: 'utf-8' | 'base64' = 'utf-8';
  let at = 0;
  for await (const event of rowsOf(version, ports)) {
    if (event.type !== 'cairn.artifact.chunk') continue;
    const { payload } = event;
    if (payload.index === 0) encoding = payload.encoding ?? 'utf-8';
    const size = payload.bytes ?? payload.blob?.bytes ?? 0;
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, size)];
    at += size;
    if (from >= to) continue;
    if (payload.blob === undefined) {
      yield Buffer.from(payload.data ?? '', encoding === 'base64' ? 'base64' : 'utf8').subarray(from, to);
    } else {
      const bytes = await blobBytes(payload.blob.sha256, ports);
      yield bytes.subarray(from, to);
      bytes.buffer.transfer(0);
    }
    if (at >= end) return;
  }
}

/** The rows of a dataset as JSON text, each batch at once, and the schema before them. */
export async function* datasetPieces(version: PlacedVersion, ports: PiecePorts): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { isBegin, schema, rows } of datasetBatches(version, ports)) {
    if (isBegin) yield schema === undefined ? '{"rows":[' : `{"schema":${JSON.stringify(schema)},"rows":[`;
    if (rows.length === 0) continue;
    yield `${isFirst ? '' : ','}${rows.join(',')}`;
    isFirst = false;
  }
  yield ']}';
}

interface DatasetBatch {
  /** The first batch, which has the schema. */
  readonly isBegin: boolean;
  readonly schema: JsonObject | undefined;
  /** Each as JSON. */
  readonly rows: readonly string[];
}

export async function* datasetBatches(version: PlacedVersion, ports: PiecePorts): AsyncGenerator<DatasetBatch> {
  for await (const event of rowsOf(version, ports)) {
    if (event.type !== 'cairn.artifact.rows') continue;
    const { index, schema, rows = [], blob } = event.payload;
    const lines =
      blob === undefined
        ? rows.map((row) => JSON.stringify(row))
        : Buffer.from(await blobBytes(blob.sha256, ports))
            .toString('utf8')
            .split('\n')
            .filter((line) => line !== '');
    yield { isBegin: index === 0, schema, rows: lines };
  }
}

export async function recordOf(version: PlacedVersion, ports: PiecePorts): Promise<JsonObject> {
  for await (const event of rowsOf(version, ports)) {
    if (event.type === 'artifact.created' && event.payload.data !== undefined) return event.payload.data;
  }
  throw gone(version);
}

/** The events of a version, in order. Other events of the run lie between them. */
async function* rowsOf({ runId, firstSeq, lastSeq, artifactId, version }: PlacedVersion, { store }: PiecePorts) {
  for (let after = firstSeq - 1; after < lastSeq; ) {
    const rows = await store.log.read({ runId, after, limit: PAGE, audience: 'client' });
    for (const row of rows) {
      if (row.seq > lastSeq) return;
      const isPiece = row.type === 'artifact.created' || row.type.startsWith('cairn.artifact.');
      if (!isPiece) continue;
      const event = foldEventOf(row);
      const { artifactId: id, version: number } = event.payload as { artifactId?: string; version?: number | string };
      if (id === artifactId && (number === undefined || Number(number) === version)) yield event;
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

async function blobBytes(sha256: string, { store, tenant }: PiecePorts): Promise<OwnBytes> {
  const bytes = await store.blobs.get(tenant, sha256);
  invariant(bytes !== null, 'row-names-kept-blob', { sha256 });
  return bytes;
}

const gone = ({ artifactId, version }: PlacedVersion): TerminalError =>
  new TerminalError('not_found', {
    message: `Version ${version} of the artifact ${JSON.stringify(artifactId)} has no content.`,
    hint: 'List the artifacts of the context.',
  });
