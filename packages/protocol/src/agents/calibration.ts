/** `GET /v1/host/cairn/calibration`: the confidence that agents stated, compared with the verdicts of people. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, text } from '../fields.ts';

/** Of decisions with a stated confidence. */
const tally = {
  /** All of them. */
  stated: count,
  /** Decisions below the threshold, which needed human review. */
  held: count,
  /** The verdicts: accepted, edited, or rejected. */
  approved: count,
  edited: count,
  rejected: count,
  /** No verdict in time. */
  expired: count,
};

export const calibration = z
  .object({
    /** By agentId. */
    agents: z.array(
      z.object({
        agentId: text,
        ...tally,
        /** By stated confidence in steps of 0.1, `from` included, `to` not (the last one has 1 as well); without empty ones. */
        buckets: z.array(z.object({ from: z.number(), to: z.number(), ...tally })),
      }),
    ),
    /** False if the log is longer than one request reads. Repeat the request to continue. */
    complete: z.boolean(),
  })
  .meta({ id: 'Calibration' });

export type Calibration = DataOf<typeof calibration>;
export type AgentCalibration = Calibration['agents'][number];
