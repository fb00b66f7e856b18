/** The task behind a human edit: one step that writes a staged version. */
import { type ArtifactFamily, type JsonObject, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import { z } from 'zod';
import type { ArtifactCall } from '../../agents/tools/artifact-port.ts';
import { stepNode } from '../../engine/nodes/step-node.ts';
import type { CallContext, Performer } from '../../engine/ports.ts';
import type { NodeType } from '../../engine/workflow/node-type.ts';
import { writeRecord } from './artifact-port.ts';
import { HOST_AGENT, hostCall } from './host-call.ts';
import { type ArtifactPorts, OpenVersion } from './open-version.ts';
import type { Piece } from './piece.ts';
import { type StagedEdit, type StagedSource, stagedPieces, stagedRecord } from './staged-version.ts';

/** Stored in logs, so it must never change. */
const EDIT_TYPE = 'cairn.artifact.edit';

const families = ['file', 'data', 'dataset'] as const satisfies readonly ArtifactFamily[];

/** Number of pieces stored in blobs that one append records. */
const BATCH = 64;

const variables = [
  { name: 'artifactId', type: 'string' },
  { name: 'family', type: 'string' },
  { name: 'expectedVersion', type: 'number' },
  { name: 'manifest', type: 'array' },
] as const;

export const editRun: WorkflowDefinition = {
  id: 'artifact-edit',
  name: 'Edit of an artifact',
  version: '1',
  nodes: [
    {
      id: 'edit',
      typeId: EDIT_TYPE,
      name: 'Edit',
      position: { x: 0, y: 0 },
      config: {},
      inputs: Object.fromEntries(variables.map(({ name }) => [name, { type: 'variable', variableName: name }])),
    },
  ],
  edges: [],
  triggers: [],
  variables: variables.map((variable) => ({ ...variable })),
  metadata: { source: 'artifact-api' },
  settings: {},
};

/** Whether a task only edits an artifact: it has no message. */
export const isEdit = ({ workflowId }: { readonly workflowId: string }): boolean => workflowId === editRun.id;

export const editInputs = (edit: StagedEdit): JsonObject => ({ ...edit, manifest: [...edit.manifest] });

const inputShape = z.object({
  artifactId: z.string(),
  family: z.enum(families),
  expectedVersion: z.int().min(0),
  manifest: z.array(z.string()).max(1_000),
});

/** Only the host makes such nodes: registered workflows cannot have them. */
export const editNode: NodeType = {
  ...stepNode({ typeId: EDIT_TYPE, safety: 'idempotent' }),
  hostAgent: HOST_AGENT,
};

export const createEditPerformer = (ports: ArtifactPorts): Performer => ({
  typeId: EDIT_TYPE,
  async run(input, call) {
    const edit = inputShape.parse(input);
    const { artifactId } = edit;
    const current = await ports.store.artifacts.get(call.contextId, artifactId);
    // An attempt before this one was cut off after its last piece.
    if (current?.runId === call.runId) return { artifactId, version: current.version };
    const source = { blobs: ports.store.blobs, tenant: call.tenant, manifest: edit.manifest };
    const version = await written(edit, { call: callOf(call), ports, source });
    return { artifactId, version };
  },
});

interface Writing {
  readonly call: ArtifactCall;
  readonly ports: ArtifactPorts;
  readonly source: StagedSource;
}

async function written(edit: StagedEdit, { call, ports, source }: Writing): Promise<number> {
  const { artifactId, family, expectedVersion } = edit;
  if (family === 'data') {
    const record = await stagedRecord(source);
    return (await writeRecord(call, ports, { name: artifactId, record, expectedVersion })).version;
  }
  const open = new OpenVersion(call, ports, { artifactId, family, expectedVersion });
  try {
    for await (const pieces of stagedPieces(source)) {
      for (const batch of batchesOf(pieces)) await open.add(...batch);
    }
    return (await open.ref()).version;
  } catch (error) {
    await open.abandon();
    throw error;
  }
}

/** Each piece with inline content gets its own append. */
function* batchesOf(pieces: readonly Piece[]): Generator<readonly Piece[]> {
  let batch: Piece[] = [];
  for (const piece of pieces) {
    const isSmall = piece.inlineBytes === 0;
    if (batch.length > 0 && (!isSmall || batch.length === BATCH)) {
      yield batch;
      batch = [];
    }
    if (isSmall) batch.push(piece);
    else yield [piece];
  }
  if (batch.length > 0) yield batch;
}

function callOf(call: CallContext): ArtifactCall {
  const host = hostCall(call);
  return {
    ...host,
    async record(rows) {
      if (call.signal.aborted) throw new TerminalError('tool_canceled', { message: 'The edit was canceled.' });
      await host.record(rows);
    },
  };
}
