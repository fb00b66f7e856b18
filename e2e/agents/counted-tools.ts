/** Tools of every safety level, with calls counted outside the host. Each call is on disk before it has any effect. */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool, type StepSafety, type Tool } from '../../packages/host/src/index.ts';
import type { Journal } from '../crash/journal.ts';

/** Long enough for a kill to hit the call. */
const WORK_MS = 25;

const kinds: Readonly<Record<string, StepSafety>> = { look: 'read', tally: 'idempotent', file: 'write' };

export const countedTools = (journal: Journal): readonly Tool[] =>
  Object.entries(kinds).map(([name, safety]) =>
    defineTool({
      id: `desk:${name}`,
      description: `Counts what it is given; ${safety}.`,
      input: z.object({ what: z.string() }),
      safety,
      async run({ what }, { runId, nodeId, callId, attempt, signal }) {
        journal.enter({ runId, nodeId, callId, attempt, safety });
        await pause(WORK_MS, undefined, { signal });
        return { did: what, attempt };
      },
    }),
  );
