/** The published MCP server over standard input and output, as a program that a test has the host start; not shipped. */
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const form = { type: 'object' as const, properties: { size: { type: 'string' as const } }, required: ['size'] };

serveStdio(() => {
  const server = new McpServer({ name: 'published', version: '1' });
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }, context) => {
    const { progressToken } = context.mcpReq._meta ?? {};
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, total: 2, message: 'half' };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return { ...text(String(a + b)), _meta: { seen: context.mcpReq._meta } };
  });
  server.registerTool('wait', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    process.stderr.write('wait began\n');
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve, { once: true }));
    process.stderr.write('wait was canceled\n');
    return text('too late');
  });
  server.registerTool('book', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const chosen = acceptedContent(mcpReq.inputResponses, 'size', z.object({ size: z.string() }));
    if (chosen !== undefined) return text(`Booked ${chosen.size}.`);
    const size = inputRequired.elicit({ message: 'Which size?', requestedSchema: form });
    return inputRequired({ requestState: 'the state', inputRequests: { size } });
  });
  return server;
});
