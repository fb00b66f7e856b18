/** Parses a stored agent definition. This is the only place that parses it; the rest of the host uses the type. */
import { agentManifest, type JsonObject, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { AgentDefinition } from '../engine/ports.ts';

/**
 * Not validated again: it was checked at installation. The same object is returned, because caches of scripts and
 * schemas use its identity.
 */
const object = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  .optional();

/** Open: a later version may store more fields. */
const definition = z.looseObject({
  packName: z.string(),
  packVersion: z.string(),
  // Agents defined in the host's code have ids that are invalid in a pack manifest.
  manifest: z.looseObject({ ...agentManifest.shape, agentId: z.string() }),
  systemPrompt: z.string(),
  taskSchema: object,
  returnSchema: object,
  rehearsal: object,
  peer: z.string().optional(),
});

/** Throws `internal_error` for an invalid body: only definitions are stored under such a hash. */
export function readAgentDefinition(hash: string, body: string): AgentDefinition {
  const parsed = definition.safeParse(JSON.parse(body));
  if (parsed.success) return parsed.data;
  throw new TerminalError('internal_error', {
    message: `The definition ${hash} in the store is not an agent: ${z.prettifyError(parsed.error)}`,
    hint: 'Install the pack of the agent again and start a new run.',
    details: { definitionHash: hash },
  });
}
