/** `GET /v1/runs/{runId}/artifacts/{artifactId}`: an artifact of the run's context as one JSON document. */
import { isUtf8 } from 'node:buffer';
import { isoTime, type JsonObject, type RunArtifact, runArtifact } from '@cairn/protocol';
import { z } from 'zod';
import type { ArtifactVersion } from '../../log/ports/artifacts.ts';
import type { Store } from '../../log/ports/store.ts';
import { visibleRun } from '../http/params.ts';
import type { Call, Route } from '../http/routes.ts';
import { datasetBatches, filePieces, type PiecePorts, recordOf } from './artifact-pieces.ts';
import { askedVersion } from './routes.ts';

interface RunArtifactPorts {
  readonly store: Pick<Store, 'log' | 'blobs' | 'artifacts'>;
}

/** Maximum bytes of a file or characters of a dataset. Clients read larger content at its URL, in pieces. */
const MAX_CONTENT = 262_144;

export const runArtifactRoute = (ports: RunArtifactPorts): Route => ({
  method: 'GET',
  path: '/v1/runs/{runId}/artifacts/{artifactId}',
  scope: 'artifacts:read',
  handle: (call) => answer(call, ports),
  doc: {
    id: 'getRunArtifact',
    summary: "An artifact of the run's context, with its content if it is small",
    query: z.object({ version: z.int().min(1).optional() }),
    responses: {
      200: {
        description: 'What it is, where its content is read, and the content if it is small.',
        shape: runArtifact,
      },
      304: { description: 'The client has this version, as its `If-None-Match` says.' },
    },
    errors: ['validation_error', 'not_found'],
  },
});

async function answer(call: Call, { store }: RunArtifactPorts): Promise<string | undefined> {
  const found = await askedVersion(call, { store }, async () => (await visibleRun(call, store.log)).record.contextId);
  if (found === null) return undefined;
  const { contextId, version } = found;
  const { artifactId, family, name, mimeType, size, runId, updatedAt } = version;
  const place = `/api/contexts/${encodeURIComponent(contextId)}/artifacts/${encodeURIComponent(artifactId)}`;
  const about = { artifactId, contextId, runId, family, name, mimeType, version: version.version, size };
  const url = `${place}?version=${version.version}`;
  const content = await smallContent(version, { store, tenant: call.caller.tenant });
  const shown: RunArtifact = { ...about, updatedAt: isoTime(updatedAt), url, ...content };
  return JSON.stringify(shown);
}

type Content = Pick<RunArtifact, 'data' | 'schema' | 'rows' | 'text' | 'base64'>;

/** Empty if the content is too large. */
async function smallContent(version: ArtifactVersion, pieces: PiecePorts): Promise<Content> {
  if (version.family === 'data') return { data: await recordOf(version, pieces) };
  return version.family === 'dataset' ? smallDataset(version, pieces) : smallFile(version, pieces);
}

async function smallDataset(version: ArtifactVersion, pieces: PiecePorts): Promise<Content> {
  const rows: JsonObject[] = [];
  let schema: JsonObject | undefined;
  let size = 0;
  for await (const batch of datasetBatches(version, pieces)) {
    if (batch.isBegin) schema = batch.schema;
    if (batch.isBegin && schema !== undefined) size += JSON.stringify(schema).length;
    for (const row of batch.rows) {
      size += row.length;
      if (size > MAX_CONTENT) return {};
      rows.push(JSON.parse(row));
    }
  }
  return { ...(schema !== undefined && { schema }), rows };
}

async function smallFile(version: ArtifactVersion, pieces: PiecePorts): Promise<Content> {
  if (version.size > MAX_CONTENT) return {};
  const bytes = Buffer.alloc(version.size);
  let at = 0;
  for await (const piece of filePieces(version, pieces, { start: 0, end: version.size })) {
    bytes.set(piece, at);
    at += piece.length;
  }
  const content = bytes.subarray(0, at);
  return isUtf8(content) ? { text: content.toString('utf8') } : { base64: content.toString('base64') };
}
