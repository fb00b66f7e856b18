/** The response of another host, counted as it is read: its bytes, the values of its JSON, and the lines of a stream. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fewLines } from './few-lines.ts';
import { isEventStream, JsonValues } from './json-values.ts';

export interface CountingRules {
  /** Throws when the host has sent too much. */
  readonly spend: (bytes: number) => void;
  readonly tooManyValues: () => Error;
}

type Bytes = Uint8Array<ArrayBuffer>;

export function countedResponse(response: Response, { spend, tooManyValues }: CountingRules): Response {
  const { status, headers, body } = response;
  if (body === null) return response;
  const isStream = isEventStream(headers);
  const values = new JsonValues(isStream);
  const counted = new TransformStream<Bytes, Bytes>({
    async transform(piece, controller) {
      let isFirst = true;
      // Any other document is read at once, when it is whole.
      for (const { bytes, cost } of isStream ? fewLines(piece) : [{ bytes: piece, cost: piece.length }]) {
        if (!isFirst) await nextTurn();
        isFirst = false;
        spend(cost);
        if (!values.take(bytes)) throw tooManyValues();
        controller.enqueue(bytes);
      }
    },
  });
  return new Response(body.pipeThrough(counted), { status, headers });
}
