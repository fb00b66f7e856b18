/** The artifacts that tools write, over the store of the host. */
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { ArtifactCall, ArtifactOptions, ArtifactPort, ArtifactRef } from '../../agents/tools/artifact-port.ts';
import { utf8Size } from '../../utf8.ts';
import { DatasetWriter } from './dataset-writer.ts';
import { FileWriter } from './file-writer.ts';
import { type ArtifactPorts, OpenVersion } from './open-version.ts';

/** A record as JSON. Its row and its task face fit in an event. */
const MAX_RECORD_BYTES = 120_000;

export const createArtifactPort = (ports: ArtifactPorts): ArtifactPort => ({
  file: (call, name, options) => new FileWriter(call, ports, { ...options, name }),
  dataset: (call, name, options) => new DatasetWriter(call, ports, { ...options, name }),
  data: (call, name, record, options) => writeRecord(call, ports, { ...options, name, record }),
});

interface RecordOptions extends ArtifactOptions {
  readonly name: string;
  readonly record: JsonObject;
}

/** One row holds the whole record. */
async function writeRecord(call: ArtifactCall, ports: ArtifactPorts, options: RecordOptions): Promise<ArtifactRef> {
  const { name, record, description, expectedVersion } = options;
  const bytes = utf8Size(JSON.stringify(record));
  if (bytes > MAX_RECORD_BYTES) throw tooLarge(name, bytes);
  const open = new OpenVersion(call, ports, { artifactId: name, family: 'data', expectedVersion });
  const version = await open.claimed();
  const { nodeId, callId, agentId } = call;
  const about = { name, ...(description !== undefined && { description }), nodeId, callId, agentId };
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
