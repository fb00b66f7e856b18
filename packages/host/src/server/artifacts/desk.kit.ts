/** A host with one agent, whose one tool does what the test says with its artifacts; not shipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client/context';
import type { Json, JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import type { ToolContext } from '../../agents/tools/tool.ts';
import { scopes } from '../access/auth.ts';
import { createHost, type Host } from '../create-host.ts';

/** Of tenant `t`, but for bob. The reader may only read, the operator may do all. */
export const deskKeys = {
  ann: 'a-key-of-enough-characters',
  bob: 'another-key-of-enough-characters',
  reader: 'a-reading-key-of-enough-characters',
  operator: 'an-operator-key-of-enough-characters',
};

export const DESK_SECRET = 'sk-crm-0123456789abcdef';

export type DeskWork = (context: ToolContext) => Promise<Json>;

export interface DeskRun {
  readonly runId: string;
  readonly contextId: string;
  readonly rows: readonly { readonly type: string; readonly payload: JsonObject }[];
  /** The row of the tool's result. */
  readonly result: JsonObject;
}

export class Desk implements AsyncDisposable {
  readonly host: Host;
  /** The data folder. */
  readonly data: string;
  /** What the tool does from now on. */
  work: DeskWork = async () => null;

  private constructor(host: Host, data: string, does: { work: DeskWork }) {
    this.host = host;
    this.data = data;
    does.work = (context) => this.work(context);
  }

  static async open(): Promise<Desk> {
    const data = mkdtempSync(join(tmpdir(), 'cairn-desk-'));
    const does: { work: DeskWork } = { work: async () => null };
    const tool = defineTool({
      id: 'acme.desk:work',
      description: 'Works.',
      input: z.object({}),
      safety: 'idempotent',
      secrets: ['crm'],
      run: (_input, context) => does.work(context),
    });
    const agent = defineAgent({
      id: 'host:desk',
      persona: 'Desk',
      instructions: 'Do it.',
      tools: [tool],
      rehearsal: { turns: [[{ call: { tool: 'acme.desk:work', input: {} } }], [{ say: 'Done.' }]] },
    });
    const host = await createHost({
      config: {
        port: 0,
        data,
        defaultAgent: 'host:desk',
        keys: [
          { key: deskKeys.ann, tenant: 't', principal: 'ann' },
          { key: deskKeys.bob, tenant: 'u', principal: 'bob' },
          { key: deskKeys.reader, tenant: 't', principal: 'cy', scopes: ['runs:read'] },
          { key: deskKeys.operator, tenant: 't', principal: 'dee', scopes: [...scopes] },
        ],
        secrets: { crm: { value: DESK_SECRET } },
        limits: { tenantLogBytes: 8_000_000 },
      },
      tools: [tool],
      agents: [agent],
      report: () => undefined,
    });
    return new Desk(host, data, does);
  }

  get url(): string {
    return this.host.url ?? '';
  }

  client(key: string = deskKeys.ann): ReturnType<typeof createClient> {
    return createClient({ url: this.url, key });
  }

  /** Runs the agent to its end, with this work of its tool. */
  async ran(work: DeskWork, configurable: JsonObject = {}): Promise<DeskRun> {
    this.work = work;
    const { runId } = await this.client().runs.create({
      agentId: 'host:desk',
      inputs: { message: 'Go.' },
      configurable,
    });
    return this.ended(runId);
  }

  async ended(runId: string): Promise<DeskRun> {
    const rows: { type: string; payload: JsonObject }[] = [];
    for await (const { type, payload } of this.client().follow(runId))
      rows.push({ type, payload: payload as JsonObject });
    const contextId = String((await this.client().runs.get(runId)).contextId);
    const result = rows.findLast(({ type }) => type === 'agent.toolReturned')?.payload ?? {};
    return { runId, contextId, rows, result };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    rmSync(this.data, { recursive: true, force: true });
  }
}
