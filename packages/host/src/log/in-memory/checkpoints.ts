import { type Checkpoints, isSuperseded } from '../ports/checkpoints.ts';
import type { Tables } from './tables.ts';

export function inMemoryCheckpoints(tables: Tables): Checkpoints {
  const { checkpoints } = tables;
  const positions = new Map<string, string>();
  return {
    async put(checkpoint) {
      tables.assertOpen();
      const { runId, seq: after } = checkpoint;
      const kept = checkpoints.get(runId) ?? [];
      const newest = kept.at(-1);
      if (newest !== undefined && newest.seq > after) return;
      const before = kept.at(-2)?.seq ?? -1;
      const goes =
        newest !== undefined && (newest.seq === after || isSuperseded(newest.body.length, { before, after }));
      checkpoints.set(runId, [...(goes ? kept.slice(0, -1) : kept), checkpoint]);
    },
    async get(runId, atMost = Number.POSITIVE_INFINITY) {
      tables.assertOpen();
      return checkpoints.get(runId)?.findLast(({ seq }) => seq <= atMost) ?? null;
    },
    async position(reader) {
      tables.assertOpen();
      return positions.get(reader) ?? null;
    },
    async putPosition(reader, position) {
      tables.assertOpen();
      positions.set(reader, position);
    },
  };
}
