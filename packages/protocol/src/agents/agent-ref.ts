/** AgentRef: who acted, as it travels on the wire (closed shape). */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';

export const modelClasses = [
  'reasoning',
  'tool-using',
  'chat',
  'code',
  'vision',
  'multimodal',
  'embedding',
  'classification',
  'retrieval',
] as const;

export const agentRef = z
  .strictObject({
    agentId: z.string().min(3).max(256),
    name: z.string().max(256).optional(),
    modelClass: z.enum(modelClasses).optional(),
    memoryRef: z.string().min(1).max(256).optional(),
    version: z.string().max(64).optional(),
    channel: z.string().min(1).max(64).optional(),
    sourceManifestId: z.string().max(256).optional(),
  })
  .refine((ref) => ref.version === undefined || ref.channel === undefined, {
    message: 'version and channel exclude each other',
  })
  .meta({ id: 'AgentRef' });

export type AgentRef = DataOf<typeof agentRef>;
