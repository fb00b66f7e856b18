/** Turns of a model that do not fit in an event: artifacts hold their longest texts, and the record has their beginning. */
import { isJsonObject, type Json, type JsonObject, largeValueText } from '@cairn/protocol';
import { exceeds, MAX_ROW_BYTES } from '../../agents/loop/sizes.ts';
import type { ArtifactPort } from '../../agents/tools/artifact-port.ts';
import type { CallContext, Performer } from '../../engine/ports.ts';
import { MAX_VALUE_BYTES, withoutLarge } from '../../engine/values/large-values.ts';
import { hostCall } from './host-call.ts';

/** Texts of a turn that may be longer than an event, and the size that they may have together in the record. */
const NAMES = ['text', 'reasoning'] as const;
const FITS_BYTES = 240_000;

export const withLargeTurns = (performer: Performer, artifacts: ArtifactPort): Performer => ({
  ...performer,
  async run(input, call) {
    const outcome: Json = await performer.run(input, call);
    const turn = isJsonObject(outcome) ? outcome.turn : undefined;
    if (!isJsonObject(outcome) || !isJsonObject(turn) || !exceeds(outcome, MAX_ROW_BYTES)) return outcome;
    // The loop must read a result that has a schema.
    if (input.responseSchema !== undefined) return outcome;
    return { ...outcome, turn: await recorded(turn, call, artifacts) };
  },
});

async function recorded(turn: JsonObject, call: CallContext, artifacts: ArtifactPort): Promise<JsonObject> {
  const texts = Object.fromEntries(NAMES.flatMap((name) => (name in turn ? [[name, turn[name] ?? null]] : [])));
  if (exceeds(texts, MAX_VALUE_BYTES)) return turn;
  const kept = await withoutLarge(texts, FITS_BYTES, (text, place) => artifacts.value(hostCall(call), text, place));
  if (!isJsonObject(kept)) return turn;
  const large = Object.entries(kept).filter(([, value]) => typeof value !== 'string');
  const shown = large.map(([name, value]) => [name, largeValueText(value) ?? ''] as const);
  return { ...turn, ...Object.fromEntries(shown), large: Object.fromEntries(large) };
}
