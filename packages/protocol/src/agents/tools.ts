/** Tool descriptors: the tools that agents may be allowed to call. The routes describe tools; they do not call them. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { jsonObject, text } from '../fields.ts';

/** Where a tool comes from. */
export const toolSources = ['node-pack', 'workflow', 'mcp', 'connector', 'host-extension'] as const;

/** `standard` has the schemas, `compact` leaves them out. */
export const toolViews = ['standard', 'compact'] as const;

/** `GET /v1/tools/{toolId}` (closed). */
export const toolDescriptor = z
  .strictObject({
    /** `<scope>:<tool>`, as allowlists name it. */
    toolId: text,
    source: z.enum(toolSources),
    title: z.string().optional(),
    description: z.string().optional(),
    inputSchema: jsonObject.optional(),
    outputSchema: jsonObject.optional(),
    auth: z
      .strictObject({
        /** What the starter of a run must hold. */
        scopes: z.array(z.string()).optional(),
        /** Whether it works with a credential of the host. */
        credentialRef: z.boolean().optional(),
      })
      .optional(),
    egress: z.enum(['none', 'safe-fetch', 'host-mediated', 'host-owned']).optional(),
    approval: z.enum(['never', 'conditional', 'always']).optional(),
    replayPolicy: z.enum(['deterministic', 'idempotent', 'non-deterministic']).optional(),
    /** The strongest effect that a call may have. */
    safetyTier: z.enum(['pure', 'read', 'write', 'exec']),
    costHint: z.enum(['low', 'medium', 'high']).optional(),
    latencyHint: z.enum(['low', 'medium', 'high']).optional(),
  })
  .refine(({ safetyTier, source }) => safetyTier !== 'exec' || source === 'host-extension', {
    message: 'only a host-extension may be of the tier exec',
  })
  .meta({ id: 'ToolDescriptor' });

/** `GET /v1/tools`: in the order of the ids, and all that the caller's runs may call. */
export const toolList = z.strictObject({ tools: z.array(toolDescriptor) }).meta({ id: 'ToolList' });

export type ToolDescriptor = DataOf<typeof toolDescriptor>;
export type ToolList = DataOf<typeof toolList>;
