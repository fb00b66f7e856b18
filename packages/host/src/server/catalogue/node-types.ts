/** The node types of the host over HTTP, each with the JSON Schema of its config. */
import { type NodeTypeDescriptor, nodeTypeList } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import type { Route } from '../http/routes.ts';

export function nodeTypeRoutes(engine: Pick<Engine, 'nodeTypes'>): readonly Route[] {
  let text: string | null = null;
  return [
    {
      method: 'GET',
      path: '/v1/node-types',
      scope: 'manifest:read',
      handle: async () => {
        text ??= JSON.stringify({ nodeTypes: engine.nodeTypes() });
        return text;
      },
      doc: {
        id: 'listNodeTypes',
        summary: 'List the node types that workflows may use, with the schemas of their config',
        responses: { 200: { description: 'All node types, by id.', shape: nodeTypeList } },
        schemas: () => configSchemas(engine.nodeTypes()),
      },
    },
  ];
}

/**
 * The configs as components of the API description. The page needs no key, so types without own fields are left out.
 * Every function of the host is such a type.
 */
const configSchemas = (types: readonly NodeTypeDescriptor[]): Readonly<Record<string, object>> =>
  Object.fromEntries(
    types
      .filter(({ configSchema }) => JSON.stringify(configSchema.properties ?? {}) !== '{}' || 'oneOf' in configSchema)
      .map(({ typeId, configSchema }) => [componentName(typeId), configSchema]),
  );

/** `core.ai.callPrompt` becomes `CoreAiCallPromptConfig`. */
const componentName = (typeId: string): string =>
  `${typeId
    .split(/[^A-Za-z0-9]+/)
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('')}Config`;
