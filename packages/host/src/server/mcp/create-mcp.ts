/** Assembles the MCP surface. */
import type { Discovery } from '@cairn/protocol';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import type { Route } from '../http/routes.ts';
import type { DeriveKeys } from '../secrets/host-secret.ts';
import { Elicitations } from './elicitations.ts';
import { OpenCalls } from './open-calls.ts';
import { type McpSurface, mcpResumeRoute, mcpRoute } from './routes.ts';
import { createSigned } from './signed.ts';
import { MODERN, mcpRevisions } from './versions.ts';

export type McpPorts = Omit<McpSurface, 'signed' | 'elicitations' | 'openCalls'> & {
  readonly deriveKeys: DeriveKeys;
  readonly clusterNode: ClusterNode;
};

export interface Mcp {
  readonly routes: readonly Route[];
  /** Ends all waits. */
  close(): void;
}

export function createMcp({ deriveKeys, ...ports }: McpPorts): Mcp {
  const openCalls = new OpenCalls(ports);
  const signed = createSigned(deriveKeys('mcp-texts'));
  const surface = { ...ports, signed, openCalls, elicitations: new Elicitations(ports.clusterNode) };
  return { routes: [mcpRoute(surface), mcpResumeRoute(surface)], close: () => openCalls.close() };
}

/** What the discovery document says of MCP. */
export function withMcp(document: Discovery, baseUrl: string): Discovery {
  const mcp = {
    supported: true,
    serverMount: { supported: true, transports: ['streamable-http'], samplingBridge: false, elicitationBridge: true },
    protocolVersions: mcpRevisions,
    preferredVersion: MODERN,
    profiles: ['mcp-2026-07-28', 'mcp-2025-06-18-legacy'],
    features: ['server-discover', 'mrtr', 'cacheable-lists'],
    serverUrls: [`${baseUrl}/v1/mcp`],
  };
  const { supportedTransports = ['rest' as const], capabilities } = document;
  const added = { supportedTransports: [...supportedTransports, 'mcp' as const], mcp };
  // The copy that a host in conformance mode gives says the same.
  const copy = typeof capabilities === 'object' ? { capabilities: { ...capabilities, ...added } } : {};
  return { ...document, ...added, ...copy };
}
