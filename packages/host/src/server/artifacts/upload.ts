/** Receives the body of an edit: the bytes of a file as they arrive, or a record or a dataset as JSON. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ArtifactFamily,
  artifactEdit,
  isJsonObject,
  type Json,
  type JsonObject,
  parseShape,
  quoted,
  TerminalError,
} from '@cairn/protocol';
import type { Redactor, Timers } from '../../engine/ports.ts';
import { utf8Size } from '../../utf8.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { checkRecord } from './artifact-port.ts';
import { DatasetCutter, MAX_BATCH_BYTES } from './dataset-cutter.ts';
import { FileCutter } from './file-cutter.ts';
import { mimeTypeOf } from './mime-types.ts';
import { type Manifest, StagedVersion, type StagePorts } from './staged-version.ts';
import { steadyBody } from './steady-body.ts';

export interface UploadPorts extends StagePorts {
  readonly redactor: Redactor | null;
  /** Bytes of a record or a dataset as JSON. Files have no such limit. */
  readonly maxJsonBytes: number;
  readonly timers: Timers;
}

export interface UploadTarget {
  readonly tenant: string;
  readonly artifactId: string;
  /** Null: a new artifact, which is a record or a dataset if its JSON says so. */
  readonly family: ArtifactFamily | null;
  /** Of the request; else that of the version before. */
  readonly contentType: string | undefined;
}

/** Content that waits in blobs for a task to write it. */
export interface Upload {
  readonly family: ArtifactFamily;
  readonly manifest: Manifest;
  /** Of the bytes as they came. */
  readonly sha256: string;
  /** The content contained a secret of the host, which was redacted. */
  readonly heldSecret: boolean;
}

export function receiveUpload(request: IncomingMessage, target: UploadTarget, ports: UploadPorts): Promise<Upload> {
  const { family = null, contentType } = target;
  if (family === 'file' || (family === null && !isJson(contentType))) return receiveFile(request, target, ports);
  return receiveJson(request, { ...target, family }, ports);
}

/** Holds at most one piece in memory. */
async function receiveFile(request: IncomingMessage, target: UploadTarget, ports: UploadPorts): Promise<Upload> {
  const { artifactId: name, contentType: mimeType } = target;
  const sink = new StagedVersion(target, ports);
  const totalSize = sizeIn(request);
  const cutter = new FileCutter(sink, { name, redactor: ports.redactor, mimeType, totalSize, isUnwatched: true });
  const hash = createHash('sha256');
  const text = isText(mimeType ?? mimeTypeOf(name)) ? textDecoder(name) : null;
  for await (const chunk of steadyBody(request, ports.timers)) {
    hash.update(chunk);
    await cutter.take(text === null ? chunk : text(chunk));
  }
  if (text !== null) await cutter.take(text(null));
  await cutter.finish();
  const sha256 = hash.digest('hex');
  return { family: 'file', manifest: await sink.manifest(), sha256, heldSecret: cutter.sha256 !== sha256 };
}

interface JsonTarget extends UploadTarget {
  readonly family: 'data' | 'dataset' | null;
}

async function receiveJson(request: IncomingMessage, target: JsonTarget, ports: UploadPorts): Promise<Upload> {
  const bytes = await wholeBody(request, ports);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const body = bytes.length === 0 ? undefined : parseJsonBody(bytes, LIMITS);
  checkRowCount(target.artifactId, body);
  await nextTurn();
  const heldSecret = ports.redactor !== null && ports.redactor.secretIn(body) !== null;
  await nextTurn();
  // Blobs hold the content until its task writes it, and are a part of the store.
  const edit = parseShape(artifactEdit, heldSecret ? ports.redactor?.value(body) : body, 'The artifact');
  const sink = new StagedVersion(target, ports);
  const { artifactId: name, family } = target;
  if ('data' in edit) {
    if (family === 'dataset') throw otherFamily(name, 'a dataset', '{ "rows": [...] }');
    checkRecord(name, edit.data);
    return { family: 'data', manifest: await sink.record(edit.data), sha256, heldSecret };
  }
  if (family === 'data') throw otherFamily(name, 'a record', '{ "data": {...} }');
  const { schema, rows } = edit;
  const cut = { name, schema, redactor: ports.redactor, misfit: 'validation_error' } as const;
  const cutter = new DatasetCutter(sink, cut);
  for (const batch of batchesOf(rows)) {
    await nextTurn();
    await cutter.take(batch);
  }
  await cutter.finish();
  return { family: 'dataset', manifest: await sink.manifest(), sha256, heldSecret };
}

/** Rows of a few columns each. */
const LIMITS = { parts: 400_000, names: 10_000, items: 400_000 };

/** Rows of a dataset in one request. Each is checked and written by itself: 300,000 held the event loop for 200 ms. */
const MAX_ROWS = 50_000;

/** Throws before any row is checked. */
function checkRowCount(artifactId: string, body: Json | undefined): void {
  const count = isJsonObject(body) && Array.isArray(body.rows) ? body.rows.length : 0;
  if (count <= MAX_ROWS) return;
  throw new TerminalError('artifact_too_large', {
    message: `The dataset ${quoted(artifactId, 200)} has ${count} rows; a request takes ${MAX_ROWS}.`,
    hint: 'Write it as a file: ?family=file.',
    details: { artifactId, rows: count, limit: MAX_ROWS },
  });
}

/** Rows of one turn of the event loop. */
const MAX_BATCH_ROWS = 5_000;

/** As many rows as fit in an event and in a turn. */
function* batchesOf(rows: readonly JsonObject[]): Generator<readonly JsonObject[]> {
  let batch: JsonObject[] = [];
  let size = 0;
  for (const row of rows) {
    const bytes = utf8Size(JSON.stringify(row)) + 1;
    if (batch.length === MAX_BATCH_ROWS || (batch.length > 0 && size + bytes > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(row);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}

async function wholeBody(request: IncomingMessage, { maxJsonBytes: limit, timers }: UploadPorts): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of steadyBody(request, timers)) {
    size += piece.length;
    if (size > limit) throw tooLarge(limit);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const sizeIn = ({ headers }: IncomingMessage): number | undefined => {
  const size = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(size) ? size : undefined;
};

/** Decodes a text in pieces, and its end with null. */
function textDecoder(name: string): (chunk: Uint8Array | null) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (chunk) => {
    try {
      return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw new TerminalError('validation_error', {
        message: `The file ${quoted(name, 200)} is text by its type, but not UTF-8.`,
        hint: 'Name its charset in Content-Type, or send it as application/octet-stream.',
      });
    }
  };
}

const isJson = (contentType: string | undefined): boolean => /^application\/json\s*(?:;|$)/i.test(contentType ?? '');

/** Text in another charset is kept as bytes. */
function isText(contentType: string): boolean {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(contentType)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') return false;
  return /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript)\b|image\/svg\+xml)/i.test(contentType);
}

const otherFamily = (name: string, is: string, send: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `The artifact ${quoted(name, 200)} is ${is}.`,
    hint: `Send ${send}, or name the family that it gets: ?family=data or ?family=dataset.`,
  });

const tooLarge = (limit: number): TerminalError =>
  new TerminalError('payload_too_large', {
    message: `The body is larger than ${limit} bytes.`,
    hint: 'Send a smaller record or dataset, or write it as a file: ?family=file.',
    details: { limit },
  });
