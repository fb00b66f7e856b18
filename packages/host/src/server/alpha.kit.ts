/** What the hosts of the A2A and MCP tests share: who calls them, a peer, and agents that say or do one thing; not shipped. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';
import { defineAgent } from '../agents/define-agent.ts';
import { defineTool } from '../agents/tools/define-tool.ts';
import type { ToolContext } from '../agents/tools/tool.ts';

export const keys = {
  ann: 'ann-key-0123456789-abcdefghijklmnop',
  bob: 'bob-key-0123456789-abcdefghijklmnop',
  other: 'other-key-0123456789-abcdefghijklmno',
  reader: 'reader-key-0123456789-abcdefghijklm',
  looker: 'looker-key-0123456789-abcdefghijklm',
  beta: 'beta-key-0123456789-abcdefghijklmnop',
};

export const ALPHA = 'hosts.example.org/alpha';
export const BETA = 'hosts.example.org/beta';

export const alphaConfig = (folder: string) => ({
  port: 0,
  data: folder,
  hostId: ALPHA,
  peers: [{ hostId: BETA, url: 'https://beta.example.org' }],
  keys: [
    { key: keys.ann, tenant: 't', principal: 'ann' },
    { key: keys.bob, tenant: 't', principal: 'bob' },
    { key: keys.other, tenant: 'u', principal: 'eve' },
    { key: keys.beta, tenant: 't', principal: 'beta', peer: BETA },
    { key: keys.looker, tenant: 't', principal: 'loo', scopes: ['runs:read' as const, 'manifest:read' as const] },
    { key: keys.reader, tenant: 't', principal: 'rea', scopes: ['runs:read' as const] },
  ],
});

/** `host:plain` says something, `host:desk` calls its tool in between. */
export function alphaAgents(work: (context: ToolContext) => Promise<Json>) {
  const tool = defineTool({
    id: 'acme.desk:work',
    description: 'Works.',
    input: z.object({}),
    safety: 'idempotent',
    run: (_input, context) => work(context),
  });
  const calls = [[{ say: ['I ', 'look.'] }, { call: { tool: tool.id, input: {} } }], [{ say: ['Do', 'ne.'] }]];
  const about = { persona: 'Desk', instructions: 'Do it.' };
  return {
    tools: [tool],
    agents: [
      defineAgent({ id: 'host:plain', ...about, rehearsal: { turns: [[{ say: ['Hel', 'lo.'] }]] } }),
      defineAgent({ id: 'host:desk', ...about, tools: [tool.id], rehearsal: { turns: calls } }),
    ],
  };
}
