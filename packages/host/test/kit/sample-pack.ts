import type { PackFiles } from '../../src/agents/packs/pack-files.ts';

export const sampleAgentId = 'vendor.acme.desk.triage';

/** A prompt text that must never appear in the inventory. */
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

/** `fields` override those of `pack.json`. In `files`, null removes a file. */
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

/** The sample pack with overridden fields of its one agent. */
export const withAgent = (fields: object): PackFiles => samplePack({ agents: [{ ...sampleAgent, ...fields }] });
