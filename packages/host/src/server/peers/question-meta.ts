/**
 * What a form of MCP says about its question besides its fields: `_meta["cairn.question"]`. A host that passes the
 * question on can then ask under the same rules.
 */
import { z } from 'zod';

export const QUESTION_META = 'cairn.question';

export const questionMeta = z.object({
  inputId: z.string().max(256).optional(),
  /** Only the user who started the run may answer. */
  requireUser: z.boolean().optional(),
  /** It decides something: no agent answers it. */
  isApproval: z.boolean().optional(),
});

export type QuestionMeta = Readonly<z.infer<typeof questionMeta>>;

/** What the person said who declined such a question, in `_meta` of the reply. The protocol has no place for it. */
export const REASON_META = 'cairn.reason';
