/** Workflows that ask in different ways, and one that fails. */
import type { WorkflowDefinition } from '@cairn/client';

const at = { x: 0, y: 0 };
const rest = { version: '1', edges: [], triggers: [], variables: [], metadata: {}, settings: {} };

export const questions: readonly WorkflowDefinition[] = [
  {
    ...rest,
    id: 'release-vote',
    name: 'Release vote',
    nodes: [
      {
        id: 'vote',
        typeId: 'core.approvalGate',
        name: 'Vote',
        position: at,
        config: {
          title: 'Release 2026.11 to all customers?',
          description: 'The build passed all checks. Two people must agree.',
          actions: ['accept', 'reject', 'refine'],
          requiredApprovals: 2,
          timeoutMs: 7_200_000,
          artifactData: { build: '2026.11', tests: 1932, failed: 0, changes: ['Faster search', 'New invoices'] },
        },
        inputs: {},
      },
    ],
  },
  {
    ...rest,
    id: 'trip',
    name: 'Trip',
    nodes: [
      {
        id: 'details',
        typeId: 'core.clarificationGate',
        name: 'Details',
        position: at,
        config: {
          questions: [
            { id: 'city', question: 'Which city?', schema: { type: 'string', enum: ['Bern', 'Lyon', 'Turin'] } },
            { id: 'nights', question: 'How many nights?', schema: { type: 'integer', minimum: 1, maximum: 14 } },
            { id: 'note', question: 'Anything to know? <img src=x onerror="window.hacked=1">' },
          ],
        },
        inputs: {},
      },
    ],
  },
];

export const stumbles: WorkflowDefinition = {
  ...rest,
  id: 'stumbles',
  name: 'Stumbles',
  variables: [{ name: 'title', type: 'string' }],
  nodes: [
    {
      id: 'divide',
      typeId: 'core.setVariable',
      name: 'Divide',
      position: at,
      config: { name: 'share', expression: '1 / 0' },
      inputs: {},
    },
  ],
};
