/** The configuration of MCP servers whose tools agents may use. Only it can name an address or a program. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { address, headers, label, refuseTwins, variables } from './fields.ts';

const absolute = z.string().max(4_096).refine(isAbsolute, 'must be an absolute path');

/** A relative path would depend on the folder in which the host was started. */
const command = z
  .string()
  .min(1)
  .max(4_096)
  .refine((text) => !/[/\\]/.test(text) || isAbsolute(text), 'must be the name of a program, or an absolute path');

const server = z.strictObject({
  id: label.max(64).describe('The name of the server in the ids of its tools, `mcp:<id>/<tool>`.'),
  url: address.optional().describe('The address, for streamable HTTP. It may be in a private network.'),
  headers: headers
    .default({})
    .describe(
      'Headers of each request: text, or `{ "secret": "<name>" }`. `"prefix": "Bearer "` in it is sent before the secret.',
    ),
  command: command
    .optional()
    .describe('Instead of `url`: a program that the host starts, without a shell, and speaks with over its pipes.'),
  args: z.array(z.string().max(32_768)).max(256).default([]).describe('The arguments of the program.'),
  env: variables
    .default({})
    .describe(
      'Its environment variables: text, or `{ "secret": "<name>" }`. Of those of the host it gets only `PATH`, `HOME`, the user, the language and the time zone.',
    ),
  cwd: absolute.optional().describe('The folder in which it starts. Default: that of the host.'),
  needs: z
    .array(z.string().regex(/^tool:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be tool:<name>'))
    .default([])
    .describe('Scopes, each `tool:<name>`, that the starter of a run must hold to use its tools.'),
  timeoutMs: z.int().min(1).max(3_600_000).default(60_000).describe('How long a call may take.'),
  answerTimeoutMs: z
    .int()
    .min(1_000)
    .max(86_400_000)
    .default(600_000)
    .describe(
      'How long a server of a revision of 2025 may hold a call open while a person answers its question. A newer one holds nothing.',
    ),
  maxCallsAtOnce: z.int().min(1).max(1_000).default(16).describe('Calls at once. Others wait for their turn.'),
  maxTenantCallsAtOnce: z.int().min(1).max(1_000).default(8).describe('Calls at once of one tenant.'),
  maxResponseBytes: z
    .int()
    .min(1_000)
    .max(4_000_000)
    .default(1_000_000)
    .describe('The most that the server may send in one call. Each line of a stream counts 64 bytes more than it has.'),
  listEveryMs: z.int().min(1_000).default(300_000).describe('How long a list of its tools is used.'),
  trustAnnotations: z
    .boolean()
    .default(false)
    .describe(
      'Believe the server which of its tools only read or may be repeated. Otherwise a person decides about a call that was interrupted.',
    ),
});

/** A server is reached in one way, and has the settings of that way only. */
function checkReach(configured: z.infer<typeof server>, context: z.RefinementCtx): void {
  const { url, headers: sent, command: program, args, env, cwd } = configured;
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if ((url === undefined) === (program === undefined)) {
    refuse(url === undefined ? 'url' : 'command', 'must have either url or command, and not both');
  }
  if (program !== undefined && Object.keys(sent).length > 0) refuse('headers', 'is only for a server with a url');
  if (url === undefined) return;
  for (const [name, value] of Object.entries({ args, env, cwd: cwd ?? [] })) {
    if (Object.keys(value).length > 0) refuse(name, 'is only for a server with a command');
  }
}

export const mcpSchema = z.strictObject({
  servers: z
    .array(server.superRefine(checkReach))
    .superRefine((servers, context) => refuseTwins(servers, 'id', context))
    .default([])
    .describe('MCP servers whose tools agents may use.'),
});
