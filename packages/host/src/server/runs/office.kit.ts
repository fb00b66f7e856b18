/** A whole host over SQLite with runs of every kind: an agent with a tool, a child run, a person; not shipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import type { Json, JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { defineWorkflow, variable } from '../../engine/workflow/define-workflow.ts';
import type { Store } from '../../log/ports/store.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { type Ask, askUrl, type Reply } from '../ask.kit.ts';
import { createHostOver, type Host } from '../create-host.ts';

export const officeKeys = {
  ann: 'a-key-of-ann-long-enough',
  auditor: 'a-key-of-the-auditor-here',
  stranger: 'a-key-of-a-stranger-here',
  nobody: 'a-key-without-any-scopes',
};

export interface Office {
  readonly host: Host;
  readonly store: Store;
  readonly client: Client;
  ask(path: string, ask?: Ask): Promise<Reply>;
  /** Starts a run and waits until it ends or asks. */
  run(workflowId: string, inputs?: JsonObject): Promise<RunId>;
}

/** The agent looks a topic up, says what it found and decides. The inputs of a run say how. */
const desk = defineAgent({
  id: 'host:desk',
  persona: 'Desk',
  instructions: 'Look it up.',
  tools: ['acme:*'],
  rehearsal: {
    turns: [
      [{ call: { tool: 'acme:look', input: { topic: '{{input.topic}}' } } }],
      [{ say: 'About {{input.topic}}:\nfirst line\n{{last.found}}\nlast line' }],
    ],
  } as JsonObject,
});

const look = (answer: (topic: string) => Json) =>
  defineTool({
    id: 'acme:look',
    description: 'Looks a topic up.',
    input: z.object({ topic: z.string() }),
    safety: 'read',
    run: ({ topic }) => answer(topic),
  });

const below = defineWorkflow({
  id: 'below',
  version: '1',
  variables: { topic: { type: 'string' }, found: { type: 'string' } },
  nodes: {
    work: { type: 'cairn.agent', agent: { agentId: 'host:desk' }, inputs: { topic: variable('topic') } },
    keep: {
      type: 'core.setVariable',
      config: { name: 'found' },
      inputs: { value: { type: 'connection', nodeId: 'work', outputKey: 'content' } },
    },
  },
  edges: [{ from: 'work', to: 'keep' }],
});

/** A child run does the work; then a person decides. */
const office = defineWorkflow({
  id: 'office',
  version: '1',
  variables: { topic: { type: 'string' }, findings: { type: 'string' } },
  nodes: {
    send: {
      type: 'core.subWorkflow',
      config: { workflowId: 'below', inputMapping: { topic: 'topic' }, outputMapping: { findings: 'found' } },
    },
    gate: { type: 'core.approvalGate', config: { title: 'Publish?' } },
    note: { type: 'core.setVariable', config: { name: 'findings' }, inputs: { value: variable('topic') } },
  },
  edges: [
    { from: 'send', to: 'gate' },
    { from: 'gate', to: 'note' },
  ],
});

/** A child that asks a person, below a parent that asks one too. */
const asking = defineWorkflow({
  id: 'asking',
  version: '1',
  nodes: { gate: { type: 'core.approvalGate', config: { title: 'Go on?' } } },
});
const above = defineWorkflow({
  id: 'above',
  version: '1',
  nodes: {
    begin: { type: 'core.noop' },
    send: { type: 'core.subWorkflow', config: { workflowId: 'asking' } },
    gate: { type: 'core.approvalGate', config: { title: 'And you?' } },
  },
  edges: [
    { from: 'begin', to: 'send' },
    { from: 'begin', to: 'gate' },
  ],
});

export interface OfficeOptions {
  readonly answer?: (topic: string) => Json;
  readonly workflows?: readonly WorkflowDefinition[];
}

export async function openOffice({ answer, workflows = [] }: OfficeOptions = {}): Promise<Office> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-office-'));
  const store = await openSqliteStore({ folder, onFault: () => undefined });
  const host = await createHostOver(store, {
    config: {
      port: 0,
      data: folder,
      keys: [
        { key: officeKeys.ann, tenant: 't', principal: 'ann', toolScopes: ['tool:*'] },
        {
          key: officeKeys.auditor,
          tenant: 't',
          scopes: ['runs:read', 'audit:read', 'runs:create', 'approvals:respond'],
          toolScopes: ['tool:*'],
        },
        { key: officeKeys.stranger, tenant: 'other' },
        { key: officeKeys.nobody, tenant: 't', scopes: [] },
      ],
    },
    tools: [look(answer ?? ((topic) => ({ found: `${topic} is known` })))],
    agents: [desk],
    workflows: [below, office, asking, above, ...workflows],
    report: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const client = createClient({ url: host.url ?? '', key: officeKeys.auditor });
  return {
    host,
    store,
    client,
    ask: (path, ask = {}) => askUrl(`${host.url}${path}`, 'GET', { key: officeKeys.ann, ...ask }),
    async run(workflowId, inputs = {}) {
      const { runId } = await client.runs.create({ workflowId, inputs });
      await client.runs.wait(runId);
      return runId as RunId;
    },
  };
}
