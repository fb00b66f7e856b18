/**
 * Validates the host's responses against the published schemas, as amended. A violation names the location and the
 * document.
 */
import { fail } from 'node:assert/strict';
import { eventPayloads, isEventType, type JsonObject, type RunEventDoc } from '@cairn/protocol';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { amended } from './amendments.ts';
import type { OpenwopData } from './openwop-data.ts';

export interface WireSchemas {
  /** Checks the envelope, and the payload by its type where the protocol defines one. */
  checkEvent(event: RunEventDoc): void;
  checkSnapshot(body: unknown): void;
  checkError(body: unknown): void;
  checkDiscovery(body: unknown): void;
  checkDefinition(body: unknown): void;
  checkBundle(body: unknown): void;
  checkMemoryEntry(entry: unknown): void;
  checkDiff(body: unknown): void;
}

const PAYLOADS = 'run-event-payloads.schema.json';
const CONVERSATIONS = 'conversation-event.schema.json';

/** Event type families that a host must not extend, although the schema's pattern for vendor types allows it. */
const closedPrefixes = /^(run|node|approval|clarification|cap|channel|replay)\./;

export function wireSchemas(data: OpenwopData): WireSchemas {
  const schemas = amended(data.schemas);
  // Strict mode checks how a schema is written, and these schemas are not ours.
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  addFormats.default(ajv);
  for (const schema of schemas.values()) ajv.addSchema(schema);
  const named = (file: string) => compiled(ajv, String(schemas.get(file)?.$id));
  const envelope = named('run-event.schema.json');
  const snapshot = named('run-snapshot.schema.json');
  const error = named('error-envelope.schema.json');
  const discovery = named('capabilities.schema.json');
  const definition = named('workflow-definition.schema.json');
  const bundle = named('debug-bundle.schema.json');
  const memoryEntry = named('memory-entry.schema.json');
  const diff = named('run-diff-response.schema.json');
  const payloads = payloadValidators(ajv, present(schemas.get(PAYLOADS)));
  const conversations = conversationValidators(ajv, present(schemas.get(CONVERSATIONS)));

  return {
    checkEvent(event) {
      check(envelope, event, `event ${event.sequence} (${event.type})`);
      const payload = payloads.get(event.type);
      if (payload === undefined && closedPrefixes.test(event.type)) {
        fail(`The event ${event.sequence} has the type ${event.type}, which only the protocol may add.`);
      }
      if (payload !== undefined) check(payload, event.payload, `payload of event ${event.sequence} (${event.type})`);
      const strict = conversations.get(event.type);
      if (strict !== undefined) check(strict, withoutExtras(event), `conversation of event ${event.sequence}`);
      checkOwn(event);
    },
    checkSnapshot: (body) => check(snapshot, body, 'snapshot'),
    checkError: (body) => check(error, body, 'error body'),
    checkDiscovery: (body) => check(discovery, body, 'discovery document'),
    checkBundle: (body) => check(bundle, body, 'debug bundle'),
    checkMemoryEntry: (entry) => check(memoryEntry, entry, 'memory entry'),
    checkDiff: (body) => check(diff, body, 'diff'),
    checkDefinition: (body) => check(definition, body, 'workflow definition'),
  };
}

/** Checks our own types and fields against the protocol package, since no published schema covers them. */
function checkOwn({ type, sequence, payload }: RunEventDoc): void {
  if (!isEventType(type)) return;
  const { error } = eventPayloads[type].safeParse(payload);
  if (error === undefined) return;
  const places = error.issues.map(({ path, message }) => `${path.join('/')} ${message}`);
  fail(`The payload of event ${sequence} (${type}) is not what the protocol package says:\n${places.join('\n')}`);
}

function compiled(ajv: Ajv2020, id: string): ValidateFunction {
  const validate = ajv.getSchema(id);
  if (validate === undefined) fail(`There is no schema ${id}.`);
  return validate;
}

/** The schema file contains its own index from event type to definition. */
function payloadValidators(ajv: Ajv2020, schema: JsonObject): ReadonlyMap<string, ValidateFunction> {
  const definitions = fields(schema.$defs);
  const index = fields(fields(definitions._typeIndex).properties);
  return new Map(
    Object.entries(index).map(([type, entry]) => {
      const pointer = String(fields(entry).$ref);
      return [type, compiled(ajv, `${String(schema.$id)}${pointer}`)] as const;
    }),
  );
}

/** Conversations have their own, stricter schema. */
function conversationValidators(ajv: Ajv2020, { $id }: JsonObject): ReadonlyMap<string, ValidateFunction> {
  const of = (name: string) => compiled(ajv, `${String($id)}#/$defs/Conversation${name}Payload`);
  return new Map([
    ['conversation.opened', of('Opened')],
    ['conversation.exchanged', of('Exchanged')],
    ['conversation.closed', of('Closed')],
  ]);
}

/** Removes the fields that only the open payload schema allows. */
function withoutExtras({ payload }: RunEventDoc): JsonObject {
  const { openedBy: _, reason: __, turnCount: ___, ...strict } = fields(payload);
  return strict;
}

function check(validate: ValidateFunction, body: unknown, what: string): void {
  if (validate(body)) return;
  const places = (validate.errors ?? []).map(
    (e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`,
  );
  fail(`The ${what} does not fit its schema:\n${places.join('\n')}\n${JSON.stringify(body, null, 1)}`);
}
