/** Reads of artifacts: the list of a context, and the content of a version. */
import { type ArtifactList, artifactContent, artifactList, type ContextId, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { isArtifactName, isMimeType } from '../../agents/tools/artifact-names.ts';
import type { ArtifactVersion } from '../../log/ports/artifacts.ts';
import type { Store } from '../../log/ports/store.ts';
import { visibleContext } from '../contexts/context-params.ts';
import { etagMatches } from '../http/etag.ts';
import { PacedWriter, type ResponsePorts } from '../http/large-response.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';
import { entryOf, newestOf } from './artifact-entry.ts';
import { datasetPieces, filePieces, type PiecePorts, recordOf } from './artifact-pieces.ts';
import { type ByteRange, byteRange } from './byte-range.ts';

export interface ArtifactRoutePorts {
  readonly store: Pick<Store, 'log' | 'contexts' | 'blobs' | 'artifacts'>;
  readonly responses: ResponsePorts;
}

const PATH = '/api/contexts/{contextId}/artifacts';
const MAX_LIMIT = 200;

const readToken = z.string().optional().describe('A read token of the context, in the place of a key.');

export const artifactRoutes = (ports: ArtifactRoutePorts): readonly Route[] => [
  {
    method: 'GET',
    path: PATH,
    scope: 'runs:read',
    takesToken: true,
    handle: (call) => list(call, ports),
    doc: {
      id: 'listArtifacts',
      summary: 'The artifacts of a context, by id',
      query: z.object({
        after: z.string().optional(),
        limit: z.int().min(1).max(MAX_LIMIT).optional(),
        token: readToken,
      }),
      responses: { 200: { description: 'Artifacts with a complete or an open version.', shape: artifactList } },
      errors: ['validation_error', 'not_found'],
    },
  },
  {
    method: 'GET',
    path: `${PATH}/{artifactId}`,
    scope: 'runs:read',
    takesToken: true,
    handle: (call) => content(call, ports),
    doc: {
      id: 'getArtifact',
      summary: 'The content of an artifact',
      query: z.object({ version: z.int().min(1).optional(), token: readToken }),
      responses: {
        200: { description: 'The bytes of a file; a record or a dataset as JSON.', shape: artifactContent },
        304: { description: 'The client has this version, as its `If-None-Match` says.' },
        206: { description: 'The bytes of the `Range`.', contentType: 'application/octet-stream' },
      },
      errors: ['validation_error', 'not_found'],
    },
  },
];

async function list(call: Call, ports: ArtifactRoutePorts): Promise<string> {
  const limit = wholeParam(call, 'limit', MAX_LIMIT) ?? MAX_LIMIT;
  const contextId = await visibleContext(call, ports.store.contexts);
  const found = await ports.store.artifacts.list(contextId, { after: queryParam(call, 'after'), limit });
  const last = found.at(-1);
  const next = found.length < limit || last === undefined ? null : newestOf(last).artifactId;
  const answer: ArtifactList = { artifacts: found.map(entryOf), next };
  return JSON.stringify(answer);
}

async function content(call: Call, ports: ArtifactRoutePorts): Promise<string | undefined> {
  const found = await askedVersion(call, ports, () => visibleContext(call, ports.store.contexts));
  if (found === null) return undefined;
  const { version } = found;
  const { request, caller } = call;
  const pieces: PiecePorts = { store: ports.store, tenant: caller.tenant };
  if (version.family === 'data') return JSON.stringify({ data: await recordOf(version, pieces) });
  if (version.family === 'dataset') return sendDataset(call, ports, datasetPieces(version, pieces));
  // Only GET has parts.
  const headers = request.method === 'GET' ? request.headers : {};
  const range = byteRange(headers, { etag: etagOf(version), size: version.size });
  return sendFile(call, ports, { version, range, pieces });
}

interface VersionPorts {
  readonly store: Pick<Store, 'artifacts'>;
}

/** The complete version that a request asks for. Null if the client has it already, and was told so. */
export async function askedVersion(
  call: Call,
  { store }: VersionPorts,
  contextOf: () => Promise<ContextId>,
): Promise<{ readonly contextId: ContextId; readonly version: ArtifactVersion } | null> {
  const asked = wholeParam(call, 'version', 1_000_000_000);
  const contextId = await contextOf();
  const artifactId = pathParam(call, 'artifactId');
  const version = await store.artifacts.get(contextId, artifactId, asked);
  if (version?.state !== 'complete') throw await missing(contextId, artifactId, { store });
  return isKnown(call, version) ? null : { contextId, version };
}

/** Names the version in the response. If the client has this version, responds with 304 and returns true. */
function isKnown({ reply, request }: Call, version: ArtifactVersion): boolean {
  const etag = etagOf(version);
  reply.header('etag', etag);
  reply.header('cache-control', 'private, no-cache');
  if (!etagMatches(request.headers['if-none-match'], etag)) return false;
  reply.code(304).send();
  return true;
}

const etagOf = ({ version }: ArtifactVersion): string => `"${version}"`;

async function sendDataset(call: Call, { responses }: ArtifactRoutePorts, pieces: AsyncIterable<string>) {
  const writer = new PacedWriter(call, responses.unread);
  await inPieces(writer, pieces);
  return undefined;
}

interface SentFile {
  readonly version: ArtifactVersion;
  readonly range: ByteRange;
  readonly pieces: PiecePorts;
}

/** Content comes from agents and people: a browser must neither guess its type nor run it as a page of this host. */
async function sendFile(call: Call, { responses }: ArtifactRoutePorts, { version, range, pieces }: SentFile) {
  const { reply } = call;
  const { start, end, isPart } = range;
  reply.header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(fileName(version))}`);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('content-security-policy', 'sandbox');
  reply.header('accept-ranges', 'bytes');
  reply.header('content-length', end - start);
  if (isPart) reply.header('content-range', `bytes ${start}-${end - 1}/${version.size}`);
  const { mimeType } = version;
  // Logs of earlier versions and of other hosts hold unchecked types.
  const contentType = mimeType !== null && isMimeType(mimeType) ? mimeType : 'application/octet-stream';
  const writer = new PacedWriter(call, responses.unread, { contentType, status: isPart ? 206 : 200 });
  if (call.request.method === 'HEAD') writer.end();
  else await inPieces(writer, filePieces(version, pieces, range));
  return undefined;
}

/** The response head was sent, so only closing the connection can signal an error. */
async function inPieces(writer: PacedWriter, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (typeof piece === 'string') await writer.write(piece);
      else await writer.flush(piece);
      // Requesting the next piece frees this one, which a broken connection may still be sending.
      if (writer.isGone) return;
    }
    writer.end();
  } catch (error) {
    writer.cut();
    throw error;
  }
}

const fileName = ({ name, artifactId }: ArtifactVersion): string =>
  (name ?? artifactId).split('/').at(-1)?.toWellFormed() ?? 'artifact';

async function missing(contextId: ContextId, artifactId: string, { store }: VersionPorts) {
  const isOpen = (await store.artifacts.summary(contextId, artifactId))?.current === null;
  const which = isArtifactName(artifactId) ? `of the artifact ${JSON.stringify(artifactId)}` : 'of such an artifact';
  return new TerminalError('not_found', {
    message: `There is no ${isOpen ? 'complete ' : ''}version ${which}.`,
    hint: isOpen ? 'It is being written. Follow the context, or try again.' : 'List the artifacts of the context.',
    details: { open: isOpen },
  });
}

function wholeParam(call: Call, name: string, most: number): number | undefined {
  const text = queryParam(call, name);
  if (text === undefined) return undefined;
  const value = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new TerminalError('validation_error', {
    message: `${name} is ${JSON.stringify(text.slice(0, 40))}; it must be a whole number from 1 to ${most}.`,
    hint: `Leave ${name} out, or correct it.`,
  });
}
