/** `GET /v1/runs/{runId}/ancestry`: the run that requested a run, here or on another host. */
import {
  type Ancestry,
  type AncestryCause,
  ancestry,
  foldEventOf,
  isJsonObject,
  type Json,
  parentOf,
} from '@cairn/protocol';
import type { Definitions } from '../../log/ports/definitions.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import { visibleRun } from '../http/params.ts';
import type { Route } from '../http/routes.ts';

export interface AncestryPorts {
  readonly log: EventLog;
  readonly definitions: Pick<Definitions, 'get'>;
  readonly hostId: string;
}

export const ancestryRoutes = (ports: AncestryPorts): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/runs/{runId}/ancestry',
    scope: 'runs:read',
    handle: async (call) => {
      const { record } = await visibleRun(call, ports.log);
      return JSON.stringify({
        runId: record.runId,
        hostId: ports.hostId,
        parent: await shownParent(record, ports),
      } satisfies Ancestry);
    },
    doc: {
      id: 'getAncestry',
      summary: 'Read which run requested a run, on this host or another',
      responses: { 200: { description: 'The immediate parent, or null.', shape: ancestry } },
      errors: ['not_found'],
    },
  },
];

/** A fork has none, because its source did not request it; a child that was forked with its tree has the fork of its parent. */
async function shownParent(
  { runId, fork, parentRunId: forkedParent }: RunHead['record'],
  { log, ...ports }: AncestryPorts,
): Promise<Ancestry['parent']> {
  if (fork !== null && forkedParent === null) return null;
  const [first] = await log.read({ runId, after: -1, limit: 1 });
  const event = first === undefined ? null : foldEventOf(first);
  const parent = event?.type === 'run.started' ? parentOf(event.payload) : null;
  if (parent === null) return null;
  if (parent.kind === 'remote') {
    const { hostId, wellKnownUrl, cause } = parent;
    return { runId: parent.runId, hostId, cause, wellKnownUrl };
  }
  // The first row of a fork is that of its source, and names the parent of the source.
  const parentRunId = forkedParent ?? parent.runId;
  const hash = (await log.head(parentRunId))?.record.definitionHash;
  const definition = hash === undefined || hash === null ? null : await ports.definitions.get(hash);
  return { runId: parentRunId, hostId: ports.hostId, cause: causeIn(definition, parent.nodeId) };
}

/** Agents and dispatch nodes dispatch; a sub-workflow node says what it is. */
function causeIn(definition: string | null, nodeId: string | undefined): AncestryCause {
  const parsed: Json = definition === null ? null : JSON.parse(definition);
  const nodes = isJsonObject(parsed) && Array.isArray(parsed.nodes) ? parsed.nodes : [];
  const node = nodes.find((one) => isJsonObject(one) && one.id === nodeId);
  return isJsonObject(node) && node.typeId === 'core.subWorkflow' ? 'core.subWorkflow' : 'core.dispatch';
}
