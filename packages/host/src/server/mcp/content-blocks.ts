/** Content blocks of MCP that a workflow gives as its output `content`: texts, images, sounds, resources. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';

const data = z.base64();
const mimeType = z.string().min(1).max(200);
const uri = z.string().min(1).max(2_000);

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), data, mimeType }),
  z.strictObject({ type: z.literal('audio'), data, mimeType }),
  z.strictObject({
    type: z.literal('resource'),
    resource: z.union([
      z.strictObject({ uri, mimeType: mimeType.optional(), text: z.string() }),
      z.strictObject({ uri, mimeType: mimeType.optional(), blob: data }),
    ]),
  }),
]);

const blocks = z.array(block).min(1).max(100);

/** Null for anything else, which is shown as JSON. */
export const contentBlocks = (content: Json | undefined): readonly object[] | null =>
  Array.isArray(content) ? (blocks.safeParse(content).data ?? null) : null;
