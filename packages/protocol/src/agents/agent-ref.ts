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

const tierId = /^(core|vendor|community|private|local)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)*$/;
const hostId = /^host:[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/**
 * Why a request may not name an agent by this id; null if it may. The host alone makes `core.system` and `host:` ids
 * with further colons: of peers, of prompts, of tests.
 */
export function agentIdProblem(agentId: string): string | null {
  if (agentId === 'core.system' || (agentId.startsWith('host:') && agentId.indexOf(':', 5) !== -1)) {
    return 'is an id that only the host gives';
  }
  if (agentId.startsWith('did:')) {
    return 'is the id of another system; define an agent host:<name> for it, or take one from a pack';
  }
  if (agentId.length <= 256 && (tierId.test(agentId) || hostId.test(agentId))) return null;
  return 'must be host:<name>, or begin with core., vendor., community., private. or local., such as vendor.acme.desk.triage';
}
