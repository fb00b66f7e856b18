import type { RunId } from '@cairn/protocol';
import type { Checkpoint, Checkpoints } from '../ports/checkpoints.ts';
import type { Tables } from './tables.ts';

export function inMemoryCheckpoints(tables: Tables): Checkpoints {
  const checkpoints = new Map<RunId, Checkpoint>();
  const positions = new Map<string, string>();
  return {
    async put(checkpoint) {
      tables.assertOpen();
      const kept = checkpoints.get(checkpoint.runId);
      if (kept === undefined || kept.seq <= checkpoint.seq) checkpoints.set(checkpoint.runId, checkpoint);
    },
    async get(runId) {
      tables.assertOpen();
      return checkpoints.get(runId) ?? null;
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
