/** The configuration key for tools: which tools agents may call, how often, and which origins they may fetch. */
import { z } from 'zod';
import { toolLinePattern } from '../../agents/allowlist.ts';
import { MAX_CLIENT_TIMEOUT_MS } from '../../agents/tools/client-tools.ts';
import { name, origin } from './fields.ts';

const lines = z.array(
  z
    .string()
    .regex(toolLinePattern, 'must be the id of a tool, such as openwop:time, a family such as openwop:fs.*, or *'),
);

export const toolsSchema = z.strictObject({
  allow: lines
    .optional()
    .describe(
      'The tools that agents may call if their manifests list them: ids such as `openwop:time` and families such as `openwop:*`. `*` allows all tools and enables `*` in manifests. Default: every tool that the host offers.',
    ),
  tenants: z.record(name, lines).default({}).describe('Lists that replace `allow`, by tenant.'),
  maxCallsPerMinute: z.int().min(1).optional().describe('Calls per minute of one tool by the runs of one principal.'),
  clientTimeoutMs: z
    .int()
    .min(1)
    .max(MAX_CLIENT_TIMEOUT_MS)
    .default(3_600_000)
    .describe(
      'How long the call of a [tool that the client executes](task-events.md#client-tools) waits for its result. Then the call fails with `tool_timeout` and the agent goes on.',
    ),
  http: z
    .strictObject({
      allow: z
        .array(z.union([origin, z.literal('*')], { error: 'must be an origin such as https://api.example.org, or *' }))
        .default([])
        .describe(
          'Origins that `openwop:http.fetch` may call, even without TLS or in a private network. `*` allows every public https address. If the list is empty, the tool is not available.',
        ),
    })
    .prefault({})
    .describe('HTTP access of agents.'),
});
