/** Agent definitions for tests, with overrides. */
import type { AgentManifest } from '@cairn/protocol';
import type { AgentDefinition } from '../engine/ports.ts';

export interface Differences extends Partial<Omit<AgentDefinition, 'manifest'>> {
  readonly manifest?: Partial<AgentManifest>;
}

export const testDefinition = ({ manifest, ...more }: Differences = {}): AgentDefinition => ({
  packName: 'community.test.crew',
  packVersion: '1.0.0',
  manifest: {
    agentId: 'community.test.crew.solo',
    persona: 'Solo',
    modelClass: 'general',
    systemPrompt: 'Help.',
    ...manifest,
  },
  systemPrompt: 'Help.',
  ...more,
});
