/** `GET /v1/host/cairn/calibration`: how sure agents said they were, against what people said of their decisions. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, text } from '../fields.ts';

/** Of decisions with a stated confidence. */
const tally = {
  /** All of them. */
  stated: count,
  /** Those that were held for a person, because the confidence was below the threshold. */
  held: count,
  /** What people said of those: right as it stood, changed, or not to be done. */
  approved: count,
  edited: count,
  rejected: count,
  /** Nobody said anything in time. */
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
    /** False when the log is longer than one request looks through: ask again, and it goes on from there. */
    complete: z.boolean(),
  })
  .meta({ id: 'Calibration' });

export type Calibration = DataOf<typeof calibration>;
export type AgentCalibration = Calibration['agents'][number];
