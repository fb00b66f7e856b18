/** Workflows: register, list, read. */
import { authoredWorkflow, workflowDefinition, workflowRegistered } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';

export interface WorkflowPorts {
  readonly engine: Engine;
  readonly definitions: Definitions;
}

export function workflowRoutes({ engine, definitions }: WorkflowPorts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/workflows',
      scope: 'manifest:write',
      handle: (call) => register(call, engine),
      doc: {
        id: 'registerWorkflow',
        summary: 'Register a workflow definition',
        body: authoredWorkflow,
        responses: { 201: { description: 'The definition is registered.', shape: workflowRegistered } },
        errors: ['capability_required', 'conflict', 'definition_too_large', 'quota_exceeded'],
      },
    },
    {
      method: 'GET',
      path: '/v1/workflows',
      scope: 'manifest:read',
      handle: (call) => list(call, definitions),
      doc: {
        id: 'listWorkflows',
        summary: "List the tenant's workflows",
        responses: { 200: { description: 'Each workflow with its newest version.', shape: workflowList } },
      },
    },
    {
      method: 'GET',
      path: '/v1/workflows/{workflowId}',
      scope: 'manifest:read',
      handle: (call) => get(call, engine),
      doc: {
        id: 'getWorkflow',
        summary: 'Read a workflow definition',
        query: z.object({ version: z.string().optional() }),
        responses: { 200: { description: 'The definition.', shape: workflowDefinition } },
        errors: ['not_found'],
      },
    },
  ];
}

const workflowList = z.object({
  workflows: z.array(z.object({ workflowId: z.string(), version: z.string(), registeredAt: z.iso.datetime() })),
});

/** Registration is idempotent by content: the same definition gets the same answer. */
async function register(call: Call, engine: Engine): Promise<string> {
  const { workflowId, version } = await engine.register(call.caller.tenant, call.request.body);
  call.reply.code(201).header('location', `/v1/workflows/${workflowId}`);
  return JSON.stringify({ workflowId, version });
}

async function list(call: Call, definitions: Definitions): Promise<string> {
  const found = await definitions.workflows(call.caller.tenant);
  const workflows = found.map(({ workflowId, version, registeredAt }) => ({
    workflowId,
    version,
    registeredAt: new Date(registeredAt).toISOString(),
  }));
  return JSON.stringify({ workflows });
}

async function get(call: Call, engine: Engine): Promise<string> {
  const version = queryParam(call, 'version');
  return JSON.stringify(await engine.workflow(call.caller.tenant, pathParam(call, 'workflowId'), version));
}
