/** Decides every run of the world again: the record and the code must agree, whatever has happened to the run. */
import type { WorkflowDefinition } from '@cairn/protocol';
import { createNodeTypeRegistry } from '../../packages/host/src/engine/nodes/node-types.ts';
import type { Step } from '../../packages/host/src/engine/ports.ts';
import { redecide } from '../../packages/host/src/engine/replay/redecide.ts';
import { compileWorkflow } from '../../packages/host/src/engine/workflow/workflow.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import type { Complain } from './breach.ts';
import type { RunAudit } from './run-audit.ts';
import { nodeTypes } from './sim-node.ts';

export interface RedecisionWorld {
  readonly base: Pick<Store, 'log' | 'definitions'>;
  readonly steps: readonly Step[];
  readonly complain: Complain;
}

export async function checkRedecisions(world: RedecisionWorld, runs: Iterable<RunAudit>): Promise<void> {
  const { base, steps, complain } = world;
  const types = createNodeTypeRegistry(steps, nodeTypes);
  for (const { runId, rows } of runs) {
    const head = await base.log.head(runId);
    const hash = head?.record.definitionHash ?? '';
    const body = await base.definitions.get(hash);
    if (body === null) continue;
    const workflow = compileWorkflow(JSON.parse(body) as WorkflowDefinition, hash, types);
    const originRunId = head?.record.originRunId ?? runId;
    const { divergence } = await redecide({ runId, originRunId, workflow }, [rows]);
    if (divergence === null) continue;
    const { seq, kind, recorded, present } = divergence;
    complain('the record of a run follows from its facts', { runId, seq, kind, recorded, present });
    return;
  }
}
