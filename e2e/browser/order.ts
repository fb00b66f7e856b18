/** The workflow of the browser tests, which waits at a gate, and the key of their tenant. */
import { defineWorkflow } from '../../packages/host/src/index.ts';

export const key = 'a-key-for-the-browser';

export const order = defineWorkflow({
  id: 'order',
  version: '1.0.0',
  nodes: {
    before: { type: 'core.noop' },
    approve: { type: 'core.approvalGate', config: { title: 'Go on?' } },
    after: { type: 'core.noop' },
  },
});
