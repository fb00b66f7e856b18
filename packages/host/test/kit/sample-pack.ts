import type { PackFiles } from '../../src/agents/packs/pack-files.ts';

export const sampleAgentId = 'vendor.acme.desk.triage';

/** Words that must never come out of the inventory. */
export const promptWords = 'Sort what comes in, and tell nobody of the blue folder.';

export const sampleAgent = {
  agentId: sampleAgentId,
  persona: 'Triage',
  modelClass: 'classification',
  systemPromptRef: 'prompts/triage.md',
  handoff: { taskSchemaRef: 'schemas/task.json' },
  toolAllowlist: ['openwop:time'],
};

const sampleManifest = {
  name: 'vendor.acme.desk',
  version: '1.0.0',
  engines: { openwop: '>=1.0 <2.0.0' },
  runtime: { language: 'remote', entry: 'none' },
  agents: [sampleAgent],
};

/** `fields` go over those of `pack.json`; of `files`, null takes one out. */
export function samplePack(
  fields: object = {},
  files: Readonly<Record<string, string | Buffer | null>> = {},
): PackFiles {
  const all: Readonly<Record<string, string | Buffer | null>> = {
    'pack.json': JSON.stringify({ ...sampleManifest, ...fields }, null, 2),
    'prompts/triage.md': promptWords,
    'schemas/task.json': JSON.stringify({ type: 'object', required: ['subject'], properties: { subject: {} } }),
    ...files,
  };
  const kept = Object.entries(all).flatMap(([path, content]) => (content === null ? [] : [[path, content] as const]));
  return new Map(kept.map(([path, content]) => [path, typeof content === 'string' ? Buffer.from(content) : content]));
}

/** The sample with other fields of its one agent. */
export const withAgent = (fields: object): PackFiles => samplePack({ agents: [{ ...sampleAgent, ...fields }] });
