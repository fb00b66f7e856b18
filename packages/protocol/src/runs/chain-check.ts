/** `GET /v1/host/cairn/runs/{runId}/chain`: whether the events of a run are as they were written. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, text } from '../fields.ts';

export const chainChecked = z
  .object({
    runId: text,
    /** Events that this request checked. */
    checked: count,
    /** Those of them whose content was purged: only their place in the chain is checked. */
    retired: count,
    problems: z.array(z.object({ sequence: count, message: text })),
    /** The hash of the last event that was checked. */
    hash: text,
    /** Go on with `after` of this sequence; null when all events are checked. */
    next: count.nullable(),
  })
  .meta({ id: 'ChainChecked' });

export type ChainChecked = DataOf<typeof chainChecked>;
