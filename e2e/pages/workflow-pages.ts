/** Writes the pages about workflows and node types from the schemas that registration uses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonSchemaOf } from '../../packages/host/src/engine/workflow/closed-shapes.ts';
import { nodeSettings } from '../../packages/host/src/engine/workflow/node-settings.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import {
  authoredWorkflow,
  channelDeclaration,
  isJsonObject,
  type Json,
  type JsonObject,
  type NodeTypeDescriptor,
  workflowEdge,
  workflowNode,
  workflowSettings,
  workflowVariable,
} from '../../packages/protocol/src/index.ts';
import { fieldTexts, workflowProse } from './workflow-prose.ts';

const examplesSource = readFileSync(join(import.meta.dirname, 'node-examples.ts'), 'utf8');

/** Those of a host without steps. */
export async function builtInTypes(): Promise<readonly NodeTypeDescriptor[]> {
  await using host = await createHostOver(inMemoryStore(), { http: false, report: () => undefined });
  return host.engine.nodeTypes();
}

export const nodesPage = (types: readonly NodeTypeDescriptor[]): string =>
  [
    '# Node types',
    '',
    'This page lists the built-in node types: what each does, its settings, inputs, outputs and ports, and a workflow that a test runs. It is generated from the schemas that the host checks definitions with. `cairn nodes` prints the same for a running host, with the steps of its program. [Workflows](workflows.md) explains how nodes work together.',
    '',
    'Settings are closed: registration refuses a name that a node type does not know, and suggests the nearest. Every node also takes `inputs`, `settings` (retries, timeout) and `disabled`. In the examples, `host:writer`, `host:counter` and `host:chief` are agents that the program defines with `defineAgent`.',
    '',
    '| Type | Purpose |',
    '|---|---|',
    ...types.map(({ typeId, summary }) => `| [\`${typeId}\`](#${anchor(typeId)}) | ${summary ?? ''} |`),
    '',
    ...types.flatMap(section),
  ].join('\n');

/** The anchor that Markdown renderers make of a heading. */
const anchor = (typeId: string): string => typeId.toLowerCase().replaceAll('.', '');

function section(type: NodeTypeDescriptor): string[] {
  const { typeId, summary = '', inputs = {}, outputs = {}, otherOutputs, ports = {} } = type;
  const settings = settingRows(type.configSchema);
  return [
    `## ${typeId}`,
    '',
    summary,
    '',
    ...(settings.length === 0
      ? ['It has no settings.', '']
      : ['| Setting | Type | |', '|---|---|---|', ...settings, '']),
    ...named('Input', inputs),
    ...named('Output', outputs),
    ...(otherOutputs === undefined ? [] : [`Other outputs: ${lower(otherOutputs)}`, '']),
    ...named('Port', ports),
    '```ts',
    exampleOf(typeId),
    '```',
    '',
  ];
}

const lower = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

const named = (what: string, names: Readonly<Record<string, string>>): string[] =>
  Object.keys(names).length === 0
    ? []
    : [`| ${what} | |`, '|---|---|', ...Object.entries(names).map(([name, text]) => `| \`${name}\` | ${text} |`), ''];

/** The variants of a union share one table. */
function settingRows(schema: JsonObject): string[] {
  const variants = [schema.oneOf ?? schema.anyOf ?? [schema]].flat().filter(isJsonObject);
  const rows = new Map<string, string>();
  for (const variant of variants) {
    const required = Array.isArray(variant.required) ? variant.required : [];
    for (const [name, property] of Object.entries(isJsonObject(variant.properties) ? variant.properties : {})) {
      if (rows.has(name)) continue;
      rows.set(name, row(name, property, required.includes(name)));
    }
  }
  return [...rows.values()];
}

function row(name: string, property: Json, isRequired: boolean): string {
  const { description } = isJsonObject(property) ? property : {};
  return `| \`${name}\` | ${typeOf(property)}${isRequired ? ', required' : ''} | ${typeof description === 'string' ? description : ''} |`;
}

function typeOf(property: Json): string {
  if (!isJsonObject(property)) return 'any';
  const { type, enum: values, const: only } = property;
  const variants = [property.anyOf ?? property.oneOf ?? []].flat();
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (variants.length > 0) return [...new Set(variants.map(typeOf))].join(' or ');
  return typeof type === 'string' ? (type === 'array' ? 'list' : type) : 'any';
}

/** The workflow of the example, as its source has it. */
function exampleOf(typeId: string): string {
  const from = examplesSource.indexOf(`\n  '${typeId}': {\n    workflow: defineWorkflow({`);
  if (from < 0) throw new Error(`There is no example for ${typeId}.`);
  const text = examplesSource.slice(examplesSource.indexOf('defineWorkflow', from));
  const lines = text.slice(0, text.indexOf('\n    }),')).split('\n');
  return [...lines.map((line) => line.replace(/^ {4}/, '')), '});'].join('\n');
}

/** A shape that is part of itself, or of others, is a reference to its definition. */
function withoutRef(schema: JsonObject): JsonObject {
  const { $ref, $defs } = schema;
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : '';
  const found = isJsonObject($defs) ? $defs[name] : undefined;
  return isJsonObject(found) ? found : schema;
}

/** A table of the fields of a shape. Each needs a text. */
function fieldTable(what: string, shape: z.ZodType, omit: readonly string[] = []): string[] {
  const texts = fieldTexts[what] ?? {};
  const schema = withoutRef(jsonSchemaOf(shape));
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = Object.keys(isJsonObject(schema.properties) ? schema.properties : {});
  if (names.length === 0) throw new Error(`The shape ${what} has no fields.`);
  const unexplained = names.filter((name) => texts[name] === undefined && !omit.includes(name));
  if (unexplained.length > 0)
    throw new Error(`workflow-prose.ts says nothing about ${what}: ${unexplained.join(', ')}`);
  return [
    '| Field | |',
    '|---|---|',
    ...names
      .filter((name) => !omit.includes(name))
      .map((name) => `| \`${name}\`${required.includes(name) ? ' (required)' : ''} | ${texts[name]} |`),
  ];
}

const retry = z.object(nodeSettings.shape).shape.retry.unwrap();

export const workflowsPage = (): string =>
  workflowProse({
    definition: fieldTable('definition', authoredWorkflow),
    node: fieldTable('node', workflowNode),
    edge: fieldTable('edge', workflowEdge),
    variable: fieldTable('variable', workflowVariable),
    channel: fieldTable('channel', channelDeclaration),
    settings: fieldTable('settings', workflowSettings),
    nodeSettings: fieldTable('nodeSettings', nodeSettings),
    retry: fieldTable('retry', retry),
  });
