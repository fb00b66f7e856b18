/** Calls a tool of an MCP server: what the request states, and what becomes of the result. */

import {
  CAUSATION_KEY,
  type Causation,
  eventId,
  type JsonObject,
  type RemoteRun,
  remoteRun,
  TerminalError,
} from '@cairn/protocol';
import {
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  isInputRequiredResult,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
} from '@modelcontextprotocol/client';
import { RemoteResult } from '../../agents/tools/remote-result.ts';
import type { HostToolContext } from '../../agents/tools/tool.ts';
import type { Exchange } from './exchange.ts';
import type { AnsweredInput } from './input-needed.ts';
import type { KnownTool } from './listed-tools.ts';

/** What the host says about itself and the call. */
export interface CallOrigin {
  readonly hostId: string;
  /** Null before the host serves, and without HTTP: there is then no address to find the cause at. */
  readonly baseUrl: () => string | null;
  /** How many runs are above a run, here and on other hosts. */
  readonly depthOf: (runId: HostToolContext['runId']) => Promise<number>;
  readonly traceHeaders: () => Promise<Readonly<Record<string, string>>>;
}

/** The characters of an error that a tool reports. */
const MAX_ERROR = 1_500;

export interface CalledTool {
  readonly tool: KnownTool;
  readonly input: JsonObject;
  /** For a request that is repeated with the answers of people. */
  readonly answered: AnsweredInput | undefined;
}

/** The result, or what the server needs from people first. */
export async function callTool(
  { client, options }: Exchange,
  { tool, input, answered }: CalledTool,
  { context, origin }: { readonly context: HostToolContext; readonly origin: CallOrigin },
): Promise<RemoteResult | InputRequiredResult> {
  const { name, inputSchema } = tool;
  const params = { name, arguments: input, _meta: await metaOf(context, origin), ...answered };
  const result: CallToolResult | InputRequiredResult = await client.callTool(params, {
    ...options,
    allowInputRequired: true,
    onprogress: ({ progress, total, message }) => context.progress(shareOf(progress, total), message),
    // Some arguments are repeated in headers, as the schema says.
    toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
  });
  return isInputRequiredResult(result) ? result : new RemoteResult(endOf(name, result), remoteOf(result));
}

async function metaOf(context: HostToolContext, origin: CallOrigin): Promise<JsonObject> {
  const { traceparent, tracestate } = await origin.traceHeaders();
  const cause = await causeOf(context, origin);
  return {
    ...(traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent }),
    ...(tracestate === undefined ? {} : { [TRACESTATE_META_KEY]: tracestate }),
    ...(cause === null ? {} : { [CAUSATION_KEY]: cause }),
  };
}

async function causeOf(
  { runId, requestedSeq, agentId }: HostToolContext,
  { hostId, baseUrl, depthOf }: CallOrigin,
): Promise<Causation | null> {
  const base = baseUrl();
  if (base === null) return null;
  const wellKnownUrl = `${base}/.well-known/openwop`;
  const depth = (await depthOf(runId)) + 1;
  return { runId, hostId, eventId: eventId(runId, requestedSeq), wellKnownUrl, agentId, depth };
}

/** Without a total, nobody knows how far it is. */
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

/** A claim of the other host. It is recorded and used for nothing here. */
const remoteOf = ({ _meta }: CallToolResult): RemoteRun | undefined => remoteRun.safeParse(_meta).data;
