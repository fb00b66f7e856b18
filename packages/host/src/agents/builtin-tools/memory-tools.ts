/** Memory tools: remember, recall and forget, in the memories that the agent's manifest declares. */
import { z } from 'zod';
import { hostTool } from '../tools/define-tool.ts';
import type { HostToolContext, Tool } from '../tools/tool.ts';

const memory = z.enum(['scratchpad', 'conversation', 'long-term']);

export type MemoryName = z.infer<typeof memory>;

const oneOf = 'Of those you have: scratchpad (for this run), conversation, or long-term (for good)';

export interface RememberRequest {
  readonly content: string;
  readonly tags?: readonly string[] | undefined;
  /** Counted from the write. Default: as long as the memory lasts. */
  readonly ttlMs?: number | undefined;
  /** Default: the agent's longest-lived memory. */
  readonly in?: MemoryName | undefined;
}

export interface MemoryQuery {
  /** Default: the newest entries. */
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  readonly limit?: number | undefined;
  /** Default: all memories of the agent. */
  readonly in?: MemoryName | undefined;
}

/** The call identifies the owner of the memory and what it can see. Writes are recorded as rows of the call. */
export interface MemoryPort {
  /** Idempotent: the same call writes the same entry, however often it is repeated. */
  remember(call: HostToolContext, entry: RememberRequest): Promise<{ readonly id: string }>;
  recall(call: HostToolContext, query: MemoryQuery): Promise<readonly object[]>;
  /** Returns whether the entry existed, in the named memory or in any memory of the agent. */
  forget(call: HostToolContext, entry: { readonly id: string; readonly in?: MemoryName | undefined }): Promise<boolean>;
}

const DAY_MS = 86_400_000;

const tag = z.string().min(1).max(256);

export const memoryTools = (port: MemoryPort): readonly Tool[] => [
  hostTool({
    id: 'openwop:remember',
    title: 'Remember',
    description:
      'Keeps a short note for later turns and runs: one fact or decision, in words that will be understood then.',
    input: z.strictObject({
      content: z.string().min(1).max(16_000),
      tags: z.array(tag).max(32).optional(),
      in: memory.optional().describe(`${oneOf}; left out: the one that lasts longest.`),
      forDays: z.number().positive().max(3_650).optional().describe('When it will be of no use any more.'),
    }),
    safety: 'idempotent',
    untrusted: false,
    egress: 'none',
    async run({ forDays, ...entry }, context) {
      const ttl = forDays === undefined ? {} : { ttlMs: Math.ceil(forDays * DAY_MS) };
      const { id } = await port.remember(context, { ...entry, ...ttl });
      return { id };
    },
  }),
  hostTool({
    id: 'openwop:recall',
    title: 'Recall',
    description: 'Finds notes that were kept before, by words in them, by a tag, or the newest ones.',
    input: z.strictObject({
      text: z.string().max(1_000).optional().describe('Words to look for; left out: the newest notes.'),
      tag: tag.optional(),
      limit: z.int().min(1).max(50).optional(),
      in: memory.optional().describe(`${oneOf}; left out: all of them.`),
    }),
    safety: 'read',
    egress: 'none',
    async run(query, context) {
      return { entries: await port.recall(context, query) };
    },
  }),
  hostTool({
    id: 'openwop:forget',
    title: 'Forget',
    description: 'Drops a note that is wrong or over, by the id that recalling it gave.',
    input: z.strictObject({
      id: z.string().min(1).max(1_500),
      in: memory.optional().describe(`${oneOf}; left out: wherever it is.`),
    }),
    safety: 'idempotent',
    untrusted: false,
    egress: 'none',
    async run(entry, context) {
      return { forgotten: await port.forget(context, entry) };
    },
  }),
];
