/** What an agent knows from before: kept, found again and dropped by tools, in whatever memories its manifest gives it. */
import { z } from 'zod';
import { hostTool } from './define-tool.ts';
import type { HostToolContext, Tool } from './tool.ts';

const memory = z.enum(['scratchpad', 'conversation', 'long-term']);

export type MemoryName = z.infer<typeof memory>;

const oneOf = 'Of those you have: scratchpad (for this run), conversation, or long-term (for good)';

export interface RememberRequest {
  readonly content: string;
  readonly tags?: readonly string[] | undefined;
  /** From the moment it is written; left out: for as long as its memory lasts. */
  readonly ttlMs?: number | undefined;
  /** Left out: the one of the agent's that lasts longest. */
  readonly in?: MemoryName | undefined;
}

export interface MemoryQuery {
  /** Left out: the newest. */
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  readonly limit?: number | undefined;
  /** Left out: all of the agent's. */
  readonly in?: MemoryName | undefined;
}

/** The call says whose memory it is and what of it can be seen, and its rows record what is written. */
export interface MemoryPort {
  /** The same call writes the same entry, however often it is made. */
  remember(call: HostToolContext, entry: RememberRequest): Promise<{ readonly id: string }>;
  recall(call: HostToolContext, query: MemoryQuery): Promise<readonly object[]>;
  /** Whether there was such an entry, in the memory that is named or in any of the agent's. */
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
