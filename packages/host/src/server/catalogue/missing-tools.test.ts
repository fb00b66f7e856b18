import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { ToolRegistry } from '../../agents/tools/tool-registry.ts';
import { reportMissingTools } from './missing-tools.ts';

const quote = defineTool({ id: 'acme:quote', description: 'Offers.', input: z.object({}), run: () => 1 });
const agent = (...tools: string[]) =>
  defineAgent({ id: 'host:seller', persona: 'Seller', instructions: 'Sell.', tools });

test('a tool that is not there is reported, with the one that may be meant', () => {
  const reports: object[] = [];
  reportMissingTools(
    [agent('acme:quote', 'acme:qoute', 'zoo:feed')],
    new ToolRegistry([quote]),
    (notice) => void reports.push(notice),
  );
  const named = { level: 'warn', event: 'agent.tool_missing' };
  expect(reports).toEqual([
    { ...named, facts: { agentId: 'host:seller', toolId: 'acme:qoute', meant: 'acme:quote' } },
    { ...named, facts: { agentId: 'host:seller', toolId: 'zoo:feed' } },
  ]);
});

test('patterns, and tools of servers, peers and clients, may be there later', () => {
  const later = agent('zoo:*', 'mcp:files:read', 'a2a:shop:ask', 'client:paint');
  const reports: object[] = [];
  reportMissingTools([later], new ToolRegistry([]), (notice) => void reports.push(notice));
  expect(reports).toEqual([]);
});
