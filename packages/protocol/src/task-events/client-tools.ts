/** Tools that the client of a conversation executes: it names them with a message, and answers their calls. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { jsonObject } from '../fields.ts';

/** Ids of tools have at most 64 characters, with the scope. */
const clientToolName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,57}$/, 'must be 1 to 57 letters, digits, hyphens or underscores')
  .describe('The name as the model sees it. The id of the tool is `client:<name>`.');

const MAX_DESCRIPTION = 4_096;

/** Most tools of one message. */
export const MAX_CLIENT_TOOLS = 64;

export const clientTool = z
  .strictObject({
    name: clientToolName,
    description: z
      .string()
      .max(MAX_DESCRIPTION)
      .optional()
      .describe('What the tool does and when to use it. The model decides by this text.'),
    parameters: jsonObject.describe('The JSON Schema of the arguments, an object.'),
  })
  .meta({ id: 'ClientTool' });

export type ClientTool = DataOf<typeof clientTool>;

const clientScope = 'client:';

export const clientToolId = (name: string): string => `${clientScope}${name}`;

/** The name that the client gave its tool; null for a tool of the host. */
export const clientToolNamed = (toolId: string): string | null =>
  toolId.startsWith(clientScope) ? toolId.slice(clientScope.length) : null;
