/** Runs and artifacts as resources. */
import { isCairnError } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import type { FairTurns } from '../../fair-turns.ts';
import type { RunIndex } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';
import { datasetPieces, filePieces, recordOf } from '../artifacts/artifact-pieces.ts';
import { contextNamed } from '../contexts/context-params.ts';
import type { HostExtension } from '../host-extension.ts';
import { jsonPieces, renderedInTurns } from '../http/json-pieces.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { runNamed } from '../http/params.ts';
import type { Call } from '../http/routes.ts';
import type { OpenSnapshots } from '../runs/open-snapshots.ts';
import { runUri } from './results.ts';
import { McpError } from './rpc.ts';

export interface ResourcePorts {
  readonly engine: Engine;
  readonly runIndex: RunIndex;
  readonly openSnapshots: OpenSnapshots;
  /** Large texts are rendered in turns with other work, tenant by tenant. */
  readonly pageTurns: FairTurns;
  readonly cursors: PageCursors;
  readonly store: Pick<Store, 'log' | 'contexts' | 'blobs' | 'artifacts'>;
  readonly extension: Pick<HostExtension, 'mcpResources' | 'mcpPrompts'>;
}

/** Runs in one page of the list. */
const PAGE = 50;

/** The runs of the tenant, newest first. */
export async function listedResources({ caller: { tenant } }: Call, ports: ResourcePorts, cursor: string | undefined) {
  const place = ports.cursors.placeOf(tenant, cursor);
  const page = await ports.runIndex.list({ tenant, limit: PAGE, cursor: place });
  const resources = page.runs.map(({ runId, workflowId, shownStatus }) => ({
    ...{ uri: runUri(runId), name: runId, title: `${workflowId} (${shownStatus})`, mimeType: JSON_TYPE },
  }));
  const nextCursor = ports.cursors.shown(tenant, page.nextCursor);
  const more = cursor === undefined ? (ports.extension.mcpResources?.listed ?? []) : [];
  return { resources: [...more, ...resources], ...(nextCursor !== null && { nextCursor }) };
}

const JSON_TYPE = 'application/json';

export const RUN = 'cairn://runs/{runId}';
export const ARTIFACT = 'cairn://contexts/{contextId}/artifacts/{artifactId}';

export const templatesOf = ({ extension }: ResourcePorts): readonly object[] => [
  ...resourceTemplates,
  ...(extension.mcpResources?.templates ?? []),
];

const resourceTemplates = [
  { uriTemplate: RUN, name: 'run', title: 'A run', description: 'Its snapshot.', mimeType: JSON_TYPE },
  { uriTemplate: ARTIFACT, name: 'artifact', title: 'An artifact', description: 'The content of its newest version.' },
];

const runShape = /^cairn:\/\/runs\/([^/?#]{1,200})$/;
const artifactShape = /^cairn:\/\/contexts\/([^/?#]{1,400})\/artifacts\/([^/?#]{1,1000})$/;

/** Largest content of a resource, in bytes. A larger one is read over HTTP. */
const MAX_BYTES = 1_048_576;

export async function readResource(call: Call, uri: unknown, ports: ResourcePorts): Promise<{ contents: object[] }> {
  const text = typeof uri === 'string' ? uri : '';
  const added = ports.extension.mcpResources?.read(text) ?? null;
  if (added !== null) return { contents: [added] };
  const [, run] = runShape.exec(text) ?? [];
  const [, context, artifact] = artifactShape.exec(text) ?? [];
  try {
    if (run !== undefined) return { contents: [{ uri: text, ...(await runContent(call, run, ports)) }] };
    if (context === undefined || artifact === undefined) throw notThere();
    const place = { context: decodeURIComponent(context), artifact: decodeURIComponent(artifact) };
    return { contents: [{ uri: text, ...(await artifactContent(call, place, ports)) }] };
  } catch (error) {
    if (error instanceof URIError || isCairnError(error, 'not_found') || isCairnError(error, 'run_purged'))
      throw notThere();
    throw error;
  }
}

async function runContent({ caller }: Call, text: string, ports: ResourcePorts): Promise<object> {
  const { engine, store, openSnapshots: open, pageTurns: turns } = ports;
  const { tenant } = caller;
  const { record, seq } = await runNamed(text, caller, store.log);
  const { runId } = record;
  const state = { key: runId, seq, load: () => engine.snapshotAt(tenant, runId) };
  const content = await open.inTurn(tenant, () =>
    open.with(state, ({ snapshot }) => renderedInTurns(snapshot, { owner: tenant, turns, most: MAX_BYTES })),
  );
  return { mimeType: JSON_TYPE, text: await joined(content) };
}

async function artifactContent(
  { caller }: Call,
  place: { context: string; artifact: string },
  { store }: ResourcePorts,
) {
  const contextId = await contextNamed(place.context, caller, store.contexts);
  const version = await store.artifacts.get(contextId, place.artifact);
  if (version?.state !== 'complete') throw notThere();
  const pieces = { store, tenant: caller.tenant };
  if (version.family === 'data')
    return { mimeType: JSON_TYPE, text: await joined(jsonPieces(await recordOf(version, pieces))) };
  if (version.family === 'dataset') return { mimeType: JSON_TYPE, text: await joined(datasetPieces(version, pieces)) };
  if (version.size > MAX_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  // A piece does not outlive the next one.
  for await (const part of filePieces(version, pieces, { start: 0, end: version.size }))
    parts.push(Uint8Array.from(part));
  const bytes = Buffer.concat(parts);
  const mimeType = version.mimeType ?? 'application/octet-stream';
  const isText = mimeType.startsWith('text/') || mimeType === JSON_TYPE;
  return { mimeType, ...(isText ? { text: bytes.toString('utf8') } : { blob: bytes.toString('base64') }) };
}

/** Reads no further than a resource may be large. */
async function joined(pieces: Iterable<string> | AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > MAX_BYTES) throw tooLarge();
  }
  return text;
}

const notThere = (): McpError => new McpError('noResource', 'There is no such resource.');

const tooLarge = (): McpError =>
  new McpError('params', `The resource has more than ${MAX_BYTES} bytes. Read it over HTTP.`);
