/** Everything that only black-box suites need, as one host extension. `create-host` loads it in conformance mode. */
import { mockAgent } from '../agents/loop/mock-agent.ts';
import type { HostExtension } from '../server/host-extension.ts';
import { conformanceNodes } from './conformance-nodes.ts';
import { conformancePrompts } from './conformance-prompts.ts';
import { conversationSeamRoutes } from './conversation-seams.ts';
import { mcpPrompts, mcpResources, promptTemplates } from './mcp-fixtures.ts';
import { createProbePerformer, memoryProbe } from './memory-probe.ts';
import { testSeamRoutes } from './test-seams.ts';

export const conformance: HostExtension = {
  isUnderTest: true,
  prompts: [...conformancePrompts, ...promptTemplates],
  mcpResources,
  mcpPrompts,
  nodeTypes: (ports) => [...conformanceNodes(ports), memoryProbe, mockAgent(ports.loop)],
  performers: (ports) => [createProbePerformer(ports)],
  routes: (ports) => [...testSeamRoutes(ports), ...conversationSeamRoutes(ports.engine)],
};
