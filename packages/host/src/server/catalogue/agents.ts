/** Agents and packs over HTTP: the agent inventory, and routes to install, list and remove packs. */
import {
  agentIdProblem,
  agentInventory,
  agentInventoryEntry,
  type ErrorCode,
  type InstalledPack,
  type InstallPack,
  installedPack,
  installPack,
  packList,
  parseShape,
  TerminalError,
} from '@cairn/protocol';
import { oneAtATime } from '../../agents/one-at-a-time.ts';
import { openTarball } from '../../agents/packs/tarball.ts';
import type { AgentRegistry } from '../../agents/registry.ts';
import { type Call, pathParam, type Route } from '../http/routes.ts';
import { thereIsNo } from '../http/unknown-id.ts';

/** `open` is replaceable for tests that count concurrent calls. */
export function agentRoutes(registry: AgentRegistry, open: typeof openTarball = openTarball): readonly Route[] {
  return [...inventoryRoutes(registry), ...packRoutes(registry, open)];
}

const inventoryRoutes = (registry: AgentRegistry): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/agents',
    scope: 'manifest:read',
    handle: async ({ caller }) => {
      const agents = await registry.agents(caller.tenant);
      return JSON.stringify({ agents, total: agents.length });
    },
    doc: {
      id: 'listAgents',
      summary: 'The agents that the tenant may use',
      responses: { 200: { description: 'All of them, by id.', shape: agentInventory } },
    },
  },
  {
    method: 'GET',
    path: '/v1/agents/{agentId}',
    scope: 'manifest:read',
    handle: (call) => oneAgent(call, registry),
    doc: {
      id: 'getAgent',
      summary: 'One agent',
      responses: { 200: { description: 'What may be known of it.', shape: agentInventoryEntry } },
      errors: ['not_found'],
    },
  },
];

/** The errors of a pack, in the order of the checks. */
const packErrors: readonly ErrorCode[] = [
  'tarball_too_large',
  'pack_integrity_mismatch',
  'tarball_gunzip_failed',
  'tarball_tar_parse_failed',
  'tarball_path_traversal',
  'tarball_entry_too_large',
  'tarball_manifest_too_large',
  'pack_integrity_failure',
  'pack_signature_invalid',
  'tarball_manifest_missing',
  'tarball_manifest_not_json',
  'pack_kind_invalid',
  'invalid_manifest',
  'unsupported_runtime',
  'pack_runtime_requirement_unmet',
  'pack_version_not_found',
  'pack_dependency_conflict',
  'pack_dependency_cycle',
  'pack_peer_dependency_undefined',
  'pack_peer_dependency_missing',
  'unsupported_model_class',
  'invalid_pack_scope',
  'tarball_entry_missing',
  'conflict',
];

function packRoutes(registry: AgentRegistry, open: typeof openTarball): readonly Route[] {
  // A small request may contain a large pack, so only one unpacked pack is in memory at a time.
  const inTurn = oneAtATime();
  return [
    {
      method: 'POST',
      path: '/v1/host/cairn/packs',
      scope: 'packs:publish',
      handle: (call) =>
        install(call, (asked) =>
          inTurn(async () =>
            registry.install(call.caller.tenant, await open(Buffer.from(asked.tarball, 'base64'), asked.integrity)),
          ),
        ),
      doc: {
        id: 'installPack',
        summary: 'Install a pack for the tenant',
        body: installPack,
        responses: { 201: { description: 'It is installed.', shape: installedPack } },
        errors: packErrors,
      },
    },
    {
      method: 'GET',
      path: '/v1/host/cairn/packs',
      scope: 'packs:read',
      handle: async ({ caller }) => JSON.stringify({ packs: await registry.packs(caller.tenant) }),
      doc: {
        id: 'listPacks',
        summary: 'The packs of the tenant and of the host',
        responses: { 200: { description: 'All of them, by name.', shape: packList } },
      },
    },
    {
      method: 'DELETE',
      path: '/v1/host/cairn/packs/{packName}',
      scope: 'packs:yank',
      handle: async (call) => {
        await registry.remove(call.caller.tenant, pathParam(call, 'packName'));
        call.reply.code(204).send();
        return undefined;
      },
      doc: {
        id: 'removePack',
        summary: 'Remove a pack of the tenant',
        responses: { 204: { description: 'Its agents are gone.' } },
        errors: ['not_found', 'conflict'],
      },
    },
  ];
}

async function oneAgent(call: Call, registry: AgentRegistry): Promise<string> {
  const agentId = pathParam(call, 'agentId');
  const found = (await registry.agents(call.caller.tenant)).find((agent) => agent.agentId === agentId);
  if (found !== undefined) return JSON.stringify(found);
  throw new TerminalError('not_found', {
    message: thereIsNo('agent', agentId, agentIdProblem(agentId) === null),
    hint: 'GET /v1/agents lists those of the tenant; "cairn pack add" installs more.',
  });
}

async function install(call: Call, act: (asked: InstallPack) => Promise<InstalledPack>): Promise<string> {
  const installed = await act(parseShape(installPack, call.request.body, 'The request'));
  call.reply.code(201);
  return JSON.stringify(installed);
}
