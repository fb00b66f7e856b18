/** Reads the definition of an agent as a store holds it. It is parsed here, once; inside the host it is typed. */
import { agentManifest, type JsonObject, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { AgentDefinition } from '../engine/ports.ts';

/** Not looked into: it was checked when the agent came, and its identity is what scripts and schemas are kept by. */
const object = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  .optional();

/** Open: a definition that a later version stored may say more. */
const definition = z.looseObject({
  packName: z.string(),
  packVersion: z.string(),
  // Agents of the host's own code have ids that no manifest of a pack may have.
  manifest: z.looseObject({ ...agentManifest.shape, agentId: z.string() }),
  systemPrompt: z.string(),
  taskSchema: object,
  returnSchema: object,
  rehearsal: object,
});

/** Throws `internal_error` for a body that is no definition: nothing else is ever stored under such a hash. */
export function readAgentDefinition(hash: string, body: string): AgentDefinition {
  const parsed = definition.safeParse(JSON.parse(body));
  if (parsed.success) return parsed.data;
  throw new TerminalError('internal_error', {
    message: `The definition ${hash} in the store is no agent: ${z.prettifyError(parsed.error)}`,
    hint: 'Install the pack of the agent again and start a new run.',
    details: { definitionHash: hash },
  });
}
