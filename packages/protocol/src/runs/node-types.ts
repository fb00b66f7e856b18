/** `GET /v1/node-types`: the node types that workflows of a host may use, and what the `config` of each may hold. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { jsonObject, text } from '../fields.ts';

const texts = z.record(z.string(), text);

export const nodeTypeDescriptor = z
  .looseObject({
    typeId: text,
    /** What it does, in a sentence. */
    summary: text.optional(),
    /** The inputs that it reads by name, its outputs and its ports, each with its meaning. */
    inputs: texts.optional(),
    outputs: texts.optional(),
    /** Which outputs there may be besides. */
    otherOutputs: text.optional(),
    ports: texts.optional(),
    /** The JSON Schema (2020-12) of `config`. It describes one node; registration also checks the definition as a whole. */
    configSchema: jsonObject,
    /** Of a node type that calls a function of the host: whether a call may be repeated. */
    safety: z.enum(['pure', 'read', 'write', 'idempotent']).optional(),
  })
  .meta({ id: 'NodeTypeDescriptor' });

/** In the order of the ids. */
export const nodeTypeList = z.looseObject({ nodeTypes: z.array(nodeTypeDescriptor) }).meta({ id: 'NodeTypeList' });

export type NodeTypeDescriptor = DataOf<typeof nodeTypeDescriptor>;
export type NodeTypeList = DataOf<typeof nodeTypeList>;
