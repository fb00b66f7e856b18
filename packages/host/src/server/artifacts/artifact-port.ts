/** The artifacts that tools write, over the store of the host. */
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { ArtifactCall, ArtifactOptions, ArtifactPort, ArtifactRef } from '../../agents/tools/artifact-port.ts';
import type { ValueRef } from '../../engine/values/large-values.ts';
import { utf8Size } from '../../utf8.ts';
import { DatasetCutter } from './dataset-cutter.ts';
import { FileCutter } from './file-cutter.ts';
import { type ArtifactPorts, OpenVersion } from './open-version.ts';
import { pieceWriter } from './piece-writer.ts';

/** Maximum size of a record as JSON. Its row and its task face then fit in an event. */
const MAX_RECORD_BYTES = 120_000;

export const createArtifactPort = (ports: ArtifactPorts): ArtifactPort => ({
  file(call, name, options) {
    const sink = new OpenVersion(call, ports, { ...options, artifactId: name, family: 'file' });
    return pieceWriter(sink, new FileCutter(sink, { ...options, name, redactor: call.redactor }));
  },
  dataset(call, name, options) {
    const sink = new OpenVersion(call, ports, { ...options, artifactId: name, family: 'dataset' });
    const cut = { ...options, name, redactor: call.redactor, misfit: 'tool_failed' } as const;
    return pieceWriter(sink, new DatasetCutter(sink, cut));
  },
  data: (call, name, record, options) => writeRecord(call, ports, { ...options, name, record }),
  value: (call, text, place) => writeValue(call, ports, { text, place }),
});

/** Refuses a record that does not fit in an event. */
export function checkRecord(artifactId: string, record: JsonObject): void {
  const bytes = utf8Size(JSON.stringify(record));
  if (bytes > MAX_RECORD_BYTES) throw tooLarge(artifactId, bytes);
}

interface RecordOptions extends ArtifactOptions {
  readonly name: string;
  readonly record: JsonObject;
}

/** One row holds the whole record. */
export async function writeRecord(
  call: ArtifactCall,
  ports: ArtifactPorts,
  options: RecordOptions,
): Promise<ArtifactRef> {
  const { name, record, description, expectedVersion } = options;
  checkRecord(name, record);
  const open = new OpenVersion(call, ports, { artifactId: name, family: 'data', expectedVersion });
  const version = await open.claimed();
  const about = { name, ...(description !== undefined && { description }), ...open.actor() };
  const payload = { artifactId: name, artifactType: 'data', version: String(version), ...about, data: record };
  try {
    await call.record([{ type: 'artifact.created', payload }]);
  } catch (error) {
    await open.abandon();
    throw error;
  }
  return open.ref();
}

const tooLarge = (artifactId: string, bytes: number): TerminalError =>
  new TerminalError('artifact_too_large', {
    message: `The record ${JSON.stringify(artifactId)} has ${bytes} bytes as JSON; the limit is ${MAX_RECORD_BYTES}.`,
    hint: 'Write a file or a dataset instead.',
    details: { artifactId, bytes, limit: MAX_RECORD_BYTES },
  });

/** A file with the id of the call in its name. */
async function writeValue(
  call: ArtifactCall,
  ports: ArtifactPorts,
  { text, place }: { readonly text: string; readonly place: number },
): Promise<ValueRef> {
  const name = `values/${call.callId.replaceAll(/[^\w.-]/g, '-')}${place === 0 ? '' : `.${place}`}.json`;
  const sink = new OpenVersion(call, ports, { artifactId: name, family: 'file' });
  const cutter = new FileCutter(sink, { name, redactor: null, isUnwatched: true });
  await cutter.take(text);
  await cutter.finish();
  return { ...(await sink.ref()), bytes: utf8Size(text), sha256: cutter.sha256 ?? '' };
}
