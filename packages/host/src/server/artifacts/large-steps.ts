/** Steps whose results may be too large for an event: artifacts hold them, and the next step gets them whole. */
import { createHash } from 'node:crypto';
import { type Json, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import type { ArtifactPort } from '../../agents/tools/artifact-port.ts';
import type { CallContext, Performer, Step } from '../../engine/ports.ts';
import { plainJsonCopy } from '../../engine/values/json-copy.ts';
import { MAX_VALUE_BYTES, refsIn, type ValueRef, withoutLarge, withValues } from '../../engine/values/large-values.ts';
import type { Store } from '../../log/ports/store.ts';
import { filePieces } from './artifact-pieces.ts';
import { hostCall } from './host-call.ts';

export interface LargeStepPorts {
  readonly store: Pick<Store, 'log' | 'blobs' | 'artifacts'>;
  readonly artifacts: ArtifactPort;
}

/** A result as JSON that fits in the event of its step. */
const FITS_BYTES = 400_000;

/** Bytes of all large values in the input of one step. */
const MAX_INPUT_BYTES = 4_000_000;

/** The engine passes the context of a call to every step. */
export const withLargeValues = (step: Step, ports: LargeStepPorts): Step => {
  const performer: Performer = {
    typeId: step.typeId,
    async run(input, call) {
      const outcome: unknown = await step.run(await opened(input, call, ports), call);
      return (await recorded(outcome, call, ports)) as Json;
    },
  };
  return { ...step, run: performer.run };
};

/** Small results, and those that are too large for anything, are the engine's. */
async function recorded(outcome: unknown, call: CallContext, { artifacts }: LargeStepPorts): Promise<unknown> {
  if (plainJsonCopy(outcome ?? null) !== undefined) return outcome;
  let text: string | undefined;
  try {
    text = JSON.stringify(outcome ?? null);
  } catch {
    return outcome;
  }
  if (text === undefined || text.length <= FITS_BYTES || Buffer.byteLength(text) > MAX_VALUE_BYTES) return outcome;
  const value: Json = JSON.parse(text);
  return withoutLarge(call.redactor?.value(value) ?? value, FITS_BYTES, (kept, place) =>
    artifacts.value(hostCall(call), kept, place),
  );
}

async function opened(input: JsonObject, call: CallContext, ports: LargeStepPorts): Promise<JsonObject> {
  const refs = refsIn(input);
  if (refs.length === 0) return input;
  const total = refs.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > MAX_INPUT_BYTES) throw tooLarge(total);
  const values = new Map<string, Json>();
  for (const ref of refs) values.set(keyOf(ref), await loaded(ref, call, ports));
  return withValues(input, (ref) => values.get(keyOf(ref)) ?? null) as JsonObject;
}

const keyOf = ({ artifactId, version }: ValueRef): string => JSON.stringify([artifactId, version]);

async function loaded(ref: ValueRef, { contextId, tenant }: CallContext, { store }: LargeStepPorts): Promise<Json> {
  const version = await store.artifacts.get(contextId, ref.artifactId, ref.version);
  if (version?.state !== 'complete' || version.size > MAX_VALUE_BYTES) throw gone(ref);
  const pieces: Uint8Array[] = [];
  const whole = { start: 0, end: version.size };
  for await (const piece of filePieces(version, { store, tenant }, whole)) pieces.push(Uint8Array.from(piece));
  const bytes = Buffer.concat(pieces);
  if (createHash('sha256').update(bytes).digest('hex') !== ref.sha256) throw gone(ref);
  return JSON.parse(bytes.toString('utf8'));
}

const tooLarge = (bytes: number): TerminalError =>
  new TerminalError('artifact_too_large', {
    message: `The input of the step holds large values of ${bytes} bytes together; the limit is ${MAX_INPUT_BYTES}.`,
    hint: 'Pass fewer of them, or read them from their artifacts.',
    details: { bytes, limit: MAX_INPUT_BYTES },
  });

const gone = ({ artifactId, version }: ValueRef): TerminalError =>
  new TerminalError('not_found', {
    message: `The value in version ${version} of the artifact ${quoted(artifactId, 200)} is not there.`,
    hint: 'Run the step that returned it again.',
    details: { artifactId, version },
  });
