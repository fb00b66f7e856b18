/** A host with an agent that has tools of every kind, and a model that the test scripts; not shipped. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import {
  callFragment,
  chunk,
  type FakeReply,
  type FakeRequest,
  fakeOpenAi,
  usageChunk,
} from '../../../test/kit/fake-openai.ts';
import { objects } from '../../../test/kit/json-fields.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver, type Host } from '../create-host.ts';

export const keys = {
  ann: 'ann-key-0123456789-abcdefghijklmnop',
  other: 'other-key-0123456789-abcdefghijklmno',
  /** May talk, and not answer for anybody. */
  reader: 'reader-key-0123456789-abcdefghijklmn',
};

const look = defineTool({
  id: 'acme:look',
  description: 'Looks an order up.',
  input: z.object({ order: z.string() }),
  safety: 'read',
  run: async ({ order }, { progress, file }) => {
    progress(0.5, 'halfway');
    const receipt = file('receipt.md');
    await receipt.write(`# Order ${order}`);
    await receipt.close();
    return { order, euros: 180 };
  },
});

const refund = defineTool({
  id: 'acme:refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string() }),
  safety: 'idempotent',
  run: async ({ order }, { ask }) => {
    const isApproved = await ask({ prompt: `Refund ${order}?`, schema: z.boolean() });
    return { paid: isApproved };
  },
});

const wish = defineTool({
  id: 'acme:wish',
  description: 'Asks what the customer wants.',
  input: z.object({}),
  safety: 'read',
  run: async (_, { ask }) => ({ wants: await ask({ prompt: 'Money or goods?', options: ['money', 'goods'] }) }),
});

const terms = defineTool({
  id: 'acme:terms',
  description: 'Has the customer accept the terms.',
  input: z.object({}),
  safety: 'read',
  run: async (_, { ask }) => ({ isAccepted: await ask({ prompt: 'Accept the terms?', schema: z.literal(true) }) }),
});

export const says = (...words: readonly string[]): FakeReply => ({
  chunks: [...words.map((content) => chunk({ content })), chunk({}, 'stop'), usage],
});

export const thinks = (thought: string, ...words: readonly string[]): FakeReply => ({
  chunks: [
    chunk({ reasoning_content: thought }),
    ...words.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    usage,
  ],
});

export const calls = (...tools: readonly { readonly name: string; readonly input: JsonObject }[]): FakeReply => ({
  chunks: [
    ...tools.map(({ name, input }, i) =>
      chunk(callFragment(i, { id: `c${i}`, name: name.replace(':', '_'), arguments: JSON.stringify(input) })),
    ),
    chunk({}, 'tool_calls'),
    usage,
  ],
});

export const usage = usageChunk({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });

/** How many tool results the model has seen since the last message of the user. */
export function resultsIn({ body }: FakeRequest): number {
  const messages = objects(body.messages);
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(asked).filter(({ role }) => role === 'tool').length;
}

export interface Shop extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** What the model answers next. */
  script: (request: FakeRequest) => FakeReply;
}

export async function openShop(config: object = {}): Promise<Shop> {
  const shop: { script: Shop['script'] } = { script: () => says('Hel', 'lo.') };
  const model = await fakeOpenAi((request) => shop.script(request));
  const folder = await mkdtemp(join(tmpdir(), 'cairn-shop-'));
  const store = await openSqliteStore({ folder, onFault: () => undefined });
  const tools = [look, refund, wish, terms];
  const host: Host = await createHostOver(store, {
    report: () => undefined,
    tools,
    agents: [
      defineAgent({
        id: 'host:desk',
        persona: 'Desk',
        instructions: 'Help.',
        tools: ['acme:look', 'acme:refund', 'acme:wish', 'acme:terms', 'client:*'],
      }),
    ],
    config: {
      port: 0,
      data: folder,
      keys: [
        { key: keys.ann, tenant: 't', principal: 'ann' },
        { key: keys.other, tenant: 'u', principal: 'eve' },
        {
          key: keys.reader,
          tenant: 't',
          principal: 'rob',
          scopes: scopes.filter((scope) => scope.startsWith('runs:')),
        },
      ],
      models: {
        providers: { local: { kind: 'openai-compatible', baseUrl: model.url } },
        default: 'local/small',
      },
      ...config,
    },
  });
  return Object.assign(shop, {
    url: host.url ?? '',
    requests: model.requests,
    async [Symbol.asyncDispose]() {
      await host.close();
      await model[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  });
}
