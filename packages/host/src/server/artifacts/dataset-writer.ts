/** Writes a dataset batch by batch. */
import { createHash } from 'node:crypto';
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { ArtifactCall, ArtifactRef, DatasetOptions, OpenArtifact } from '../../agents/tools/artifact-port.ts';
import { schemaProblems } from '../../engine/values/schemas.ts';
import { type ArtifactPorts, OpenVersion } from './open-version.ts';

/** One batch as JSON. Its row and its task face fit in an event. */
const MAX_BATCH_BYTES = 120_000;

export class DatasetWriter implements OpenArtifact<readonly JsonObject[]> {
  readonly #version: OpenVersion;
  readonly #call: ArtifactCall;
  readonly #options: DatasetOptions & { readonly name: string };
  readonly #hash = createHash('sha256');
  /** One batch after the other, whether or not the tool waits. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(call: ArtifactCall, ports: ArtifactPorts, options: DatasetOptions & { readonly name: string }) {
    this.#version = new OpenVersion(call, ports, { artifactId: options.name, family: 'dataset', ...options });
    this.#call = call;
    this.#options = options;
  }

  write(rows: readonly JsonObject[]): Promise<void> {
    return this.#inTurn(() => this.#write(rows, false));
  }

  close(): Promise<ArtifactRef> {
    return this.#inTurn(async () => {
      await this.#write([], true);
      return this.#version.ref();
    });
  }

  abandon(): Promise<void> {
    return this.#version.abandon();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#tail.then(work);
    this.#tail = done;
    done.catch(() => undefined);
    return done;
  }

  async #write(given: readonly JsonObject[], isLast: boolean): Promise<void> {
    const { name, schema, totalRows } = this.#options;
    const rows = this.#call.redactor?.value(given) ?? given;
    this.#check(rows);
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_BATCH_BYTES) throw tooLarge(name, bytes.length);
    this.#hash.update(bytes);
    const isInline = bytes.length === 0 || this.#version.isInline(bytes.length);
    const content = isInline ? { rows } : { blob: await this.#version.blob(bytes) };
    const header = { ...(schema !== undefined && { schema }), ...(totalRows !== undefined && { totalRows }) };
    const fields = await this.#version.next(isLast, { header, inlineBytes: isInline ? bytes.length : 0 });
    const payload = { ...fields, ...content, count: rows.length };
    if (!isLast) return this.#version.record([{ type: 'cairn.artifact.rows', payload }]);
    const sha256 = this.#hash.digest('hex');
    const { artifactId, version, nodeId, callId, agentId } = fields;
    const created = { artifactId, artifactType: 'dataset', version: String(version), nodeId, callId, agentId, sha256 };
    return this.#version.record([
      { type: 'cairn.artifact.rows', payload: { ...payload, sha256 } },
      { type: 'artifact.created', payload: created },
    ]);
  }

  #check(rows: readonly JsonObject[]): void {
    const { name, schema } = this.#options;
    if (schema === undefined) return;
    for (const [place, row] of rows.entries()) {
      const problems = schemaProblems(schema, row);
      if (problems.length === 0) continue;
      throw new TerminalError('tool_failed', {
        message: `Row ${place} of a batch of the dataset ${JSON.stringify(name)} does not fit its schema: ${problems.join('; ')}.`,
        hint: 'Correct the row or the schema.',
      });
    }
  }
}

const tooLarge = (artifactId: string, bytes: number): TerminalError =>
  new TerminalError('artifact_too_large', {
    message: `A batch of the dataset ${JSON.stringify(artifactId)} has ${bytes} bytes; the limit is ${MAX_BATCH_BYTES}.`,
    hint: 'Write smaller batches.',
    details: { artifactId, bytes, limit: MAX_BATCH_BYTES },
  });
