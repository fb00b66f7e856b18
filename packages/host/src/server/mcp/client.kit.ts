/** A host with workflows and agents, and the published MCP client of both kinds of revisions; not shipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '@cairn/protocol';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ToolContext } from '../../agents/tools/tool.ts';
import { alphaAgents, alphaConfig, keys } from '../alpha.kit.ts';
import { createHost, type Host } from '../create-host.ts';
import { MODERN } from './versions.ts';

export { ALPHA, BETA, keys } from '../alpha.kit.ts';

/** Every revision is spoken by the published client. */
export const eras = ['2025-11-25', MODERN] as const;
export type Era = (typeof eras)[number];

export class McpHost {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cairn-mcp-'));
  readonly #clients: Client[] = [];
  #host: Host | null = null;
  /** What the tool of `host:desk` does in the test that runs. */
  work: (context: ToolContext) => Promise<Json> = async () => null;

  async start(): Promise<void> {
    const parts = alphaAgents((context) => this.work(context));
    this.#host = await createHost({ config: alphaConfig(this.#folder), ...parts, prompts });
    for (const workflow of workflows) await this.rest('POST', '/v1/workflows', workflow);
  }

  get url(): string {
    if (this.#host === null) throw new Error('The host is not started.');
    return this.#host.url ?? '';
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.#host?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A connected client of a revision. */
  async client(
    era: Era,
    options: { key?: string; onForm?: (message: string) => Json | Promise<Json>; fetch?: typeof fetch } = {},
  ): Promise<Client> {
    const { key = keys.ann, onForm, fetch: through = fetch } = options;
    const given: ClientOptions = {
      capabilities: onForm === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === MODERN ? 'auto' : 'legacy' },
    };
    const client = new Client({ name: 'test', version: '1' }, given);
    if (onForm !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => onForm(params.message) as never);
    }
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/v1/mcp', this.url), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
        fetch: through,
      }),
    );
    this.#clients.push(client);
    return client;
  }

  /** The newest run of a workflow, once it has the status. */
  async newestRun(workflowId: string, status: string): Promise<string> {
    for (;;) {
      const { runs } = await this.rest('GET', `/v1/runs?workflowId=${workflowId}&status=${status}&limit=1`);
      const [newest] = runs as readonly JsonObject[];
      if (newest !== undefined) return String(newest.runId);
    }
  }

  /** The events of a run, once it has ended. */
  async ended(runId: string): Promise<readonly JsonObject[]> {
    const response = await fetch(`${this.url}/v1/runs/${runId}/events`, {
      headers: { authorization: `Bearer ${keys.ann}`, accept: 'text/event-stream' },
    });
    await response.text();
    return eventsOf(this, runId);
  }

  async rest(method: string, path: string, body?: unknown, key = keys.ann): Promise<JsonObject> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as JsonObject;
  }

  /** A raw request, for what no client would send. */
  async rpc(body: unknown, options: { key?: string; headers?: Record<string, string>; text?: string } = {}) {
    const response = await fetch(`${this.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${options.key ?? keys.ann}`,
        'content-type': 'application/json',
        ...options.headers,
      },
      body: options.text ?? JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? {} : JSON.parse(text)) as JsonObject,
    };
  }
}

const one = (
  id: string,
  node: { typeId: string; config?: JsonObject; inputs?: JsonObject },
  more: JsonObject = {},
) => ({
  ...{ id, name: id, version: '1', edges: [], triggers: [], variables: [], metadata: {}, settings: {} },
  nodes: [{ id: 'n', name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {}, ...node }],
  ...more,
});

const questions = [{ id: 'city', question: 'Which city?', schema: { type: 'string', minLength: 2 } }];

const workflows = [
  one(
    'greet',
    { typeId: 'core.identity', inputs: { who: { type: 'variable', variableName: 'who' } } },
    {
      description: 'Greets somebody.',
      variables: [
        { name: 'who', type: 'string', required: true, description: 'Whom to greet.' },
        { name: 'times', type: 'number', defaultValue: 1 },
      ],
    },
  ),
  one('gate', { typeId: 'core.approvalGate', config: { title: 'Pay?' } }),
  one('ask', { typeId: 'core.clarificationGate', config: { questions } }),
  one('talk', { typeId: 'core.conversationGate', config: { prompt: 'Well?' } }),
  one('fail', { typeId: 'core.fail' }),
  one('slow', { typeId: 'core.delay', config: { delayMs: 3_600_000 } }),
];

const topic = { name: 'topic', type: 'string', required: true, description: 'What it is about.' } as const;
const audience = { name: 'audience', type: 'string', required: false, defaultValue: 'everybody' } as const;

const prompts = [
  {
    ...({ templateId: 'acme.write', version: '1.0.0', kind: 'user', name: 'Write' } as const),
    description: 'Asks for a text.',
    text: 'Write about {{topic}} for {{audience}}, in {{topic}} words.',
    variables: [topic, audience, { name: 'runId', type: 'string', required: false, source: 'context' } as const],
  },
  { templateId: 'acme.write', version: '0.9.0', kind: 'user', text: 'Old.' } as const,
  { templateId: 'acme.tone', version: '1.0.0', kind: 'system', text: 'Be kind.' } as const,
];

/** The run of a result. */
export const runOf = ({ _meta }: { readonly _meta?: unknown }): string =>
  String((_meta as JsonObject | undefined)?.runId);

export async function eventsOf(host: McpHost, runId: string): Promise<readonly JsonObject[]> {
  const { events } = await host.rest('GET', `/v1/runs/${runId}/events`);
  return events as readonly JsonObject[];
}
