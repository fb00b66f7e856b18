/** The debug bundle: one run with its log and its spans in one JSON document, for debugging. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { runEventDoc } from '../events/run-event-doc.ts';
import { count, instant, jsonObject, text } from '../fields.ts';
import { runSnapshotSchema } from './run-snapshot.ts';

export const debugBundle = z
  .looseObject({
    bundleVersion: z.literal('1.0'),
    generatedAt: instant,
    host: z.strictObject({ name: text, version: text, vendor: z.string().optional() }),
    run: runSnapshotSchema,
    /** In order. `data` repeats `payload` under its older name. */
    events: z.array(runEventDoc),
    spans: z.array(z.looseObject({ name: text, attributes: jsonObject.optional() })),
    metrics: z.looseObject({
      openwopCost: jsonObject.nullable(),
      nodeCount: count,
      eventCount: count,
    }),
    redactionApplied: z.boolean(),
    redactionMode: z.enum(['mask', 'omit', 'hash', 'passthrough']),
    truncated: z.boolean(),
    truncatedReason: z.string().optional(),
  })
  .meta({ id: 'DebugBundle' });

export type DebugBundle = DataOf<typeof debugBundle>;
