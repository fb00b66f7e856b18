/** The inventory: the public part of installed agents. It excludes prompts, schemas and credentials. */
import { z } from 'zod';
import { count, share } from '../fields.ts';
import { memoryShape } from './agent-manifest.ts';

/** Memory features that a host may lack. */
export const memoryDimensions = [
  'read',
  'write',
  'search',
  'long-term-durability',
  'compaction',
  'attribution',
  'replay-snapshot',
  'retention',
] as const;

/** `GET /v1/agents/{agentId}` (closed). */
export const agentInventoryEntry = z
  .strictObject({
    agentId: z.string(),
    persona: z.string(),
    /** The persona, where the manifest has no label. */
    label: z.string(),
    description: z.string().optional(),
    /** As in the manifest. */
    modelClass: z.string(),
    packName: z.string(),
    packVersion: z.string(),
    /** Empty: no tools. */
    toolAllowlist: z.array(z.string()),
    hasHandoffSchemas: z.boolean(),
    memoryShape: memoryShape.optional(),
    confidenceThreshold: share.optional(),
    /** Capabilities that the agent asks for and that this host does not have. */
    degraded: z.array(z.string()).optional(),
    memoryDegraded: z.boolean().optional(),
    degradedMemoryDimensions: z.array(z.enum(memoryDimensions)).optional(),
  })
  .meta({ id: 'AgentInventoryEntry' });

/** `GET /v1/agents` (closed): in the order of the ids, and all of them. */
export const agentInventory = z
  .strictObject({ agents: z.array(agentInventoryEntry), total: count })
  .meta({ id: 'AgentInventory' });

export type MemoryDimension = (typeof memoryDimensions)[number];
export type AgentInventoryEntry = z.infer<typeof agentInventoryEntry>;
export type AgentInventory = z.infer<typeof agentInventory>;
