/** Steps whose results may be too large for an event: artifacts hold them, and the next step gets them whole. */
import { createHash } from 'node:crypto';
import { type Json, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import type { ArtifactPort } from '../../agents/tools/artifact-port.ts';
import type { CallContext, Performer, Step } from '../../engine/ports.ts';
import type { LongWork } from '../../engine/shares/long-work.ts';
import { MAX_VALUE_BYTES, refsIn, type ValueRef, withoutLarge, withValues } from '../../engine/values/large-values.ts';
import type { Store } from '../../log/ports/store.ts';
import { exceedsUtf8 } from '../../utf8.ts';
import { filePieces } from './artifact-pieces.ts';
import { hostCall } from './host-call.ts';

export interface LargeStepPorts {
  readonly store: Pick<Store, 'log' | 'blobs' | 'artifacts'>;
  readonly artifacts: ArtifactPort;
}

export interface LargeResultPorts extends LargeStepPorts {
  /** Spreads serialising over several turns of the event loop: a hundred results can arrive in one. */
  readonly longWork: Pick<LongWork, 'take'>;
}

/** Maximum size of a result as JSON in the event of its step. */
const FITS_BYTES = 400_000;

/** Maximum bytes of all large values in the input of one step. */
const MAX_INPUT_BYTES = 4_000_000;

/** The engine passes the context of a call to every step. Most inputs hold no large value: the step then runs as it is. */
export const withLargeValues = (step: Step, ports: LargeResultPorts): Step => {
  const performer: Pick<Performer, 'run'> = {
    run: (input, call) =>
      refsIn(input).length === 0
        ? step.run(input, call)
        : opened(input, call, ports).then((whole) => step.run(whole, call)),
  };
  return { ...step, run: performer.run, shrink: (outcome, call) => shrunk(outcome, call, ports) };
};

/** The engine handles results that fit, and results that are too large even for an artifact. */
async function shrunk(outcome: unknown, call: CallContext, ports: LargeResultPorts): Promise<unknown> {
  const { artifacts, longWork } = ports;
  const value = await longWork.take(call.tenant, () => largeValue(outcome));
  if (value === undefined) return outcome;
  return withoutLarge(call.redactor?.value(value) ?? value, FITS_BYTES, (kept, place) =>
    artifacts.value(hostCall(call), kept, place),
  );
}

/** The result as JSON if it must become an artifact. */
function largeValue(outcome: unknown): Json | undefined {
  let text: string | undefined;
  try {
    text = JSON.stringify(outcome ?? null);
  } catch {
    return undefined;
  }
  if (text === undefined || text.length <= FITS_BYTES || exceedsUtf8(text, MAX_VALUE_BYTES)) return undefined;
  return JSON.parse(text);
}

/** Answers of people may be large, too: the tool that asked gets the whole value. */
export const withLargeAnswers = (performer: Performer, ports: LargeStepPorts): Performer => ({
  ...performer,
  async run(input, call) {
    const { records } = input;
    if (records === undefined) return performer.run(input, call);
    return performer.run({ ...input, ...(await opened({ records }, call, ports)) }, call);
  },
});

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
