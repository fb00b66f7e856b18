/** What an agent knows from before: kept and found again by tools, in whatever memories its manifest gives it. */
import { z } from 'zod';
import { hostTool } from './define-tool.ts';
import type { HostToolContext, Tool } from './tool.ts';

const memory = z
  .enum(['scratchpad', 'conversation', 'long-term'])
  .describe('For this run, for this conversation, or for good; left out: the one that lasts longest.');

export type MemoryName = z.infer<typeof memory>;

export interface NewMemory {
  readonly content: string;
  readonly tags?: readonly string[] | undefined;
  readonly expiresAt?: number | undefined;
  readonly memory?: MemoryName | undefined;
}

export interface MemoryQuery {
  /** Left out: the newest. */
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  readonly limit?: number | undefined;
  readonly memory?: MemoryName | undefined;
}

/** The call says whose memory it is and what of it can be seen, and its rows record what is written. */
export interface MemoryPort {
  /** The same call writes the same entry, however often it is made. */
  remember(call: HostToolContext, entry: NewMemory): Promise<{ readonly id: string }>;
  recall(call: HostToolContext, query: MemoryQuery): Promise<readonly object[]>;
}

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
      memory: memory.optional(),
    }),
    safety: 'idempotent',
    untrusted: false,
    egress: 'none',
    async run(entry, context) {
      const { id } = await port.remember(context, entry);
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
      memory: memory.optional(),
    }),
    safety: 'read',
    egress: 'none',
    async run(query, context) {
      return { entries: await port.recall(context, query) };
    },
  }),
];
