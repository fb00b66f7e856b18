/** `GET /v1/host/cairn/limits`: the limits of the caller's tenant, and what it uses of them. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, ordinal, text } from '../fields.ts';

const share = z.object({ max: ordinal, used: count });

export const tenantLimits = z
  .object({
    tenant: text,
    limits: z.object({
      /** Runs that the host works on. Runs that wait for a person or a later time do not count. */
      activeRuns: share,
      /** Starts that the limit still remembers; each is forgotten after `1 / max` seconds. */
      startsPerSecond: share,
      /** Calls to models, tools and steps in progress. Further ones wait. */
      openCalls: z.object({ max: ordinal, used: count, waiting: count }),
      /** Event streams and long polls. */
      openStreams: share,
    }),
  })
  .meta({ id: 'TenantLimits' });

export type TenantLimits = DataOf<typeof tenantLimits>;
