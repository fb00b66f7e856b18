/** Calls a tool of an MCP server: builds the request, and converts the result. */
import { BUDGET_KEY, CAUSATION_KEY, type JsonObject, type RemoteRun, remoteRun, TerminalError } from '@cairn/protocol';
import {
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
} from '@modelcontextprotocol/client';
import { RemoteResult } from '../../agents/tools/remote-result.ts';
import type { HostToolContext } from '../../agents/tools/tool.ts';
import { type CallOrigin, causeOf } from '../peers/call-origin.ts';
import type { HeldCall } from './held-calls.ts';
import type { AnsweredInput } from './input-needed.ts';
import type { KnownTool } from './listed-tools.ts';
import { mcpError } from './mcp-error.ts';
import { type Exchange, knownFrom } from './sdk-client.ts';

/** Maximum characters of an error that a tool reports. */
const MAX_ERROR = 1_500;

export interface CalledTool {
  /** The id of the server. */
  readonly server: string;
  readonly tool: KnownTool;
  readonly input: JsonObject;
  /** For a request that is repeated with the answers of people. */
  readonly answered: AnsweredInput | undefined;
  /** How long the server may wait for answers on its connection. The entry into the call limits the rest. */
  readonly waitMs: number;
  /** Whether the server is one of a host that may know what is left of the run's budget. */
  readonly hearsBudget: boolean;
}

interface Calling {
  readonly context: HostToolContext;
  readonly origin: CallOrigin;
  readonly held: Pick<HeldCall, 'progress' | 'elicit'>;
}

/** The result, or what the server needs from people first. */
export async function callTool(
  { client, elicits, options }: Exchange,
  { server, tool, input, answered, waitMs, hearsBudget }: CalledTool,
  { context, origin, held }: Calling,
): Promise<RemoteResult | InputRequiredResult> {
  const { name, inputSchema } = tool;
  const params = { name, arguments: input, _meta: await metaOf(context, origin, hearsBudget), ...answered };
  elicits.add(held.elicit);
  const calling = client.callTool(params, {
    ...options,
    timeout: (options.timeout ?? 0) + (knownFrom(client).kind === 'legacy' ? waitMs : 0),
    allowInputRequired: true,
    onprogress: ({ progress, total, message }) => {
      const share = shareOf(progress, total);
      held.progress(share, message, Number.isNaN(share) ? { indeterminate: true } : undefined);
    },
    // Some arguments are repeated in headers, as the schema says.
    toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
  });
  const result: CallToolResult | InputRequiredResult | RemoteResult = await calling
    .catch(refusedBy(server))
    .finally(() => elicits.delete(held.elicit));
  if (result instanceof RemoteResult) return result;
  return isInputRequiredResult(result) ? result : new RemoteResult(endOf(name, result), remoteOf(result));
}

/** A protocol error may name the run that it concerns. */
const refusedBy = (server: string) => (error: unknown) => {
  const remote = error instanceof ProtocolError ? remoteRun.safeParse(error.data).data : undefined;
  if (remote === undefined) throw error;
  return new RemoteResult({ error: mcpError(server, error) }, remote);
};

async function metaOf(context: HostToolContext, origin: CallOrigin, hearsBudget: boolean): Promise<JsonObject> {
  const { traceparent, tracestate } = await origin.traceHeaders();
  const cause = await causeOf(context, origin);
  return {
    ...(traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent }),
    ...(tracestate === undefined ? {} : { [TRACESTATE_META_KEY]: tracestate }),
    ...(cause === null ? {} : { [CAUSATION_KEY]: cause }),
    ...(context.budget !== undefined && hearsBudget ? { [BUDGET_KEY]: context.budget } : {}),
  };
}

/** Without a total, the progress is indeterminate. */
const shareOf = (progress: number, total: number | undefined): number =>
  total === undefined || total <= 0 ? Number.NaN : Math.min(1, progress / total);

function endOf(name: string, result: CallToolResult): RemoteResult['end'] {
  const { isError = false, structuredContent, content } = result;
  if (isError) {
    const message = textOf(content).slice(0, MAX_ERROR);
    return { error: new TerminalError('tool_failed', { message: message || `The tool ${name} reports an error.` }) };
  }
  return { value: structuredContent === undefined ? plain(content) : structuredContent };
}

/** Text alone is the result as text; anything else as the blocks of the protocol. */
const plain = (content: readonly ContentBlock[]): unknown =>
  content.every(({ type }) => type === 'text') ? textOf(content) : content;

const textOf = (content: readonly ContentBlock[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');

/** A claim of the other host. This host records it and does not act on it. */
const remoteOf = ({ _meta }: CallToolResult): RemoteRun | undefined => remoteRun.safeParse(_meta).data;
