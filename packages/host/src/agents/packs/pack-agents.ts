/** Resolves the agents of a pack with their prompts and schemas, to definitions that runs can be pinned to. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  type AgentManifest,
  isJsonObject,
  type Json,
  type JsonObject,
  type PackManifest,
  quoted,
  TerminalError,
} from '@cairn/protocol';
import canonicalize from 'canonicalize';
import type { AgentDefinition } from '../../engine/ports.ts';
import { compileSchema } from '../../engine/values/schemas.ts';
import { readScript } from '../models/scripted/script.ts';
import { type PackFiles, packPath } from './pack-files.ts';
import { packJson, reasonOf } from './pack-json.ts';

/** An agent as stored: the canonical JSON of its definition, keyed by its hash. */
export interface StoredAgent {
  readonly agentId: string;
  readonly hash: string;
  readonly body: string;
}

/** Equal agents have equal hashes, regardless of field order. */
export function storedAgent(definition: AgentDefinition): StoredAgent {
  const body = canonicalize(definition) ?? '';
  return { agentId: definition.manifest.agentId, hash: createHash('sha256').update(body).digest('hex'), body };
}

export function resolveAgents(manifest: PackManifest, files: PackFiles): readonly StoredAgent[] {
  const { name, version, agents = [] } = manifest;
  for (const agent of agents) checkNamespace(agent, name);
  return agents.map((agent) => {
    const { taskSchemaRef, returnSchemaRef } = agent.handoff ?? {};
    const prompt = agent.systemPrompt ?? textAt(files, agent, 'systemPromptRef', agent.systemPromptRef ?? '');
    if (agent.evalSuiteRef !== undefined) jsonAt(files, agent, 'evalSuiteRef', agent.evalSuiteRef);
    return storedAgent({
      packName: name,
      packVersion: version,
      manifest: agent,
      systemPrompt: prompt,
      ...(taskSchemaRef === undefined
        ? {}
        : { taskSchema: schemaAt(files, agent, 'handoff.taskSchemaRef', taskSchemaRef) }),
      ...(returnSchemaRef === undefined
        ? {}
        : { returnSchema: schemaAt(files, agent, 'handoff.returnSchemaRef', returnSchemaRef) }),
      ...rehearsalOf(files, agent),
    });
  });
}

/**
 * The manifest schema is closed, so the file is found by name: `rehearsals/<last word of the agentId>.json`. It is
 * optional.
 */
function rehearsalOf(files: PackFiles, agent: AgentManifest): Pick<AgentDefinition, 'rehearsal'> {
  const path = `rehearsals/${agent.agentId.slice(agent.agentId.lastIndexOf('.') + 1)}.json`;
  if (!files.has(path)) return {};
  const rehearsal = objectAt(files, agent, 'rehearsal', path);
  const read = readScript(rehearsal);
  if ('script' in read) return { rehearsal };
  throw wrongFile(agent.agentId, 'rehearsal', path, `it is not a script: ${read.problems.slice(0, 3).join('; ')}`);
}

function checkNamespace({ agentId }: AgentManifest, packName: string): void {
  if (agentId.startsWith(`${packName}.`)) return;
  throw new TerminalError('invalid_pack_scope', {
    message: `The agent ${agentId} is outside of its pack ${packName}.`,
    hint: `Give it an id that begins with ${packName}. and rename it there, or ship it in a pack of its own.`,
    details: { agentId, packName },
  });
}

function textAt(files: PackFiles, { agentId }: AgentManifest, field: string, ref: string): string {
  const path = packPath(ref, `${field} of ${agentId}`);
  const content = files.get(path);
  if (content === undefined) {
    throw new TerminalError('tarball_entry_missing', {
      message: `${field} of ${agentId} names ${quoted(ref, 120)}, which is not in the pack.`,
      hint: 'Add the file, or correct the path; it is relative to pack.json.',
      details: { agentId, field, path },
    });
  }
  if (!isUtf8(content)) throw wrongFile(agentId, field, ref, 'it is not UTF-8');
  if (content.toString('utf8').trim() === '') throw wrongFile(agentId, field, ref, 'it is empty');
  return content.toString('utf8');
}

function jsonAt(files: PackFiles, agent: AgentManifest, field: string, ref: string): Json {
  const text = textAt(files, agent, field, ref);
  try {
    return packJson(text);
  } catch (error) {
    throw wrongFile(agent.agentId, field, ref, reasonOf(error));
  }
}

function objectAt(files: PackFiles, agent: AgentManifest, field: string, ref: string): JsonObject {
  const value = jsonAt(files, agent, field, ref);
  if (isJsonObject(value)) return value;
  throw wrongFile(agent.agentId, field, ref, 'it must be a JSON object');
}

function schemaAt(files: PackFiles, agent: AgentManifest, field: string, ref: string): JsonObject {
  const schema = objectAt(files, agent, field, ref);
  try {
    compileSchema(schema);
  } catch (error) {
    throw wrongFile(agent.agentId, field, ref, `it is not a JSON Schema: ${reasonOf(error)}`);
  }
  return schema;
}

const wrongFile = (agentId: string, field: string, ref: string, reason: string): TerminalError =>
  new TerminalError('invalid_manifest', {
    message: `${field} of ${agentId} names ${quoted(ref, 120)}, and ${quoted(reason, 300).slice(1, -1)}.`,
    hint: 'Correct the file; "cairn pack lint" checks a folder before it is sent.',
    details: { agentId, field, path: ref },
  });
